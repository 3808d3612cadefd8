"""Rules for what recorded runs of PyTorch scripts show: `tf2npu.runs.limit_findings` makes their findings, and no site does."""

from __future__ import annotations

from typing import Any

from tf2npu.rules.base import Example, rule

OF_RUNS = "NPT9"
"""The beginning of these rules' ids."""
SEEN = " Runs have seen it {}."
"""Last sentence of a message on something that is counted; a decision about it holds whatever the number."""
_SOURCE_OF_LISTS = "Ascend/pytorch docs/zh/api/native_api/pytorch_2-13-0"
_SOURCE_OF_DEVICE = "torch_npu of Ascend/pytorch"


def _shown(line: str, note: str, write: str = "") -> Example:
    """A line of a script; a conversion says nothing of it."""
    head = "import torch\n"
    return Example.same(f"{head}{line}", note=note, write=f"{head}{write}" if write else "")


@rule(
    id="NPT901",
    title="Operator refused by the chip",
    on="engine",
    why="The chip has no kernel for the operator, and the script stops there.",
    done_when="`tf2npu run --report` of the script tells of no refused operator at this line.",
    source=_SOURCE_OF_LISTS,
    examples=(_shown("y = torch.poisson(x)", "a run has to reach it", "y = torch.poisson(x.cpu()).to(x.device)"),),
)
def refused_operator(site: Any) -> None:
    """Reports an operator that the vendor's list refuses on the chip of a recorded run."""


@rule(
    id="NPT902",
    title="Operator computed on the CPU",
    on="engine",
    why="torch_npu has no kernel for the operator: its tensors are copied to the host and back, and the device waits.",
    done_when="`tf2npu run --report` of the script tells of no operator on the CPU at this line, or it is outside of the step.",
    source="Ascend/op-plugin op_plugin/config/op_plugin_functions.yaml",
    examples=(_shown("y = torch.hypot(x, z)", "a run has to reach it", "y = torch.sqrt(x * x + z * z)"),),
)
def operator_on_cpu(site: Any) -> None:
    """Reports an operator that torch_npu leaves to the CPU, at the line of a recorded run that called it."""


@rule(
    id="NPT903",
    title="Element type refused by the chip",
    on="engine",
    why="The operator has no kernel for this type of elements on the chip, and the script stops there.",
    done_when="`tf2npu run --report` of the script tells of no refused type at this line.",
    source=_SOURCE_OF_LISTS,
    examples=(_shown("y = torch.frac(x.double())", "a run has to reach it", "y = torch.frac(x)"),),
)
def refused_type(site: Any) -> None:
    """Reports a tensor whose elements are of a type that an operator does not take on the chip of a recorded run."""


@rule(
    id="NPT904",
    title="Shape outside of the chip's limits",
    on="engine",
    why="The operator takes fewer dimensions or elements on the chip than it was given.",
    done_when="`tf2npu run --report` of the script tells of no shape at this line.",
    source=_SOURCE_OF_LISTS,
    examples=(_shown("y = torch.isin(x, z)", "a run has to reach it", "y = torch.isin(x.flatten(), z).view_as(x)"),),
)
def shape_limit(site: Any) -> None:
    """Reports a tensor whose shape an operator does not take on the chip of a recorded run."""


@rule(
    id="NPT905",
    title="Operator with limits, or in no list",
    on="engine",
    why="The vendor's lists name limits of the operator that cannot be checked here, or do not name the operator at all.",
    done_when="The line has run on a card.",
    source=_SOURCE_OF_LISTS,
    examples=(_shown("y = torch.ops.mine.scale(x)", "a run has to reach it"),),
)
def unverified_operator(site: Any) -> None:
    """Reports an operator of a recorded run of which nobody says that the chip has it."""


@rule(
    id="NPT906",
    title="Repeated copy from the device",
    on="engine",
    why="The host waits for the device at each copy, and the device for the host after it.",
    done_when="`tf2npu run --report` of the script tells of no copy at this line, or of few.",
    source="PyTorch documentation, performance tuning guide: avoid unnecessary CPU-GPU synchronization",
    examples=(_shown("print(loss.item())", "a run has to reach it twice", "losses.append(loss.detach())"),),
)
def repeated_copy(site: Any) -> None:
    """Reports a line of a recorded run that copied from the device to the host several times."""


@rule(
    id="NPT907",
    title="Stopped by the device",
    on="engine",
    why="What the device refuses ends the script on a card, too.",
    done_when="`tf2npu run` of the script goes beyond this line.",
    source=_SOURCE_OF_DEVICE,
    examples=(_shown("x = torch.ones(2, device='npu:8')", "a run has to reach it", "x = torch.ones(2, device='npu:0')"),),
)
def stopped_by_device(site: Any) -> None:
    """Reports the line at which the device ended a recorded run."""


@rule(
    id="NPT908",
    title="Device out of memory",
    on="engine",
    why="The live tensors of the script take more memory than the chip has.",
    done_when="`tf2npu run` of the script with the same `--soc` goes beyond this line.",
    source=_SOURCE_OF_DEVICE,
    examples=(
        _shown("x = torch.empty(1 << 40, device='npu')", "a run has to reach it", "x = torch.empty(1 << 30, device='npu')"),
    ),
)
def out_of_memory(site: Any) -> None:
    """Reports the line at which the memory of the device ran out in a recorded run."""
