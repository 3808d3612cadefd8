"""Choices between CUDA and the NPU that a file makes by itself, and that stay as they are."""

from __future__ import annotations

from tf2npu.rules.base import Example, rule
from tf2npu.rules.pytorch.facts.example_heads import BEFORE
from tf2npu.rules.pytorch.facts.left_alone import builds_kernels, is_transferred, knows_npu, npu_twin
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Site

_MOST_LINES = 8
"""The most lines that the remark names: more are not read."""
_CHOICE = "if has_npu():\n    torch.npu.synchronize()\nelse:\n    torch.cuda.synchronize()\n"


@rule(
    id="NPT002",
    title="Choices that stay",
    on="module",
    matches=("torch.cuda",),
    why="A branch for CUDA beside one for the NPU is what other machines run, so that it must not change.",
    source="Ascend Extension for PyTorch 2.13, migration guide: scripts that serve both devices",
    examples=(
        Example.same(BEFORE + _CHOICE, level="info", write=f"{BEFORE}torch.accelerator.synchronize()\n"),
        Example.same(f"{BEFORE}if has_npu():\n    torch.npu.synchronize()\n", note="nothing of CUDA"),
        Example.same(f"{BEFORE}from torch_npu.contrib import transfer_to_npu\ntorch.cuda.synchronize()\n", note="when it runs"),
    ),
)
def kept_choices(site: Site) -> None:
    """Names the lines of a file that stay for CUDA, because the file chooses between CUDA and the NPU there."""
    script = site.script
    places = [] if is_transferred(script) else _kept(script)
    if not places:
        return
    if builds_kernels(script):
        site.info("This file compiles kernels for CUDA: what it asks of CUDA stays as it is.")
        return
    lines = sorted({script.lines.position(start)[0] for start, _ in places})
    shown = ", ".join(map(str, lines[:_MOST_LINES])) + (", ..." if len(lines) > _MOST_LINES else "")
    site.fix.site = min(places)
    twin = npu_twin(script)
    if twin is not None:
        site.info(f"This file stays as it is: {twin} does for the NPU what it does for CUDA.")
        return
    site.info(f"The file chooses between CUDA and the NPU by itself: what is for CUDA there stays as it is, in lines {shown}.")


def _kept(script: Script) -> list[tuple[int, int]]:
    """The places of names below torch.cuda that stay because of what is around them."""
    if "cuda" not in script.text:
        return []
    named = ((node, script.name_of(node, scope) or "") for node, scope in script.walked.references)
    return [script.tree.span(node) for node, name in named if name.startswith("torch.cuda.") and knows_npu(script, node)]
