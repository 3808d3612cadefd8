"""Optimizers in one kernel, and torch.compile."""

from __future__ import annotations

import libcst as cst

from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.pytorch.facts.example_heads import BEFORE
from tf2npu.rules.pytorch.facts.left_alone import knows_npu
from tf2npu.scanner.sites import Call, Site

_OPTIMIZERS = ("Adadelta", "Adam", "AdamW", "RMSprop", "SGD")


@rule(
    id="NPT405",
    title="Fused optimizers",
    matches=tuple(f"torch.optim.{name}" for name in _OPTIMIZERS),
    once=True,
    why="fused=True asks for kernels of CUDA; torch_npu has optimizers of its own that join parameters.",
    done_when="The script runs on a card with torch_npu, or does not call torch.compile.",
    source="torch_npu.optim of Ascend/pytorch (NpuFusedAdam and its likes), whose conditions are in their API pages",
    examples=(
        Example.same(f"{BEFORE}o = torch.optim.AdamW(m.parameters(), lr=1e-3, fused=True)\n", level="info"),
        Example.same(f"{BEFORE}o = torch.optim.AdamW(m.parameters(), lr=1e-3)\n", note="the usual one"),
        Example.same(f"{BEFORE}o = torch.optim.SGD(m.parameters(), lr=0.1, fused=False)\n", note="not fused"),
    ),
)
def fused_optimizer(call: Call) -> None:
    """Names the fused optimizer of torch_npu where a script asks for one."""
    value = call.value("fused")
    if value is None or (isinstance(value, cst.Name) and value.value in ("False", "None")) or knows_npu(call.script, call.node):
        return
    optimizer = call.name.rpartition(".")[2]
    name = f"NpuFused{optimizer}"
    call.info(
        f"torch_npu.optim.{name} is the vendor's optimizer for this on a card. It wants parameters that stay the same objects: "
        "no .cpu() on the model between steps, and no new tensors in their place."
    )


@part_of(
    fused_optimizer,
    on=("call", "reference"),
    matches=("torch.compile",),
    why="The compiler's default backend makes kernels by Triton, which on NPUs is a package of its own.",
    source="Ascend/pytorch docs/zh/user_guide/torch_compile: backends inductor (with Triton-Ascend), npugraphs, aot_eager",
    examples=(
        Example.same(
            f"{BEFORE}model = torch.compile(model)\n",
            level="manual",
            write=f"{BEFORE}model = torch.compile(model, disable=True)\n",
        ),
        Example.same(f"{BEFORE}model = torch.compile(model, backend='npugraphs')\n", note="of NPUs"),
        Example.same(f"{BEFORE}pattern = re.compile('a')\n", note="another function"),
    ),
)
def compiled_model(site: Site) -> None:
    """Reports models that torch.compile compiles by a backend that needs more than torch_npu."""
    if knows_npu(site.script, site.node) or (isinstance(site, Call) and _needs_no_triton(site)):
        return
    site.manual(
        "torch.compile with its default backend needs the package triton-ascend on NPUs, which exists for Atlas A2 and A3: "
        "install it, or leave torch.compile out. The simulated device runs operators one by one: set TORCH_COMPILE_DISABLE=1 "
        "there."
    )


def _needs_no_triton(call: Call) -> bool:
    """Whether a call is switched off, or names a backend other than inductor."""
    backend, disable = call.value("backend"), call.value("disable")
    is_other = isinstance(backend, cst.SimpleString) and backend.evaluated_value != "inductor"
    return is_other or (isinstance(disable, cst.Name) and disable.value == "True")
