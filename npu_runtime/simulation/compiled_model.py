"""A compiled model as the device holds it: its tasks with costs and streams, and which of them mark the phases of a step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from npu_formats.device.chip import Chip
from npu_runtime.analysis.training_updates import is_training_update
from npu_runtime.cost.fitted import load_fitted
from npu_runtime.lowering.chip_graph import AI_CPU, COLLECTIVE, COPY, CUBE, RUNTIME, Tensor
from npu_runtime.lowering.lower import Choose, LoweredTask, makers, untuned
from npu_runtime.simulation.cost_of_task import Ranks, cost_of
from npu_runtime.simulation.run_record import DeviceTask, TensorDescription
from npu_runtime.simulation.task_streams import streams_of

SourceOf = Callable[[str], str]
"""source_of(node): "file:line" of the script that made a node of the user's graph, "" if unknown; of "", which stands for what no
node of the user's is, such as a change of an input's format, the line that called the graph's function."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A task and the launches before it, by position, that it waits for.  body: the launches of one turn of a loop."""

    task: DeviceTask
    waits: tuple[int, ...]
    body: tuple[Launch, ...] = ()


@dataclass(frozen=True)
class CompiledModel:
    """name: what it is called in files.  launches: in the order of issue.  fp, bp: positions of the first forward task that
    depends on input data and of the last that a gradient needs, None for a model without updates.  input_bytes: fed in a step.
    is_training: whether a step updates trainable variables.
    """

    name: str
    launches: Sequence[Launch]
    fp: int | None = None
    bp: int | None = None
    input_bytes: float = 0.0
    is_training: bool = False
    collectives: tuple[int, ...] = field(default=())


def compile_model(
    name: str, tasks: Sequence[LoweredTask], chip: Chip, ranks: Ranks, source_of: SourceOf, input_bytes: float = 0.0,
    choose: Choose = untuned,
) -> CompiledModel:  # fmt: skip
    """The model of lowered tasks on a chip."""
    streams = streams_of(tasks, chip)
    launches = _number_bodies(_launches(tasks, streams, _Compiler(chip, ranks, source_of, choose)), count(len(tasks)))
    updates = [position for position, task in enumerate(tasks) if any(is_training_update(op.op) for op in task.ops)]
    collectives = tuple(position for position, task in enumerate(tasks) if task.head.pattern == COLLECTIVE)
    if not updates:
        return CompiledModel(name, launches, input_bytes=input_bytes, collectives=collectives)
    fp, bp = _first_forward(tasks), _last_backward(tasks, frozenset(updates))
    return CompiledModel(name, launches, fp, bp, input_bytes, True, collectives)


@dataclass(frozen=True)
class _Compiler:
    """A compiler of tasks for a chip."""

    chip: Chip
    ranks: Ranks
    source_of: SourceOf
    choose: Choose

    def described(self, task: LoweredTask, number: int, stream: int) -> DeviceTask:
        members = tuple(dict.fromkeys(member for op in task.ops for member in op.members))
        source = next(filter(None, map(self.source_of, (*task.head.members, ""))), "")
        cost = cost_of(task, self.chip, self.ranks, self.choose(task, self.chip))
        is_dynamic = any(op.is_dynamic for op in task.ops)
        if is_dynamic:  # the host issues it when it knows the shapes; all others it issues as one graph
            cost = replace(cost, us=cost.us + load_fitted().issue_us)
        return DeviceTask(
            task.name, task.head.op_type, _task_type(task, self.chip), stream, number, cost, members, source,
            tuple(map(_description, task.inputs)), tuple(map(_description, task.outputs)), is_dynamic,
        )  # fmt: skip


def _launches(tasks: Sequence[LoweredTask], streams: Mapping[int, int], compiler: _Compiler) -> tuple[Launch, ...]:
    maker = makers(tasks)
    made = []
    for position, task in enumerate(tasks):
        read = (tensor.storage for tensor in task.read)
        waits = tuple(sorted({maker[t] for t in read if t in maker and streams[maker[t]] != streams[position]}))
        described = compiler.described(task, position, streams[position])
        body = _launches(task.body, dict.fromkeys(range(len(task.body)), streams[position]), compiler)
        made.append(Launch(described, waits, body))
    return tuple(made)


def _number_bodies(launches: Sequence[Launch], free: Iterator[int]) -> tuple[Launch, ...]:
    """Tasks of loops have numbers behind those of the model."""
    return tuple(replace(launch, body=tuple(_number(inner, free) for inner in launch.body)) for launch in launches)


def _number(launch: Launch, free: Iterator[int]) -> Launch:
    task = replace(launch.task, task_id=next(free))
    return Launch(task, launch.waits, tuple(_number(inner, free) for inner in launch.body))


def tasks_of(launches: Sequence[Launch]) -> list[DeviceTask]:
    """All tasks, those of loops included, in order of their numbers."""
    return [launch.task for launch in launches] + [task for launch in launches for task in _inside(launch)]


def _inside(launch: Launch) -> Iterator[DeviceTask]:
    for inner in launch.body:
        yield inner.task
        yield from _inside(inner)


def _task_type(task: LoweredTask, chip: Chip) -> str:
    if task.head.pattern in (AI_CPU, RUNTIME):
        return "AI_CPU"
    if task.head.pattern == COLLECTIVE:
        return "COMMUNICATION"
    if task.head.pattern == COPY:
        return "MEMCPY_ASYNC"
    return "AI_VECTOR_CORE" if chip.is_split and task.head.pattern != CUBE else "AI_CORE"


def _description(tensor: Tensor) -> TensorDescription:
    return TensorDescription(tensor.shape, tensor.dtype, tensor.format)


def _first_forward(tasks: Sequence[LoweredTask]) -> int | None:
    """The first task of the AI cores, or loop of such, that depends on what is fed or comes from the host."""
    fed: set[Tensor] = set()
    for position, task in enumerate(tasks):
        outside = [t for t in task.read if t.producer is None and not (t.is_variable or t.is_constant)]
        if outside or any(t in fed for t in task.read):
            fed.update(tensor for op in task.ops for tensor in op.outputs)
            if task.work is not None or task.body:
                return position
    return None


def _last_backward(tasks: Sequence[LoweredTask], updates: frozenset[int]) -> int | None:
    """The last task before the updates that one of them needs; masks and collectives are not part of the pass."""
    maker = makers(tasks)
    needed = [maker[t] for position in updates for t in tasks[position].read if t in maker and maker[t] not in updates]
    passed = [position for position in needed if tasks[position].work is not None or tasks[position].body]
    return max(passed, default=None)
