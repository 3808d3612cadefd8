"""A row of the result table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tf2npu.comparison.error_statistics import Measures
from tf2npu.comparison.metrics import NOT_COMPUTED, not_computed
from tf2npu.comparison.tensors.layouts import Beside


@dataclass
class Row:
    """A tensor of the device beside one of the reference, or an operator without either.

    index: of the row's operators among those of the graph.  device, reference: names joined with commas, `*` for none.
    tensor: `name:output:0`, or NaN.  order: of execution.  verdict: one of those of tf2npu.comparison.verdicts.
    missed: (threshold, value, limit) of each one that is missed.  beside: reads both tensors again; extents: of the reference.
    producer: of the tensor, `name:output`, where the graph file tells it.  is_of_variable: whether that is a variable.
    """

    index: int
    op_type: str
    device: str
    reference: str
    device_type: str = NOT_COMPUTED
    device_address: str = NOT_COMPUTED
    reference_type: str = NOT_COMPUTED
    reference_address: str = NOT_COMPUTED
    tensor: str = NOT_COMPUTED
    shape: str = NOT_COMPUTED
    figures: list[str] = field(default_factory=not_computed)
    reason: str = ""
    values: dict[str, float] = field(default_factory=dict)
    measures: Measures | None = None
    verdict: str = ""
    why: str = ""
    missed: list[tuple[str, float, float]] = field(default_factory=list)
    beside: Callable[[], Beside] | None = None
    extents: tuple[int, ...] = ()
    operator: str = ""
    order: int = 0
    line: str = ""
    producer: str = ""
    is_of_variable: bool = False

    @property
    def is_input(self) -> bool:
        return ":input:" in self.tensor
