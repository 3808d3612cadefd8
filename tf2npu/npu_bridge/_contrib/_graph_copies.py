"""Copies of parts of a graph in the same graph, as ``tf.contrib.graph_editor`` makes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf
from npu_bridge._contrib._graph_walks import ControlOutputs, get_walks_intersection_ops, make_list_of_op, select_ops
from npu_bridge._unsupported import refuse

_HERE = "tf.contrib.graph_editor"


class SubGraphView:
    """Operations of one graph with the tensors that they take from outside and those that they give.

    A tensor that nobody consumes is given.
    """

    def __init__(self, inside_ops: Any = (), passthrough_ts: Any = ()) -> None:
        if passthrough_ts:
            refuse(f"{_HERE}.SubGraphView", "views with tensors that pass through are not here; give the operations")
        self.ops: list[tf.Operation] = list(dict.fromkeys(make_list_of_op(inside_ops)))
        inside = set(self.ops)
        taken = {id(t): t for op in self.ops for t in op.inputs if t.op not in inside}
        self.inputs = list(taken.values())
        self.outputs = [t for op in self.ops for t in op.outputs if not t.consumers() or set(t.consumers()) - inside]

    @property
    def graph(self) -> tf.Graph | None:
        """The graph of the operations; None for an empty view."""
        return self.ops[0].graph if self.ops else None


def make_view(*args: Any, graph: tf.Graph | None = None) -> SubGraphView:
    """A view of operations: views, operations, lists of operations, or regular expressions with ``graph``."""
    if len(args) == 1 and isinstance(args[0], SubGraphView):
        return args[0]
    parts = [arg.ops if isinstance(arg, SubGraphView) else arg for arg in args]
    if any(isinstance(part, tf.Tensor) for part in parts):
        refuse(f"{_HERE}.make_view", "views with tensors that pass through are not here; give the operations")
    return SubGraphView([op for part in parts for op in _listed(part, graph)])


def _listed(part: Any, graph: tf.Graph | None) -> list[tf.Operation]:
    return select_ops(part, graph=graph) if isinstance(part, str | re.Pattern) else list(make_list_of_op(part))


class TransformerInfo:
    """Maps between originals and copies; ``_transformed_ops`` is read by scripts, so it keeps TensorFlow's name."""

    def __init__(self, ops: dict[tf.Operation, tf.Operation], tensors: Mapping[int, tuple[tf.Tensor, tf.Tensor]]) -> None:
        self._transformed_ops = ops
        self._tensors = tensors

    def transformed(self, original: Any, missing_fn: Callable[[Any], Any] | None = None) -> Any:
        """The copies of an operation or a tensor, or of a structure of them; what has none gives missing_fn of it, or None."""

        def copy_of(each: Any) -> Any:
            missing = missing_fn(each) if missing_fn else None
            if isinstance(each, tf.Operation):
                return self._transformed_ops.get(each, missing)
            return self._tensors.get(id(each), (each, missing))[1]

        return tf.nest.map_structure(copy_of, original)

    def original(self, transformed: Any, missing_fn: Callable[[Any], Any] | None = None) -> Any:
        """The original of a copied operation or tensor, or of a structure of them; else missing_fn of it, or None."""
        known = {id(new): old for old, new in self._transformed_ops.items()}
        known.update((id(new), old) for old, new in self._tensors.values())

        def original_of(each: Any) -> Any:
            return known[id(each)] if id(each) in known else (missing_fn(each) if missing_fn else None)

        return tf.nest.map_structure(original_of, transformed)


def copy_with_input_replacements(
    sgv: Any,
    replacement_ts: Mapping[tf.Tensor, tf.Tensor],
    dst_graph: tf.Graph | None = None,
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> tuple[SubGraphView, TransformerInfo]:
    """Copies operations; inputs that come from outside are replaced as told or stay what they were.

    Names, attributes, devices and collections are those of TensorFlow 1.15's copies; static shapes are inferred anew, as there.
    ValueError: an operation is not in ``src_scope``.  Refused: another graph as the destination, and while loops.
    """
    view = make_view(sgv)
    if dst_graph is not None and dst_graph is not view.graph:
        refuse(f"{_HERE}.copy_with_input_replacements", "copies stay in their graph here; use tf.import_graph_def for another")
    if view.graph is None:
        return view, TransformerInfo({}, {})
    scope = dst_scope.rstrip("/") + "/" if dst_scope else ""
    if scope and not reuse_dst_scope:
        scope = view.graph.unique_name(scope[:-1]) + "/"
    source = src_scope.rstrip("/") + "/" if src_scope else ""
    copies: dict[tf.Operation, tf.Operation] = {}
    tensors = {id(old): (old, replacement_ts[old]) for old in view.inputs if old in replacement_ts}
    for op in _in_order(view.ops):
        copies[op] = copy = _copy(op, _new_name(op.name, source, scope), copies, tensors)
        tensors.update((id(old), (old, new)) for old, new in zip(op.outputs, copy.outputs, strict=True))
    _collect(view.graph, copies, tensors, lambda name: _new_name(name, source, scope))
    return SubGraphView(list(copies.values())), TransformerInfo(copies, tensors)


def graph_replace(
    target_ts: Any,
    replacement_ts: Mapping[tf.Tensor, tf.Tensor],
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> Any:
    """The targets computed of the replacements: all between is copied.  ValueError when no path joins them."""
    targets = tf.nest.flatten(target_ts)
    control_ios = ControlOutputs(targets[0].graph)
    ops = get_walks_intersection_ops(list(replacement_ts), targets, control_ios=control_ios)
    if not ops:
        raise ValueError("Targets and replacements are not connected!")
    _, info = copy_with_input_replacements(ops, replacement_ts, None, dst_scope, src_scope, reuse_dst_scope)
    return info.transformed(target_ts, lambda original: original)


def _in_order(ops: list[tf.Operation]) -> list[tf.Operation]:
    """The operations, each behind those that it needs.  Refused: a cycle, as only loops have."""
    inside, done = set(ops), dict[tf.Operation, None]()
    needs = {op: {*(t.op for t in op.inputs), *op.control_inputs} & inside for op in ops}
    waiting = sorted(ops, key=_age)  # one pass does, unless edges were changed
    while waiting:
        before = len(done)
        for op in waiting:
            if needs[op] <= done.keys():
                done[op] = None
        waiting = [op for op in waiting if op not in done]
        if len(done) == before:
            refuse(f"{_HERE}.copy_with_input_replacements", f"a while loop cannot be copied ({waiting[0].name} is in one)")
    return list(done)


def _age(op: tf.Operation) -> int:
    return int(op._id)


def _new_name(name: str, source: str, scope: str) -> str:
    if not name.startswith(source):
        raise ValueError(f"{name} does not belong to source scope: {source}.")
    return scope + name[len(source) :]


def _copy(
    op: tf.Operation, name: str, copies: Mapping[tf.Operation, tf.Operation], tensors: Mapping[int, tuple[tf.Tensor, tf.Tensor]]
) -> tf.Operation:
    """One operation again, which takes and waits for what has been copied in its place."""
    inputs = [tensors[id(t)][1] if id(t) in tensors else t for t in op.inputs]
    with op.graph.control_dependencies(None):
        copy = op.graph.create_op(
            op.type, inputs, [t.dtype for t in op.outputs], name=name, attrs=dict(op.node_def.attr), op_def=op.op_def
        )
    copy._add_control_inputs([copies.get(needed, needed) for needed in op.control_inputs])
    if op.device:
        copy._set_device(op.device)
    return copy


def _collect(
    graph: tf.Graph,
    copies: Mapping[tf.Operation, tf.Operation],
    tensors: Mapping[int, tuple[tf.Tensor, tf.Tensor]],
    new_name: Callable[[str], str],
) -> None:
    """Copies, and replacements, join the collections of their originals, under the names that a scope gives those."""
    known = {id(old): new for old, new in copies.items()} | {key: new for key, (_, new) in tensors.items()}
    for name in graph.get_all_collection_keys():
        members = [known[id(member)] for member in graph.get_collection(name) if id(member) in known]
        for copy in members:
            graph.add_to_collection(new_name(name), copy)
