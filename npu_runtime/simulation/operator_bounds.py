"""The two bounds of the time that a step of PyTorch's operators takes on a chip: each a task of its own, and fused as a graph."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from npu_formats.device.chip import Chip
from npu_runtime.cost.task_cost import TaskCost
from npu_runtime.importers.pytorch.chip_graph import chip_graph_of
from npu_runtime.importers.pytorch.graph_builder import TracedGraph
from npu_runtime.importers.pytorch.operator_call import OperatorCall
from npu_runtime.lowering.assign_formats import assign_formats
from npu_runtime.lowering.chip_graph import COLLECTIVE, Tensor
from npu_runtime.lowering.fuse_buffers import fuse_buffers
from npu_runtime.lowering.fuse_dropout import GENERATE_MASK
from npu_runtime.lowering.lower import LoweredTask, makers, operator_tasks, tasks_of
from npu_runtime.lowering.split_normalization import split_normalization
from npu_runtime.simulation.cost_of_task import Ranks, cost_of
from npu_runtime.simulation.run_record import TensorDescription

HOST_SHARE = (
    "unknown: Python calls each operator, and where that takes longer than the operator the device waits; "
    "the bounds are of the device alone"
)
"""The host's share of an eager step, which no trace tells."""
_MAIN, _MASKS, _COLLECTIVES = range(3)


@dataclass(frozen=True)
class TaskTime:
    """A task of a step.

    operators: PyTorch's, of which it does a part or all, in order.  device_operator: the device's, of its head.  inputs, outputs:
    shapes, types and formats.  us: microseconds.  engine: that works on it.  bound: the pipe or link that takes longest, "start"
    where starting does.  file, line: of the script; "" and 0 if unknown.  flops: useful floating-point operations.  stream: 0 for
    most, others for masks of dropout and for collectives.  start_us: microseconds since the step began.  cost: all its figures.
    calls: positions of the operators among the step's calls.
    """

    operators: tuple[str, ...]
    device_operator: str
    inputs: tuple[TensorDescription, ...]
    outputs: tuple[TensorDescription, ...]
    us: float
    engine: str
    bound: str
    file: str
    line: int
    flops: float
    stream: int
    start_us: float
    cost: TaskCost
    calls: tuple[int, ...] = ()


@dataclass(frozen=True)
class Bound:
    """us: microseconds from the first task's start to the last one's end; masks of dropout and collectives run beside the others.
    by_bound: microseconds of all tasks by what bounds them.
    """

    tasks: tuple[TaskTime, ...]
    us: float
    by_bound: Mapping[str, float]

    @property
    def shares(self) -> dict[str, float]:
        """The parts of the tasks' time by what bounds them; they sum to 1."""
        total = sum(self.by_bound.values())
        return {bound: us / total for bound, us in self.by_bound.items()} if total else {}


@dataclass(frozen=True)
class StepBounds:
    """operators: each operator a task of its own, as an eager step launches them.  fused: as a graph compiler would join them.
    unmapped: operators that no table knows, with how often; their time is that of moving their bytes.  host_share: HOST_SHARE.
    """

    operators: Bound
    fused: Bound
    unmapped: Mapping[str, int]
    host_share: str = HOST_SHARE


def step_bounds(calls: Sequence[OperatorCall], chip: Chip, ranks: Ranks | None = None) -> StepBounds:
    """The bounds of the calls that one device gets in a step.  ranks: that take part in collectives, one if absent."""
    graph, ranks = formatted_graph(calls, chip), ranks or Ranks()
    alone, fused = operator_tasks(graph), tasks_of(graph, fuse_buffers(graph), (), chip)
    return StepBounds(_bound(graph, alone, chip, ranks), _bound(graph, fused, chip, ranks), dict(Counter(graph.unmapped)))


def operators_bound(calls: Sequence[OperatorCall], chip: Chip, ranks: Ranks | None = None) -> Bound:
    """The bound of each operator as a task of its own alone, as profiles show it."""
    graph = formatted_graph(calls, chip)
    return _bound(graph, operator_tasks(graph), chip, ranks or Ranks())


def formatted_graph(calls: Sequence[OperatorCall], chip: Chip) -> TracedGraph:
    """The operators of the chip with normalisations in halves and the conversions of formats."""
    graph = chip_graph_of(calls)
    split_normalization(graph)
    assign_formats(graph, chip)
    _give_conversions_to_readers(graph)
    return graph


def _give_conversions_to_readers(graph: TracedGraph) -> None:
    """A conversion of what comes from outside is of the call that wants it, which is behind it."""
    members: tuple[str, ...] = ()
    for op in reversed(graph.ops):
        op.members = members = op.members or members


def _bound(graph: TracedGraph, tasks: Sequence[LoweredTask], chip: Chip, ranks: Ranks) -> Bound:
    costs = [cost_of(task, chip, ranks) for task in tasks]
    sums: defaultdict[str, float] = defaultdict(float)
    for cost in costs:
        sums[cost.bound] += cost.us
    starts = _starts(tasks, costs)
    times = tuple(_time(graph, *row) for row in zip(tasks, costs, starts, strict=True))
    return Bound(times, max((time.start_us + time.us for time in times), default=0.0), dict(sums))


def _time(graph: TracedGraph, task: LoweredTask, cost: TaskCost, start: float) -> TaskTime:
    members = [name for name in dict.fromkeys(name for op in task.ops for name in op.members) if name in graph.calls]
    calls = [graph.calls[member] for member in members]
    first = next((graph.calls[member] for member in task.head.members if member in graph.calls), None)
    inputs, outputs = tuple(map(_description, task.inputs)), tuple(map(_description, task.outputs))
    place = (first.file, first.line) if first else ("", 0)
    names = tuple(call.name for call in calls)
    return TaskTime(
        names, task.head.op_type, inputs, outputs, cost.us, cost.engine, cost.bound, *place, cost.flops, _stream(task), start,
        cost, tuple(graph.position_of(member) for member in members),
    )  # fmt: skip


def _description(tensor: Tensor) -> TensorDescription:
    return TensorDescription(tensor.shape, tensor.dtype, tensor.format)


def _starts(tasks: Sequence[LoweredTask], costs: Sequence[TaskCost]) -> list[float]:
    """Microseconds at which each task starts: it waits for those before it in its stream, and for what it reads."""
    maker, free, ends = makers(tasks), [0.0, 0.0, 0.0], [0.0] * len(tasks)
    for position, (task, cost) in enumerate(zip(tasks, costs, strict=True)):
        stream = _stream(task)
        needed = [ends[maker[t.storage]] for t in task.inputs if t.storage in maker]
        ends[position] = free[stream] = max([free[stream], *needed]) + cost.us
    return [end - cost.us for end, cost in zip(ends, costs, strict=True)]


def _stream(task: LoweredTask) -> int:
    if task.head.op == GENERATE_MASK:
        return _MASKS
    return _COLLECTIVES if task.head.pattern == COLLECTIVE else _MAIN
