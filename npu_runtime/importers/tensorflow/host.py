"""The host side of one user session: a shadow graph with the host nodes only, run by TensorFlow's CPU.

The user's own session never runs anything. Values that come from the device enter the shadow graph through placeholders;
queues, iterators and tables live here for as long as the user's session does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.core.framework import graph_pb2, node_def_pb2
from tensorflow.core.framework.attr_value_pb2 import AttrValue
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.ops import gen_state_ops

from npu_runtime.analysis.host_values import is_free_constant, is_virtual, returns_reference, variable_shown
from npu_runtime.analysis.movable_reads import shows_variable
from npu_runtime.graph.disjoint import DisjointSets
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.order import topological
from npu_runtime.importers.tensorflow.caller_thread import FasterWay, may_run_in_caller

HOST_CALL_OBSERVERS: list[Callable[[Any], None]] = []
"""Called with the RunMetadata of every host call made by a callable that was built while the list was not empty."""

MOST_TIMEOUTS = 8
"""The most callables of one host call that are kept for runs with other timeouts."""

HOST_SIDE_MARK = "_npu_host_side"
"""Attribute of sessions that must stay on the host although every new session is given the NPU entry."""

_BOUNDARY = "npu_boundary/"
_BOUNDARY_OF = "npu_boundary_of/"
Definition = Callable[[str], node_def_pb2.NodeDef]
HostFunction = Callable[[Sequence[np.ndarray]], "list[np.ndarray]"]


class HostSide:
    """Shadow graph and session.

    tf_graph: the user's graph, for functions.  definition: NodeDef of a node by name.  config: the user's ConfigProto; the
    NPU entry is removed.
    """

    def __init__(self, tf_graph: Any, definition: Definition, config: config_pb2.ConfigProto | None) -> None:
        self._user_graph = tf_graph
        self._definition = definition
        self._shadow = tf.Graph()
        self._config = _plain_config(config)
        self._session: Any = None
        self._present: dict[str, list[str]] = {}
        self._lock = Lock()

    @property
    def session(self) -> Any:
        """The TensorFlow session, opened on first use: many programs never need it."""
        if self._session is None:
            self._session = tf.Session(graph=self._shadow, config=self._config)
            setattr(self._session, HOST_SIDE_MARK, True)
        return self._session

    def close(self) -> None:
        if self._session is not None:
            self._session.close()

    def add_nodes(self, graph: Graph, names: Iterable[str], groups: DisjointSets) -> None:
        """Bring host nodes of the whole user graph into the shadow graph.

        They keep their names: queues, iterators and generators are found by name. Control edges are dropped (the executor
        orders the calls) except inside an atomic group, where a loop needs them.
        """
        with self._lock:
            # A handle's maker is named by every call that uses the handle.
            names = [name for name in dict.fromkeys(names) if name not in self._present and not is_virtual(graph[name])]
            if names:
                if self._needs_functions(names):
                    self._add_functions()
                _ShadowImport(self._definition, self._shadow, self._present, graph, groups).run(names)

    def _needs_functions(self, names: Iterable[str]) -> bool:
        attrs = [attr for name in names for attr in self._definition(name).attr.values()]
        return any(attr.HasField("func") or attr.list.func for attr in attrs)

    def _add_functions(self) -> None:
        """Bring the bodies of tf.data and call functions; all of the user's graph, as they may call each other."""
        library = self._user_graph.as_graph_def().library
        with self._shadow.as_default():
            tf.import_graph_def(graph_pb2.GraphDef(library=library), name="")

    def inputs_of(self, name: str) -> list[str]:
        """The shadow tensors a host node reads, one for each data input."""
        return self._present[name]

    @staticmethod
    def is_fed(tensor: str) -> bool:
        """Whether a shadow tensor is a placeholder for what comes from elsewhere, which has no value of its own."""
        return tensor.startswith((_BOUNDARY, _BOUNDARY_OF))

    def function(
        self,
        feeds: Sequence[str],
        fetches: Sequence[str],
        targets: Sequence[str],
        timeout_ms: Callable[[], int],
        ops: Sequence[str],
    ) -> HostFunction:
        """A callable over shadow tensors; returns the fetched arrays in order.  Raises: TensorFlow's own errors.

        timeout_ms: asked in each call, 0 for none. The options of TensorFlow's callables are fixed when these are made.
        ops: of all nodes that it runs.
        """

        def make(timeout: int, is_traced: bool, is_here: bool) -> Callable[..., Any]:
            options = config_pb2.CallableOptions(feed=feeds, fetch=fetches, target=targets)
            options.run_options.timeout_in_ms = timeout
            options.run_options.inter_op_thread_pool = -1 if is_here else 0
            if is_traced:
                options.run_options.trace_level = config_pb2.RunOptions.FULL_TRACE
            return self.session._make_callable_from_options(options)

        @lru_cache(maxsize=MOST_TIMEOUTS)
        def made(timeout: int, is_traced: bool) -> Callable[..., Any]:
            if is_traced or timeout or not may_run_in_caller(ops):
                return make(timeout, is_traced, False)
            return FasterWay(lambda is_here: make(timeout, is_traced, is_here))

        if not HOST_CALL_OBSERVERS:
            made(0, False)  # while the program is built, not in its first step
            return lambda values: made(timeout_ms(), False)(*values)

        def run(values: Sequence[np.ndarray]) -> list[np.ndarray]:
            metadata = config_pb2.RunMetadata()
            result = made(timeout_ms(), True)(*values, run_metadata=metadata)
            for observer in HOST_CALL_OBSERVERS:
                observer(metadata)
            return result

        return run

    def set_variable(self, name: str, value: np.ndarray) -> None:
        """Give a variable that moved to the host the value it had on the device."""
        with self._lock, self._shadow.as_default():
            handle = self._shadow.get_tensor_by_name(f"{name}:0")
            with tf.name_scope(f"{_BOUNDARY}moved/{name}/"):
                if handle.dtype == tf.resource:
                    write = tf.raw_ops.AssignVariableOp(resource=handle, value=tf.constant(value))
                else:
                    write = gen_state_ops.assign(handle, tf.constant(value), validate_shape=False).op
        self.session.run(write)


class _ShadowImport:
    """One addition to the shadow graph, an operation at a time.

    Importing a GraphDef would rename a node that is also the prefix of another ("batch" beside "batch/fifo_queue").
    present: for each node already there the shadow tensors it reads; extended by what is added.
    """

    def __init__(
        self, definition: Definition, shadow: Any, present: dict[str, list[str]], graph: Graph, groups: DisjointSets
    ) -> None:
        self.definition, self.shadow, self.present, self.graph, self.groups = definition, shadow, present, graph, groups
        self.back_edges: list[tuple[str, int, str]] = []

    def run(self, names: Sequence[str]) -> None:
        """Add these nodes."""
        with self.shadow.as_default():
            for name in _creation_order(self.graph, [self.graph[name] for name in names]):
                self._add(self.graph[name])
            for name, position, source in self.back_edges:
                tensor = self.shadow.get_tensor_by_name(source)
                self.shadow.get_operation_by_name(name)._update_input(position, tensor)

    def _add(self, node: Node) -> None:
        sources = [self._source(node, position) for position in range(len(node.inputs))]
        inputs = [self.shadow.get_tensor_by_name(name) for name in sources]
        controls = [name for name in node.controls if name in self.present and self._keeps_control(node, name)]
        definition = self.definition(node.name)  # of TensorFlow: the device's own ops are calls there
        attrs = {k: v for k, v in definition.attr.items() if k not in ("_class", "_output_shapes")}
        with self.shadow.control_dependencies([self.shadow.get_operation_by_name(name) for name in controls]):
            self._create(definition.op, node.name, inputs, attrs)
        self.present[node.name] = sources
        for position, value in enumerate(node.inputs):
            if _is_back_edge(self.graph, node, value):
                self.back_edges.append((node.name, position, str(value)))

    def _create(self, op: str, name: str, inputs: Sequence[Any], attrs: dict[str, Any]) -> None:
        """A name that ends in a slash is taken as it is."""
        self.shadow._create_op_internal(op, inputs, name=f"{name}/", attrs=attrs, compute_device=False)

    def _keeps_control(self, node: Node, control: str) -> bool:
        return self.groups.find(control) == self.groups.find(node.name)

    def _source(self, node: Node, position: int) -> str:
        """The shadow tensor for an input: a host node's output, a constant of our own, or a boundary placeholder."""
        is_back = _is_back_edge(self.graph, node, node.inputs[position])
        value = self._own_reference(node, 1 - position if is_back else position)  # until the loop is closed
        value = variable_shown(self.graph, node, value) or value
        producer = self.graph[value.node]
        if producer.name not in self.present and is_free_constant(producer):
            self._add(producer)
        return str(value) if producer.name in self.present else self._boundary(value, node, position)

    def _own_reference(self, node: Node, position: int) -> Value:
        """An input, or what the updates outside of the node's group were handed that return a variable to it."""
        value = through_switches(self.graph, node.inputs[position])
        is_reference = position in node.ref_inputs or value != node.inputs[position]
        while is_reference and returns_reference(self.graph, value) and not self._keeps_control(node, value.node):
            value = through_switches(self.graph, self.graph[value.node].inputs[0])
        return value

    def _boundary(self, value: Value, reader: Node, position: int) -> str:
        """The placeholder that feeds a reader. Each reader of a variable's memory has its own: one may look before an update and
        one behind it."""
        is_own = shows_variable(self.graph, value)
        name = f"{_BOUNDARY_OF}{reader.name}/{position}" if is_own else f"{_BOUNDARY}{value.node}_{value.output}"
        if name not in self.present:
            spec = self.graph.spec(value)
            attrs = {"dtype": AttrValue(type=tf.as_dtype(spec.dtype).as_datatype_enum)}
            attrs["shape"] = AttrValue(shape=tf.TensorShape(spec.shape).as_proto())
            self._create("Placeholder", name, [], attrs)
            self.present[name] = []
        return f"{name}:0"


def _is_back_edge(graph: Graph, node: Node, value: Value) -> bool:
    return node.op in ("Merge", "RefMerge") and graph[value.node].op in ("NextIteration", "RefNextIteration")


def _creation_order(graph: Graph, nodes: Sequence[Node]) -> list[str]:
    """Producers first; the edge that closes a loop does not count."""
    loose = []
    for node in nodes:
        values = [value for value in node.inputs if not _is_back_edge(graph, node, value)]
        inputs = [variable_shown(graph, node, value) or through_switches(graph, value) for value in values]
        loose.append(Node(node.name, node.op, inputs, node.controls))
    return [node.name for node in topological(loose)]


def through_switches(graph: Graph, value: Value) -> Value:
    """The handle a virtual Switch passes on; any other value is itself."""
    while is_virtual(graph[value.node]):
        value = graph[value.node].inputs[0]
    return value


def _plain_config(config: config_pb2.ConfigProto | None) -> config_pb2.ConfigProto:
    """The user's settings for a session that stays on the host."""
    plain = config_pb2.ConfigProto()
    if config is not None:
        plain.CopyFrom(config)
    del plain.graph_options.rewrite_options.custom_optimizers[:]
    return plain
