"""The lowering: every step from a typed graph to the tasks of the chip, in order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from npu_formats.device.chip import Chip
from npu_runtime.cost.choice import Choice
from npu_runtime.cost.core_task import CoreWork
from npu_runtime.graph.ir import Graph
from npu_runtime.graph.ops import WHILE
from npu_runtime.lowering.assign_formats import assign_formats
from npu_runtime.lowering.chip_graph import AI_CPU, COLLECTIVE, COPY, RUNTIME, ChipGraph, ChipOp, Tensor
from npu_runtime.lowering.fuse_buffers import fuse_buffers
from npu_runtime.lowering.fuse_dropout import fuse_dropout
from npu_runtime.lowering.fuse_training import fuse_training
from npu_runtime.lowering.region_work import head_of, inputs_of, outputs_of, region_work, transferred
from npu_runtime.lowering.split_normalization import split_normalization

ELSEWHERE = frozenset({AI_CPU, COLLECTIVE, COPY, RUNTIME})
"""Patterns that no AI core works on."""


@dataclass(frozen=True, eq=False)
class LoweredTask:
    """ops: that it does.  head: which of them gives it its type.  inputs, outputs: tensors that enter and leave it.
    work: of the AI cores, None for another engine.  body: the tasks of one turn of a loop.
    """

    ops: tuple[ChipOp, ...]
    head: ChipOp
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    work: CoreWork | None
    body: tuple[LoweredTask, ...] = ()

    @cached_property
    def read(self) -> tuple[Tensor, ...]:
        """The inputs that cost a transfer, not those that are computed again from smaller tensors."""
        return transferred(self.inputs)

    @cached_property
    def written(self) -> tuple[Tensor, ...]:
        """The outputs that cost a transfer, not those that their readers compute again."""
        return transferred(self.outputs)

    @property
    def name(self) -> str:
        """The members' names one after another.  Source: the graph engine's names of fused operators."""
        return "".join(op.name for op in self.ops)


Choose = Callable[[LoweredTask, Chip], Choice | None]
"""choose(task, chip): what tuning has chosen for a task, None for the default."""


def untuned(task: LoweredTask, chip: Chip) -> None:
    """Every task has its default."""


def makers(tasks: Sequence[LoweredTask]) -> dict[Tensor, int]:
    """The position of the task that makes each tensor, by the memory that the tensor is in."""
    return {tensor.storage: position for position, task in enumerate(tasks) for op in task.ops for tensor in op.outputs}


def lower(graph: Graph, chip: Chip) -> list[LoweredTask]:
    """The tasks of a graph whose types are assigned and which no pass has fused, in an order of execution.

    graph: what `pipeline.SIMPLIFY` leaves, its shapes known.  Neither the graph nor its nodes are changed.
    """
    # Loads the kernels, and with them scipy, which no trace of PyTorch's operators needs.
    from npu_runtime.lowering.select_ops import select_ops

    return lower_chip(*select_ops(graph, chip, graph.fetches), chip)


def lower_chip(graph: ChipGraph, fetched: Collection[Tensor], chip: Chip) -> list[LoweredTask]:
    """The tasks of the chip's operators, fused as the chip's compiler fuses a graph.  fetched: tensors that leave the graph.

    The graph is changed: it gets formats and their conversions.
    """
    split_normalization(graph)
    fuse_dropout(graph)
    fuse_training(graph, fetched)
    assign_formats(graph, chip)
    return tasks_of(graph, fuse_buffers(graph), fetched, chip)


def tasks_of(graph: ChipGraph, regions: Sequence[list[ChipOp]], fetched: Collection[Tensor], chip: Chip) -> list[LoweredTask]:
    """A task for each region of a graph whose formats are assigned.  regions: of its operators, in an order of execution."""
    readers, kept = graph.readers(), frozenset(fetched)
    made = []
    for region in regions:
        head, inputs, outputs = head_of(region), inputs_of(region), outputs_of(region, readers, kept)
        work = None if head.pattern in ELSEWHERE else region_work(region, transferred(inputs), transferred(outputs))
        body = tuple(lower(head.attrs["loop"].graph, chip)) if head.op == WHILE else ()
        made.append(LoweredTask(tuple(region), head, tuple(inputs), tuple(outputs), work, body))
    return made


def operator_tasks(graph: ChipGraph) -> list[LoweredTask]:
    """A task for each operator of a graph whose formats are assigned, as where each is launched by itself.

    So every operator stores what it makes, also what a fused reader would compute again from smaller tensors.
    """
    return [_operator_task(op) for op in graph.ops]


def _operator_task(op: ChipOp) -> LoweredTask:
    inputs, outputs = tuple(inputs_of([op])), tuple(op.outputs)
    work = None if op.pattern in ELSEWHERE else region_work([op], inputs, outputs)
    return LoweredTask((op,), op, inputs, outputs, work)
