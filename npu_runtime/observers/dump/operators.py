"""The operators of a program as its dump files and its graph file name them.

An operator is a task of the program that a dump knows: not a constant, a variable, a mark of control flow, nor a rounding to
16 bits that belongs to the operator before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from npu_formats.device.op_table import tensorflow_ops
from npu_runtime.analysis.compute_types import ROUNDED_INPUT, stored_type
from npu_runtime.executor.loop import LoopRunner
from npu_runtime.executor.program import Program, Task
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import CONSTANT, FEED, LOOP_INPUT, SOURCES, STRUCTURAL, VARIABLES, WHILE
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.elementwise.rounding import ROUND

NO_OPERATORS = SOURCES | STRUCTURAL | VARIABLES | {CONSTANT, FEED, LOOP_INPUT, WHILE, "ControlTrigger"}
"""Ops without dump files.  Source: the documents of the data dump, which leave out data, constants and control flow."""
_FILTERS = {"Conv2D": 1, "DepthwiseConv2dNative": 1, "Conv2DBackpropInput": 1, "DepthwiseConv2dNativeBackpropInput": 1}
"""Inputs, by position, that are no images although they have four axes."""
_FOREIGN = re.compile(r"[^A-Za-z0-9_./\\-]")
"""Characters that readers of dumps take in no name."""


@dataclass(frozen=True)
class Tensor:
    """One output of an operator.  origin: the user's value that it is, None for a value that the user's graph does not have.
    dtype: in the device's memory.  has_images: whether it lies as NHWC, where it has four axes.  shape: as far as it is known,
    of a variable's handle that of the variable.
    """

    origin: Value | None
    dtype: str
    has_images: bool
    shape: Shape

    @property
    def n_bytes(self) -> int:
        """Bytes of its elements; 0 where only a run tells the shape."""
        return Spec(self.shape, self.dtype).n_bytes


@dataclass(frozen=True)
class Operator:
    """node: its node in the compiled graph.  name: the same in files, with slashes.  type: the device's operator, TensorFlow's
    where there is none.  task_id: its position among the program's tasks, those of a loop's turn behind the loop.
    original_names: names in the user's graph, several when fused, none when a pass has put it in.  inputs: what it reads, in the
    compiled graph.  read: the inputs as they lie in memory.  loops: the nodes of the loops around it, the outermost first.
    """

    node: str
    name: str
    type: str
    task_id: int
    stream_id: int
    original_names: tuple[str, ...]
    inputs: tuple[Value, ...]
    read: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    loops: tuple[str, ...] = ()


@dataclass(frozen=True)
class Operators:
    """Operators of a program, in the order of its tasks.  by_task: position by `id` of the program's Task."""

    all: tuple[Operator, ...]
    by_task: Mapping[int, int]


def operators_of(graph: Graph, program: Program) -> Operators:
    """The operators of a compiled graph and the program that was built of it, those inside of loops too."""
    found: list[Operator] = []
    by_task: dict[int, int] = {}
    numbering = _Numbering(program.streams.streams)
    for operator, task in numbering.walk(graph, program, ()):
        by_task[id(task)] = len(found)
        found.append(operator)
    return Operators(tuple(found), by_task)


class _Numbering:
    """streams: by node.  A task without one goes to that of the task before it, as the device attaches what has no engine."""

    def __init__(self, streams: Mapping[str, int]) -> None:
        self._streams = streams
        self._task_id = 0
        self._stream = 0

    def walk(self, graph: Graph, program: Program, loops: tuple[str, ...]) -> Iterator[tuple[Operator, Task]]:
        rounded = _rounded(graph)
        for task in program.steps:
            if not isinstance(task, Task):
                continue
            number, self._task_id = self._task_id, self._task_id + 1
            self._stream = self._streams.get(task.node, self._stream)
            node = graph[task.node]
            if isinstance(task.function, LoopRunner):
                yield from self.walk(node.attrs["loop"].graph, task.function.program, (*loops, node.name))
            elif is_operator(node):
                yield _operator(graph, node, number, self._stream, rounded, loops), task


def is_operator(node: Node) -> bool:
    """Whether a node that runs has dump files."""
    is_part = node.op == ROUND and not node.name.startswith(ROUNDED_INPUT)
    return node.op not in NO_OPERATORS and not is_part


def _rounded(graph: Graph) -> dict[Value, str]:
    """The 16-bit type of each value that a rounding behind its operator makes of it."""
    parts = [node for node in graph if node.op == ROUND and not is_operator(node)]
    return {node.inputs[0]: str(node.attrs["dtype"]) for node in parts}


def _operator(
    graph: Graph, node: Node, task_id: int, stream_id: int, rounded: Mapping[Value, str], loops: tuple[str, ...]
) -> Operator:  # fmt: skip
    read = tuple(_tensor(graph, value, rounded, _has_images(node, i)) for i, value in enumerate(node.inputs))
    made = [Value(node.name, i) for i in range(len(node.outputs))]
    outputs = tuple(_tensor(graph, value, rounded, _has_images(node, -1 - i)) for i, value in enumerate(made))
    return Operator(
        node.name, file_name_of(node), type_of(node), task_id, stream_id, node.original_names, tuple(node.inputs), read, outputs,
        loops,
    )  # fmt: skip


def _tensor(graph: Graph, value: Value, rounded: Mapping[Value, str], has_images: bool) -> Tensor:
    node = graph[value.node]
    if node.op in VARIABLES:
        return Tensor(node.origin(value.output), str(node.attrs["dtype"]), has_images, node.attrs.get("shape"))
    dtype = rounded.get(value) or stored_type(node, value.output)
    return Tensor(node.origin(value.output), dtype, has_images, graph.spec(value).shape)


def _has_images(node: Node, position: int) -> bool:
    """position: of an input, or a negative number for an output."""
    makes_filter = node.op.endswith("BackpropFilter") and position == -1
    is_filter = makes_filter or _FILTERS.get(node.op.removeprefix("_Fused")) == position
    return node.attrs.get("data_format") == "NHWC" and not is_filter


def type_of(node: Node) -> str:
    """The device's operator, else TensorFlow's op, of a node of a compiled graph."""
    if node.op == ROUND:
        return "Cast"
    row = tensorflow_ops().get(node.op)
    return row.device_op if row is not None and row.device_op else node.op.lstrip("_")


def file_name_of(node: Node) -> str:
    """The name of a node in files: its own, or the user's that it stands for, without signs that readers do not take."""
    first = node.origins.get(0)
    is_named_after_a_value = node.members and "^" in node.name and not node.name.startswith("^")
    name = first.node if is_named_after_a_value and first is not None else node.name
    return _FOREIGN.sub("_", name.lstrip("^"))
