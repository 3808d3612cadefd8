"""A graph as the graph compiler's own description of it: operators in the order of execution, and what they read.

Names, types, numbers and streams are those of the dump files. What the device does not run as an operator is there as a Data,
Const or Variable, so that each input has a producer; what only hands a value on is not there, and its readers name who made it.
Attributes of names are those that comparison programs look for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from npu_formats.vendor.graph_messages import LIST_OF_INTEGERS, LIST_OF_TEXTS, ModelDef, TensorMessage, type_number
from npu_runtime.compiler.compilation import Compilation
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import CONSTANT, FEED, LOOP_INPUT, STRUCTURAL, VARIABLES, WHILE, HostCall
from npu_runtime.graph.spec import Spec
from npu_runtime.kernels.elementwise.rounding import ROUND
from npu_runtime.observers.dump.operators import Operator, file_name_of, type_of
from npu_runtime.passes.schedule.schedule import Schedule

DATA, CONST, VARIABLE, NET_OUTPUT, LOOP = "Data", "Const", "Variable", "NetOutput", "While"
"""Types of what is no operator of the device."""
PASSIVE = frozenset({DATA, CONST, VARIABLE, NET_OUTPUT, LOOP}) | STRUCTURAL
"""Types of nodes that have no dump file: those, and control flow.  Source: the documents of the data dump."""
_TYPES = {
    FEED: DATA, LOOP_INPUT: DATA, "Placeholder": DATA, "PlaceholderV2": DATA, CONSTANT: CONST, "Const": CONST, WHILE: LOOP,
    **dict.fromkeys(VARIABLES, VARIABLE),
}  # fmt: skip
LINE = "_user_line"
"""The attribute with the line of the user's code that made a node, `file.py:12`: ours, which other readers pass over."""
SourceOf = Callable[[str], str]
"""The line of the user's code that made a node of the user's graph, "" where nobody knows."""
_OUTPUT_NAME = "Node_Output"
"""The name that the graph compiler gives to the node which reads what is fetched."""
_TAKEN = 1
"""The output of a Switch for a condition that holds."""
_MADE = "^"
"""Begins the names of nodes that passes have made, which the user's graph has not."""


@dataclass(frozen=True)
class Place:
    """A graph, and where it stands.  node: the loop whose turn it is.  around: the place of that loop."""

    graph: Graph
    schedule: Schedule
    node: Node | None = None
    around: Place | None = None

    def switched(self, node: Node) -> str:
        """The user's node that gives the body the loop variable which a source stands for; empty where there is none."""
        return "" if self.node is None else self.node.attrs["loop"].switched.get(node.name, "")


def built_model(
    name: str, made: Compilation, operators: Sequence[Operator], source_of: SourceOf, with_weights: bool = False
) -> Any:  # fmt: skip
    """The ModelDef of a program.

    name: of the model.  made: what the program was built of.  operators: of the program.  with_weights: what constants hold, too.
    """
    place = Place(made.graph, made.schedule)
    writer = _Writer(name, {operator.node: operator for operator in operators}, True, with_weights, source_of)
    for at, node in (*_sources(place), *_steps(place)):
        writer.add(at, node)
    writer.end(place, made.graph.fetches)
    return writer.model


def graph_model(name: str, graph: Graph, with_weights: bool = False) -> Any:
    """The ModelDef of a graph on its way to a program: all of its nodes, without order and streams."""
    place = Place(graph, Schedule())
    writer = _Writer(name, {}, False, with_weights, lambda node: "")
    for node in graph:
        writer.add(place, node)
    writer.end(place, graph.fetches)
    return writer.model


def _sources(place: Place) -> Iterator[tuple[Place, Node]]:
    """The nodes that are there before the first step: feeds, constants, variables, and nodes of the host."""
    ordered = {item.name for item in place.schedule.order if isinstance(item, Node)}
    state = set() if place.node is None else set(place.node.attrs["loop"].variables.values())
    for node in place.graph:
        is_outside = node.op == LOOP_INPUT and node.name not in state
        if node.name not in ordered and not is_outside:
            yield place, node


def _steps(place: Place) -> Iterator[tuple[Place, Node]]:
    for item in place.schedule.order:
        if isinstance(item, HostCall):
            continue
        yield place, item
        if item.name in place.schedule.bodies:
            inside = Place(item.attrs["loop"].graph, place.schedule.bodies[item.name], item, place)
            yield from _sources(inside)
            yield from _steps(inside)


@dataclass
class _Writer:
    """name: of the model.  operators: by node.  is_final: whether only what runs is there, and what it reads."""

    name: str
    operators: Mapping[str, Operator]
    is_final: bool
    with_weights: bool
    source_of: SourceOf
    model: Any = field(init=False)
    _n_parts: Counter[str] = field(init=False)
    """Number of operators that each of the user's nodes has become."""

    def __post_init__(self) -> None:
        self.model = ModelDef(name=self.name, version=1)
        self.model.graph.add(name=self.name)
        single = [operator.original_names for operator in self.operators.values() if len(operator.original_names) == 1]
        self._n_parts = Counter(names[0] for names in single)

    def add(self, place: Place, node: Node) -> None:
        """A node with its inputs, if it is shown."""
        if not self._is_shown(node):
            return
        graph, operator = self.model.graph[0], self.operators.get(node.name)
        op = graph.op.add(name=name_of(node), type=_type(node), id=len(graph.op))
        op.stream_id = 0 if operator is None else operator.stream_id
        if op.type not in (DATA, CONST, VARIABLE):
            self._add_inputs(op, place, node)
        self._add_names(op, _original_names(node))
        for index, spec in enumerate(node.outputs):
            _add_output(op, spec, *_described(node, operator, index))
        if self.with_weights:
            _add_weight(op, node)
        if place.switched(node):
            self._add_switch(place.switched(node), node.outputs[0])

    def _add_switch(self, name: str, spec: Spec) -> None:
        """Adds the node that gives the body a variable: it has a value for each turn, the variable one more for the last test."""
        graph = self.model.graph[0]
        op = graph.op.add(name=name, type=DATA, id=len(graph.op))
        self._add_names(op, (name,))
        for output in range(_TAKEN + 1):
            _add_output(op, spec, Value(name, output), spec.dtype, "ND")

    def end(self, place: Place, fetches: Sequence[Value]) -> None:
        """The node that reads what is fetched, and the names of inputs and outputs of the graph."""
        graph = self.model.graph[0]
        op = graph.op.add(name=_OUTPUT_NAME, type=NET_OUTPUT, id=len(graph.op))
        op.input.extend(self._reference(place, value) for value in fetches)
        graph.output.extend(op.input)
        graph.input.extend(op.name for op in graph.op if op.type == DATA)

    def _is_shown(self, node: Node) -> bool:
        if not self.is_final or node.name in self.operators:
            return node.op != ROUND or node.name in self.operators
        return node.op in _TYPES or node.op in STRUCTURAL or node.host_reason is not None

    def _reference(self, place: Place, value: Value, reader: Node | None = None) -> str:
        """The output, as files name it, that a node reads: of the nearest producer that is shown, also outside of a loop."""
        node = place.graph[value.node]
        if node.op == LOOP_INPUT and place.node is not None and place.around is not None:
            loop = place.node.attrs["loop"]
            for position, source in loop.constants.items():
                if source == node.name:
                    return self._reference(place.around, place.node.inputs[position], place.node)
            if reader is not None and reader.name in loop.body and place.switched(node):
                return f"{place.switched(node)}:{_TAKEN}"
        if not self._is_shown(node) and node.inputs:
            return self._reference(place, node.inputs[0], node)
        return f"{name_of(node)}:{value.output}"

    def _add_inputs(self, op: Any, place: Place, node: Node) -> None:
        for value in node.inputs:
            op.input.append(self._reference(place, value, node))
            spec = place.graph.spec(value)
            described = op.input_desc.add(dtype=type_number(spec.dtype), layout="ND")
            described.shape.dim.extend(_dims(spec))
        op.input.extend(f"{name}:-1" for name in self._waited_for(place, node))

    def _waited_for(self, place: Place, node: Node) -> list[str]:
        """Names of the nodes that it waits for without reading them; in the place of one that is not shown those it waits for."""
        found: dict[str, None] = {}
        work, seen = list(reversed(node.controls)), set()
        while work:
            name = work.pop()
            if name in seen or name not in place.graph:
                continue
            seen.add(name)
            other = place.graph[name]
            if self._is_shown(other):
                found[name_of(other)] = None
            else:
                work += [*reversed(other.controls), *(value.node for value in reversed(other.inputs))]
        return list(found)

    def _add_names(self, op: Any, names: Sequence[str]) -> None:
        original = op.attr["_datadump_original_op_names"].list
        original.val_type = LIST_OF_TEXTS
        original.s.extend(name.encode() for name in names)
        if len(names) == 1 and self._n_parts[names[0]] > 1:
            op.attr["_datadump_is_multiop"].b = True
        line = next(filter(None, map(self.source_of, names)), "")
        if line:
            op.attr[LINE].s = line.encode()


def name_of(node: Node) -> str:
    """The name of a node in files; that of the user's tensor for one that is fed."""
    if node.op != FEED:
        return file_name_of(node)
    value = node.attrs["value"]
    return value.node if value.output == 0 else f"{value.node}_{value.output}"


def _type(node: Node) -> str:
    return DATA if node.host_reason is not None else _TYPES.get(node.op) or type_of(node)


def _original_names(node: Node) -> tuple[str, ...]:
    if node.op == FEED:
        return (node.attrs["value"].node,)
    return tuple(name for name in node.original_names if not name.startswith(_MADE))


def _described(node: Node, operator: Operator | None, index: int) -> tuple[Value, str, str]:
    """The user's value that an output is, its type in the device's memory, and its format.

    A value that the user's graph does not have has no name: comparison programs take such outputs for inner ones.
    """
    if operator is not None:
        tensor = operator.outputs[index]
        is_image = tensor.has_images and node.outputs[index].rank == 4
        return tensor.origin or Value("", index), tensor.dtype, "NHWC" if is_image else "ND"
    return _origin(node, index) or Value("", index), node.outputs[index].dtype, "ND"


def _origin(node: Node, index: int) -> Value | None:
    """The user's value that an output of what is no operator is; of a loop that which its variable ends with."""
    if node.op == FEED:
        return Value(*node.attrs["value"])
    if node.op == WHILE:
        return Value(node.attrs["loop"].results[index])
    origin = node.origin(index)
    return None if origin is None or origin.node.startswith(_MADE) else origin


def _add_output(op: Any, spec: Spec, origin: Value, dtype: str, layout: str) -> None:
    described = op.output_desc.add(dtype=type_number(dtype), layout=layout, size=spec.n_bytes, device_type="NPU")
    described.shape.dim.extend(_dims(spec))
    described.attr["_datadump_origin_name"].s = origin.node.encode()
    described.attr["_datadump_origin_output_index"].i = origin.output
    for key in ("_datadump_origin_format", "origin_format"):
        described.attr[key].s = layout.encode()
    shape = described.attr["origin_shape"].list
    shape.val_type = LIST_OF_INTEGERS
    shape.i.extend(_dims(spec))


def _add_weight(op: Any, node: Node) -> None:
    """Adds the value of a constant, where its numpy type is one of numbers or bools."""
    value = node.outputs[0].value if node.outputs else None
    if op.type == CONST and value is not None and value.dtype.kind in "fiubc":
        tensor = TensorMessage(data=value.tobytes())
        tensor.desc.CopyFrom(op.output_desc[0])
        tensor.desc.attr.clear()
        op.attr["value"].t.CopyFrom(tensor)


def _dims(spec: Spec) -> list[int]:
    """The extents, -1 for an unknown one and -2 alone for an unknown rank.  Source: the graph compiler's documents."""
    return [-2] if spec.shape is None else [-1 if extent is None else extent for extent in spec.shape]
