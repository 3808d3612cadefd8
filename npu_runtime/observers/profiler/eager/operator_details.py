"""operator_details.csv: each call of an operator on the host, and the time of the tasks that it launched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from npu_runtime.importers.pytorch.operator_call import OperatorCall, TensorUse
from npu_runtime.observers.profiler.csv_files import microseconds, table
from npu_runtime.observers.profiler.device_log import LoggedTask
from npu_runtime.observers.profiler.eager.eager_profile import EagerProfile
from npu_runtime.observers.profiler.eager.host_operators import HostOperator

_COLUMNS = (
    "Name", "Input Shapes", "Call Stack", "Host Self Duration(us)", "Host Total Duration(us)", "Device Self Duration(us)",
    "Device Total Duration(us)", "Device Self Duration With AICore(us)", "Device Total Duration With AICore(us)",
)  # fmt: skip


def operator_details(profile: EagerProfile) -> Iterator[str]:
    """The table line by line. No call contains another one, as operators are told below those that are made of them: what a
    call takes itself is what it takes in all.
    """
    return table(_COLUMNS, (_row(operator, profile) for operator in profile.operators))


def _row(operator: HostOperator, profile: EagerProfile) -> Sequence[Any]:
    on_device = _sum(operator.tasks)
    on_cores = _sum(task for task in operator.tasks if task.numbered.task.task_type == "AI_CORE")
    on_host = microseconds(operator.end - operator.start)
    shapes = input_shapes(operator.call.operator) if profile.options.record_shapes else ""
    stack = operator.call.stack.replace(";", ";\r\n") if profile.options.with_stack else ""
    return operator.call.operator.name, shapes, stack, on_host, on_host, on_device, on_device, on_cores, on_cores


def _sum(tasks: Iterable[LoggedTask]) -> float:
    return microseconds(sum(task.end - task.start for task in tasks))


def input_shapes(call: OperatorCall) -> str:
    """Extents of the arguments, one behind the other; nothing for what is no tensor."""
    return ";".join(",".join(map(str, value.shape)) if isinstance(value, TensorUse) else "" for value in call.arguments)


def input_types(call: OperatorCall) -> str:
    """Element types of the same."""
    return ";".join(value.dtype if isinstance(value, TensorUse) else "" for value in call.arguments)
