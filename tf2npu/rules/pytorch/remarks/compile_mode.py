"""The setting for compiling operators, which decides about the time of the first steps."""

from __future__ import annotations

from tf2npu.config import Config
from tf2npu.rules.base import Example, rule
from tf2npu.rules.pytorch.facts.file_kinds import names_device, reaches_torch
from tf2npu.rules.pytorch.facts.training_loops import training_loops
from tf2npu.scanner.sites import Site

_ONLY = Config(select=frozenset({"NPT404"}))
_LOOP = "for x in data:\n    loss = net(x.npu())\n    loss.backward()\n"


@rule(
    id="NPT404",
    title="Slow first steps",
    on="module",
    matches=("torch.npu.set_compile_mode",),
    why="Operators that are compiled for each shape make the first steps, and steps with new shapes, slow.",
    source="torch_npu.npu.set_compile_mode of Ascend/pytorch; mmengine issue 847, which switches it off",
    examples=(
        Example.same(f"import torch\nif __name__ == '__main__':\n    {_LOOP.replace(chr(10), chr(10) + '    ').rstrip()}\n",
            level="info", config=_ONLY, write=f"import torch\ntorch.npu.set_compile_mode(jit_compile=False)\n{_LOOP}"),
        Example.same(f"import torch\ntorch.npu.set_compile_mode(jit_compile=False)\n{_LOOP}", note="it is said"),
        Example.same("import torch\nif __name__ == '__main__':\n    y = net(x.npu())\n", note="no training"),
    ),
)  # fmt: skip
def compile_mode(site: Site) -> None:
    """Names the setting that makes first steps faster, once in a script that trains."""
    script = site.script
    if not (reaches_torch(script) and script.is_entry and names_device(script)) or "set_compile_mode" in script.text:
        return
    loop = min(training_loops(script).values(), key=lambda node: script.tree.span(node)[0], default=None)
    if loop is None:
        return
    start, _ = script.tree.span(loop)
    site.fix.site = (start, script.lines.line_end(start))
    site.info(
        "Where the first steps on a card take long, or shapes change from step to step: "
        "torch.npu.set_compile_mode(jit_compile=False) at the start of the script takes operators that are compiled already."
    )
