"""Whole numbers as devices: `x.to(0)` is a GPU for releases of PyTorch before 2.5."""

from __future__ import annotations

import libcst as cst

from tf2npu.frameworks.pytorch.framework import ADAPTER_MODULE
from tf2npu.frameworks.pytorch.object_kinds import MODULE, TENSOR
from tf2npu.rules.base import Example, rule
from tf2npu.rules.pytorch.facts.device_positions import DEVICE, POSITIONS
from tf2npu.rules.pytorch.facts.example_heads import AFTER, BEFORE
from tf2npu.rules.pytorch.facts.left_alone import knows_npu
from tf2npu.scanner.sites import Call

MAKING = (
    "arange", "as_tensor", "empty", "empty_like", "eye", "full", "full_like", "linspace", "logspace", "ones", "ones_like", "rand",
    "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm", "tensor", "tril_indices", "triu_indices", "zeros",
    "zeros_like",
)  # fmt: skip
"""Functions of torch that take `device`. Source: their signatures in PyTorch 2.13."""
_MOVING = tuple(f"{kind}.{method}" for kind in (TENSOR, MODULE) for method in ("to", "to_empty"))
_TAKING = tuple(sorted({name for (name, _), kind in POSITIONS.items() if kind == DEVICE}))
_KEYWORDS = frozenset(("device", "map_location"))


@rule(
    id="NPT107",
    title="Whole numbers as devices",
    on=("call", "unknown_method"),
    matches={"call": (*(f"torch.{name}" for name in MAKING), *_MOVING, *_TAKING), "unknown_method": ("to", "to_empty")},
    why="A number by itself is a GPU for releases of PyTorch before 2.5, which end with an error that CUDA is not there.",
    done_when="No number stands alone where PyTorch takes a device, but for npu() and set_device.",
    source="Ascend/pytorch, issue 16; PyTorch 2.5, release notes: a number is a device of the current accelerator",
    examples=(
        Example(
            BEFORE + "x = x.to(0)\ny = torch.zeros(3, device=1)\n",
            AFTER + 'x = x.to("npu:0")\ny = torch.zeros(3, device="npu:1")\n',
        ),
        Example(BEFORE + "d = torch.device(0)\n", AFTER + 'd = torch.device("npu:0")\n'),
        Example(
            BEFORE + "m = torch.load(p, map_location=0)\n",
            AFTER + 'm = torch.load(p, map_location="npu:0")\n',
        ),
        Example.same(BEFORE + "x = x.to(rank)\n", note="what a variable holds"),
        Example.same(BEFORE + "torch.npu.set_device(0)\n", note="a function that takes numbers"),
        Example.same(BEFORE + "x = torch.full((2,), 0)\n", note="a number that is filled in"),
    ),
)  # fmt: skip
def device_number(call: Call) -> None:
    """Writes the name of the device for a number."""
    for position, arg in enumerate(call.args):
        if arg.keyword is None:
            is_device = _takes_device(call, position)
        else:
            is_device = arg.keyword.value in _KEYWORDS
        if is_device and isinstance(arg.value, cst.Integer) and not knows_npu(call.script, call.node):
            call.replace(arg.value, f'"npu:{arg.value.value}"')
    if call.fix.changes:
        call.need_adapter(ADAPTER_MODULE)
        call.fixed("A number by itself may be a GPU: the device, or map_location, has its name.")


def _takes_device(call: Call, position: int) -> bool:
    is_moving = call.name.rpartition(".")[2] in ("to", "to_empty")
    return position == 0 if is_moving else POSITIONS.get((call.name, position)) == DEVICE
