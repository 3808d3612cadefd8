"""The operations, tensors and variables of one kind of training run, by TensorFlow's names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from npu_bridge._check.gradient_roots import roots_of
from npu_bridge._training_requests import executed
from tensorflow.python.framework import auto_control_deps_utils

_VARIABLES = frozenset(("Variable", "VariableV2", "VarHandleOp"))
_DRAWS = frozenset((
    "RandomUniform", "RandomUniformInt", "RandomStandardNormal", "TruncatedNormal", "ParameterizedTruncatedNormal", "RandomGamma",
    "RandomPoisson", "RandomPoissonV2", "RandomShuffle", "Multinomial", "RandomCrop",
))  # fmt: skip
"""Ops that draw numbers."""
_PIPELINES = ("IteratorGetNext", "QueueDequeue", "PaddingFIFOQueue", "StagingArea", "Unstage", "ReaderRead")
"""Beginnings of the names of ops that bring batches in."""
_PYTHON = frozenset(("PyFunc", "PyFuncStateless", "EagerPyFunc"))
_SWITCHES, _MERGES = frozenset(("Switch", "RefSwitch")), frozenset(("Merge", "RefMerge", "Exit", "RefExit"))
GENERATORS = (
    "RngReadAndSkip", "RngSkip", "StatefulUniform", "StatefulStandardNormal", "StatefulTruncatedNormal", "StatefulRandomBinomial",
)  # fmt: skip
"""Beginnings of ops that draw from the state of a generator, which is a variable, and move it on."""
_CHANGES = ("Assign", "Scatter", "ResourceScatter", *GENERATORS)
"""Beginnings of ops that change variables, beside the optimizers' with Apply in their name."""
_OVERWRITES = frozenset(("Assign", "AssignVariableOp"))
FUNCTIONAL = frozenset(("If", "Case", "While", "StatefulPartitionedCall"))
"""Ops whose functions may change variables."""


class Variable(NamedTuple):
    """name: of its operation.  reads: the tensor that shows its value.  sets, given: the operation that initialises it, and
    the tensor that it takes; "" where there is none.
    """

    name: str
    reads: str
    sets: str
    given: str


@dataclass(frozen=True)
class Asked:
    """The request of a run: names of its fetches, targets and feeds."""

    fetches: tuple[str, ...]
    targets: tuple[str, ...]
    feeds: tuple[str, ...]


class StepGraph:
    """graph: a tf.Graph.  asked: of a run that trains."""

    def __init__(self, graph: Any, asked: Asked) -> None:
        self.graph, self.asked = graph, asked
        names = {operation.name for operation in executed(graph, asked.fetches, asked.targets, asked.feeds)}
        self.loss = self._loss(names)
        if self.loss:
            names |= {operation.name for operation in executed(graph, [self.loss], (), asked.feeds)}
        self.operations = [operation for operation in graph.get_operations() if operation.name in names]

    @cached_property
    def by_name(self) -> dict[str, Any]:
        return {operation.name: operation for operation in self.operations}

    def _loss(self, names: set[str]) -> str:
        """The tensor of the loss: what is differentiated, by preference where it is fetched, or a fetched scalar that it is made
        of (as of a loss that is scaled) or that is called so; else "".

        names: of what the run executes. A run that fetches no loss computes gradients without it.
        """
        fetched = [name for name in self.asked.fetches if _is_scalar(self.graph, name)]
        named = [name for name in fetched if "loss" in name.lower() or "cost" in name.lower()]
        roots = [
            root.name for root in roots_of(self.graph)
            if not root.gradients.isdisjoint(names) and self._can_compute(root.name)
        ]  # fmt: skip
        both = [name for name in fetched if name in roots]
        before = {operation.name for operation in executed(self.graph, roots, (), self.asked.feeds)}
        parts = [name for name in fetched if name.rpartition(":")[0] in before]
        return next(iter([*both, *named, *parts, *roots, *fetched]), "")

    def _can_compute(self, name: str) -> bool:
        """Whether a tensor needs nothing that is not fed."""
        found = executed(self.graph, [name], (), self.asked.feeds)
        return not any(
            operation.type == "Placeholder" and operation.outputs[0].name not in self.asked.feeds for operation in found
        )

    @cached_property
    def has_16_bits(self) -> bool:
        """Whether the script itself computes in floats of 16 bits, as Keras' mixed precision does."""
        types = {tensor.dtype for operation in self.operations for tensor in operation.outputs}
        return any(dtype.is_floating and dtype.size == 2 for dtype in types)

    @cached_property
    def drawn(self) -> list[str]:
        """Tensors that bring values in without being fed: batches and random numbers."""
        return [tensor.name for operation in self.operations if _is_source(operation) for tensor in _numbers(operation)]

    @cached_property
    def tensors(self) -> list[str]:
        """Every tensor of numbers that can be fetched, but sources and what variables hold, in order."""
        out = set(self.drawn) | set(self.asked.feeds)
        alive = (operation for operation in self.operations if operation.name not in self._maybe_dead)
        return [tensor.name for operation in alive for tensor in _numbers(operation) if tensor.name not in out]

    @cached_property
    def _maybe_dead(self) -> frozenset[str]:
        """Operations outside of branches and loops that have no value in some steps: those behind a Switch, up to a Merge."""
        dead: set[str] = set()
        for operation in self.operations:
            reads = any(tensor.op.name in dead for tensor in operation.inputs)
            waits = any(one.name in dead for one in operation.control_inputs)
            if operation.type in _SWITCHES or ((reads or waits) and operation.type not in _MERGES):
                dead.add(operation.name)
        return frozenset(dead)

    @cached_property
    def settled(self) -> list[str]:
        """The tensors that do not wait for a change of a variable.

        Fetched beside such changes, what shows a variable of the old kind may show it before or after.
        """
        return [name for name in self.tensors if name.rpartition(":")[0] not in self._late]

    @cached_property
    def _late(self) -> frozenset[str]:
        """Operations that change a variable, and all that wait for or read of one; loops go back, hence the repetition."""
        late = {operation.name for operation in self.operations if _is_change(operation)}
        fed, n_before = set(self.asked.feeds) | set(self.drawn), -1
        while len(late) != n_before:
            n_before = len(late)
            for operation in self.operations:
                read = [tensor.op.name for tensor in operation.inputs if tensor.name not in fed]
                if operation.name not in late and late.intersection([*read, *(one.name for one in operation.control_inputs)]):
                    late.add(operation.name)
        return frozenset(late)

    @cached_property
    def shown(self) -> list[str]:
        """Tensors that show what a variable holds at some moment of the step."""
        return [name for name in self.tensors if _shows_variable(self.graph.as_graph_element(name).op)]

    @cached_property
    def seen_late(self) -> list[str]:
        """The tensors made, after a change of a variable, of a tensor that showed the variable before it.

        Of variables of the old kind a reader may share the memory, so nobody knows which of both values went in.
        """
        early = {name for name in self.shown if name.rpartition(":")[0] not in self._late}
        late = (operation for operation in self.operations if operation.name in self._late)
        return [
            tensor.name for operation in late
            if any(one.name in early and one.op.type != "ReadVariableOp" for one in operation.inputs)
            for tensor in operation.outputs
        ]  # fmt: skip

    @cached_property
    def variables(self) -> list[Variable]:
        """The variables that the run touches and whose value can be seen."""
        found = (_variable(operation) for operation in self.operations if operation.type in _VARIABLES)
        return [variable for variable in found if variable.reads]

    def changes(self) -> list[str]:
        """Names of the operations that change variables."""
        return [operation.name for operation in self.operations if _is_change(operation)]

    def fits(self, name: str, value: np.ndarray) -> bool:
        """Whether a value has a shape that the graph says of a tensor: what a kernel keeps for its gradient may be anything."""
        return bool(self.graph.as_graph_element(name).shape.is_compatible_with(value.shape))

    def updates_of(self, variable: str) -> list[Any]:
        """The operations of the run that change a variable."""
        return [operation for operation in self.operations if operation.inputs and _changes(operation, variable)]

    def overwrites(self, variable: str) -> bool:
        """Whether the run gives a variable another value, whatever it has before: it is no setting of the script's."""
        return any(operation.type in _OVERWRITES for operation in self.updates_of(variable))


def _shows_variable(operation: Any) -> bool:
    return operation.type == "ReadVariableOp" or any(tensor.dtype._is_ref_dtype for tensor in operation.inputs)


class StepGraphs:
    """The step graphs of a process, each made once: what a run executes is found by walking over its whole graph."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, Asked], StepGraph] = {}

    def of(self, graph: Any, asked: Asked) -> StepGraph:
        """The step graph of a tf.Graph and what is asked of it."""
        key = id(graph), asked  # the step graph keeps its graph, so the number stays that one's
        if key not in self._known:
            self._known[key] = StepGraph(graph, asked)
        return self._known[key]


def attributes_of(operation: Any) -> str:
    """The attributes of an operation as text, but for those that TensorFlow only notes there; equal texts, equal attributes."""
    attributes = sorted((name, value) for name, value in operation.node_def.attr.items() if not name.startswith("_"))
    return "\n".join(f"{name} {value.SerializeToString(deterministic=True).hex()}" for name, value in attributes)


def written_by(operation: Any) -> list[Any]:
    """The handles of variables that an operation changes itself, or by its functions."""
    if operation.type in FUNCTIONAL:
        written = auto_control_deps_utils.get_read_write_resource_inputs(operation)[1]
        return [tensor for tensor in written if tensor.op.type in _VARIABLES]
    return list(operation.inputs)[:1] if "Apply" in operation.type or operation.type.startswith(_CHANGES) else []


def made_of(operation: Any) -> list[Any]:
    """The tensors that an operation makes its results of: its inputs and, of a variable that it reads, the value just given.

    Source: in functions, a reader waits for the assignment before it (TensorFlow's automatic control dependencies).
    """
    before = operation.control_inputs if operation.type == "ReadVariableOp" else ()
    given = (one for one in before if one.type == "AssignVariableOp" and one.inputs[0] is operation.inputs[0])
    return [*operation.inputs, *(one.inputs[1] for one in given)]


def _is_change(operation: Any) -> bool:
    return bool(written_by(operation))


def _changes(operation: Any, variable: str) -> bool:
    return any(tensor.op.name == variable for tensor in written_by(operation))


def _is_source(operation: Any) -> bool:
    if operation._get_control_flow_context() is not None:
        return False
    if operation.type in _PYTHON:
        return not list(operation.inputs)
    return operation.type in _DRAWS or operation.type.startswith(_PIPELINES)


def _numbers(operation: Any) -> Iterator[Any]:
    """Outputs that hold numbers and can be fetched."""
    if operation._get_control_flow_context() is not None or operation.type in _VARIABLES:
        return
    for tensor in operation.outputs:
        if not tensor.dtype._is_ref_dtype and is_numeric(tensor.dtype) and operation.graph.is_fetchable(tensor):
            yield tensor


def is_numeric(dtype: Any) -> bool:
    """Whether a tf.DType is one of integers, floats or booleans."""
    return bool((dtype.is_floating or dtype.is_integer or dtype.is_bool) and not dtype.is_quantized)


def _is_scalar(graph: Any, name: str) -> bool:
    tensor = graph.as_graph_element(name)
    return tensor.dtype.is_floating and tensor.shape.rank in (0, None) and tensor.op.type not in _VARIABLES


def _variable(operation: Any) -> Variable:
    sets = _consumer(operation, ("Assign", "AssignVariableOp"), f"{operation.name}/Assign")
    given = sets.inputs[1].name if sets is not None else ""
    return Variable(operation.name, _reads(operation), sets.name if sets is not None else "", given)


def _reads(operation: Any) -> str:
    if operation.type != "VarHandleOp":
        return str(operation.outputs[0].name)
    names = (f"{operation.name}/Read/ReadVariableOp", f"{operation.name}/ReadVariableOp")
    free = [
        reader for reader in operation.outputs[0].consumers()
        if reader.type == "ReadVariableOp" and not reader.control_inputs and reader._get_control_flow_context() is None
    ]  # fmt: skip
    free.sort(key=lambda reader: reader.name not in names)
    return str(free[0].outputs[0].name) if free else ""


def _consumer(operation: Any, types: Sequence[str], name: str) -> Any:
    found = [reader for reader in operation.outputs[0].consumers() if reader.type in types]
    return next((reader for reader in found if reader.name == name), None)
