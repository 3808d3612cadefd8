"""A graph while it is being built: what was read of each parameter, and the writes in the order of the program.

Traces nest: a branch or the body of a loop has one of its own, whose writes stay within it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence, Set
from typing import Any

import numpy as np
from mindspore._device.session import DeviceGraph, HostVariable, device_has, store, unique_name
from mindspore._device.structure import flat
from npu_bridge.npu_init import tf

_open: list[Trace] = []


class Trace:
    """One graph being built.

    before: operations that all of it has to come after.  computed: the gradients.  cleared: the operation that cleared the float
    status, which gradients come after.  variables, device: of the whole graph, which the outermost trace has.  outer: the trace
    that a branch stands in, from which it takes parameters that it has not written, so that gradients find their values.  own:
    parameters that are read within all the same, as a later turn of a loop has another value of them.  updates, loss: what a
    check notes of the whole graph.
    """

    def __init__(self, before: Sequence[Any] = (), outer: Trace | None = None, own: Set[Any] = frozenset()) -> None:
        self.before = list(before)
        self.outer, self.own = outer, own
        self.place = tf.get_default_graph()._get_control_flow_context()
        self.reads: dict[Any, Any] = {}
        self.earlier_reads: dict[Any, list[Any]] = {}
        self.last_write: dict[Any, list[Any]] = {}
        self.written: list[Any] = []
        self.results: dict[Any, Any] = {}
        self.aliases: dict[int, Any] = {}
        self.computed: list[Any] = []
        self.cleared: list[Any] = []
        self.variables: dict[Any, Any] = {}
        self.device: DeviceGraph | None = None
        self.updates: list[Any] = []
        self.loss: Any = None
        self.is_updating = False
        self.n_draws = 0
        self.is_replayed = False

    def read(self, parameter: Any) -> Any:
        """The value of a parameter as the writes before left it."""
        if (
            parameter not in self.reads
            and self.outer is not None
            and parameter not in self.last_write
            and parameter not in self.own
        ):
            with self.outer.within():
                value = self.outer.read(parameter)
            self.reads[parameter] = tf.identity(value)
        if parameter not in self.reads:
            with tf.control_dependencies(self.last_write.get(parameter, self.before)):
                self.reads[parameter] = variable_of(parameter).read_value()
        return self.reads[parameter]

    @contextlib.contextmanager
    def within(self) -> Iterator[None]:
        """Nodes that are made within stand where the trace began, also while a branch of it is built."""
        graph = tf.get_default_graph()
        with tf.control_dependencies(None):
            graph._set_control_flow_context(self.place)
            yield

    def write(self, parameters: Sequence[Any], make: Callable[..., Any]) -> Any:
        """The operation that `make` gives for the variables of parameters; it comes after all reads and writes so far.

        In a part that is traced a second time for its gradient, nothing is written again: None.
        """
        if self.is_replayed:
            return None
        before = [self._let_go(one) for one in parameters if one in self.reads]
        before += [op for one in parameters for op in self.last_write.get(one, self.before)]
        with tf.control_dependencies(before):
            made = make(*map(variable_of, parameters))
        op = made if isinstance(made, tf.Operation) else made.op
        self.note_write(parameters, op)
        return op

    def note_write(self, parameters: Sequence[Any], op: Any) -> None:
        """Later reads of parameters come after an operation that writes them."""
        for one in parameters:
            if one in self.reads:
                self._let_go(one)
            self.last_write[one] = [op]
        self.written.append(op)

    def _let_go(self, parameter: Any) -> Any:
        """The value that was read of a parameter that is written now: it is no longer the parameter's."""
        node = self.reads.pop(parameter)
        self.earlier_reads.setdefault(parameter, []).append(node)
        return node

    def reads_of(self, parameter: Any) -> list[Any]:
        """All values that were read of a parameter, before and after writes; the gradient is of every one."""
        return [*self.earlier_reads.get(parameter, []), self.read(parameter)]

    def outputs(self) -> list[Any]:
        """The tensors that cells of this graph have given so far."""
        cells = [given[0] for given in self.results.values() if isinstance(given, tuple)]
        return [one.node for one in flat(cells) if getattr(one, "node", None) is not None]

    def origin(self, tensor: Any) -> int:
        """The identity of a tensor, that of what it is a copy of where it is one."""
        return id(self.aliases.get(id(tensor), tensor))

    def copy_of(self, tensor: Any) -> Any:
        """A node of its own for a tensor, so that gradients with respect to it are of what is computed from it alone."""
        made = tf.identity(tensor)
        self.aliases[id(made)] = self.aliases.get(id(tensor), tensor)
        self.results[id(made)] = made  # an identity is of a tensor that lives
        return made

    @contextlib.contextmanager
    def replaying(self) -> Iterator[None]:
        """All that is traced within was traced before: its writes are there."""
        before, self.is_replayed = self.is_replayed, True
        try:
            yield
        finally:
            self.is_replayed = before


def tracing() -> bool:
    """Whether a graph is being built."""
    return bool(_open)


def current_trace() -> Trace:
    """The innermost graph that is being built."""
    return _open[-1]


def outermost_trace() -> Trace:
    """The whole graph that is being built."""
    return _open[0]


def variable_of(parameter: Any) -> Any:
    """The resource variable of a parameter in the graph that is being built."""
    known = _open[0].variables
    if parameter not in known and not device_has(parameter.value().dtype):
        known[parameter] = _host_variable(parameter)
    if parameter not in known:
        stored = parameter.on_device()
        with tf.control_dependencies(None), tf.name_scope(None):
            first = tf.placeholder(stored.dtype, stored.shape)  # the device has the value: no initializer is ever run
            known[parameter] = tf.Variable(first, name=stored.name, trainable=parameter.requires_grad, use_resource=True)
    return known[parameter]


def _host_variable(parameter: Any) -> Any:
    """A resource variable of a type that the device has not; its value stays with Python between runs."""
    value, device = parameter.value(), _open[0].device
    with tf.control_dependencies(None), tf.name_scope(None):
        first = tf.placeholder(value.dtype, value.shape)
        variable = tf.Variable(first, name=unique_name(parameter.path), trainable=parameter.requires_grad, use_resource=True)
        if device is not None:
            device.on_host[parameter] = HostVariable(first, variable.assign(first, read_value=False), variable.read_value())
    return variable


def local_variable(name: str, value: np.ndarray) -> Any:
    """A resource variable that one graph alone uses, with a value."""
    stored = store(unique_name(name), value)
    with tf.control_dependencies(None), tf.name_scope(None):
        return tf.Variable(tf.placeholder(stored.dtype, value.shape), name=stored.name, trainable=False, use_resource=True)


@contextlib.contextmanager
def new_trace() -> Iterator[Trace]:
    """A graph of its own, for a call from Python."""
    trace = Trace()
    trace.device = DeviceGraph()
    with trace.device.graph.as_default(), nested_trace(trace):
        yield trace


@contextlib.contextmanager
def nested_trace(trace: Trace) -> Iterator[Trace]:
    """A part of the graph that is being built."""
    _open.append(trace)
    try:
        yield trace
    finally:
        _open.pop()
