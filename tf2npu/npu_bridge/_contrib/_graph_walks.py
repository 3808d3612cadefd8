"""Operations and tensors of a graph by name, and by walks along its edges, as ``tf.contrib.graph_editor`` selects them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf
from tensorflow.python.ops import op_selector

make_list_of_op = op_selector.make_list_of_op
make_list_of_t = op_selector.make_list_of_t


class ControlOutputs:
    """The operations that wait for an operation, by control edges."""

    def __init__(self, graph: tf.Graph) -> None:
        self.graph = graph

    def update(self) -> ControlOutputs:
        """Nothing to do: the graph itself is asked each time."""
        return self

    def get(self, op: tf.Operation) -> list[tf.Operation]:
        """The operations that have ``op`` as a control input."""
        return list(op._control_outputs)


def filter_ops(ops: Any, positive_filter: Any) -> list[tf.Operation]:
    """The operations for which the filter is true; True keeps all."""
    return [op for op in make_list_of_op(ops) if positive_filter is True or positive_filter(op)]


def filter_ops_from_regex(ops: Any, regex: Any) -> list[tf.Operation]:
    """The operations in whose names the expression is found."""
    return filter_ops(ops, lambda op: re.search(regex, op.name))


def filter_ts(ops: Any, positive_filter: Any) -> list[tf.Tensor]:
    """Inputs of the operations and then their outputs, each once, for which the filter is true; True keeps all."""
    wanted = make_list_of_op(ops)
    tensors = [*(t for op in wanted for t in op.inputs), *(t for op in wanted for t in op.outputs)]
    once = {id(tensor): tensor for tensor in tensors}
    return [tensor for tensor in once.values() if positive_filter is True or positive_filter(tensor)]


def filter_ts_from_regex(ops: Any, regex: Any) -> list[tf.Tensor]:
    """The tensors of the operations in whose names the expression is found."""
    return filter_ts(ops, lambda tensor: re.search(regex, tensor.name))


def get_name_scope_ops(ops: Any, scope: str) -> list[tf.Operation]:
    """The operations below a name scope, and the one that has its name."""
    return filter_ops_from_regex(ops, f"^{scope.rstrip('/')}(/.*)?$")


def select_ops(*args: Any, graph: tf.Graph | None = None, positive_filter: Any = True) -> list[tf.Operation]:
    """Operations by regular expressions, which need ``graph``, or given one by one or in lists; tensors are left out."""
    found = [
        filter_ops_from_regex(_needed(graph), arg) if _is_regex(arg) else make_list_of_op(arg, ignore_ts=True) for arg in args
    ]
    return filter_ops(list(dict.fromkeys(op for ops in found for op in ops)), positive_filter)


def select_ts(*args: Any, graph: tf.Graph | None = None, positive_filter: Any = True) -> list[tf.Tensor]:
    """Tensors by regular expressions, which need ``graph``, or given one by one or in lists; operations are left out."""
    found = [
        filter_ts_from_regex(_needed(graph), arg) if _is_regex(arg) else make_list_of_t(arg, ignore_ops=True) for arg in args
    ]
    once = {id(tensor): tensor for tensors in found for tensor in tensors}
    return [tensor for tensor in once.values() if positive_filter is True or positive_filter(tensor)]


def _is_regex(arg: Any) -> bool:
    return isinstance(arg, str | re.Pattern)


def _needed(graph: tf.Graph | None) -> tf.Graph:
    if graph is None:
        raise ValueError("Use the keyword argument 'graph' to use regex.")
    return graph


def get_forward_walk_ops(
    seed_ops: Any,
    inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Any = None,
    stop_at_ts: Any = (),
    control_outputs: ControlOutputs | None = None,
) -> list[tf.Operation]:
    """Operations that depend on the seeds, or on tensors that are given in their place.

    The walk stays within the operations given and stops at the tensors given.
    """
    stops = {id(tensor) for tensor in make_list_of_t(stop_at_ts)}

    def following(op: tf.Operation) -> list[tf.Operation]:
        users = [user for tensor in op.outputs if id(tensor) not in stops for user in tensor.consumers()]
        return [*users, *(control_outputs.get(op) if control_outputs is not None else ())]

    seeds = _operations(seed_ops, lambda tensor: tensor.consumers())
    return _walk(seeds, following, inclusive, within_ops, within_ops_fn)


def get_backward_walk_ops(
    seed_ops: Any,
    inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Any = None,
    stop_at_ts: Any = (),
    control_inputs: bool = False,
) -> list[tf.Operation]:
    """Operations that the seeds depend on, or those that make the tensors given in their place; limits as forward."""
    stops = {id(tensor) for tensor in make_list_of_t(stop_at_ts)}

    def following(op: tf.Operation) -> list[tf.Operation]:
        makers = [tensor.op for tensor in op.inputs if id(tensor) not in stops]
        return [*makers, *(op.control_inputs if control_inputs else ())]

    return _walk(_operations(seed_ops, lambda tensor: [tensor.op]), following, inclusive, within_ops, within_ops_fn)


def get_walks_intersection_ops(
    forward_seed_ops: Any,
    backward_seed_ops: Any,
    forward_inclusive: bool = True,
    backward_inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Any = None,
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> list[tf.Operation]:
    """Operations on paths from the first seeds to the second; ``control_ios`` follows control edges both ways."""
    forward = get_forward_walk_ops(
        forward_seed_ops, forward_inclusive, within_ops, within_ops_fn, control_outputs=control_ios or control_outputs
    )
    follows_controls = control_inputs or control_ios is not None
    backward = get_backward_walk_ops(
        backward_seed_ops, backward_inclusive, within_ops, within_ops_fn, control_inputs=follows_controls
    )
    behind = set(backward)
    return [op for op in forward if op in behind]


def _operations(seeds: Any, of_tensor: Callable[[tf.Tensor], Iterable[tf.Operation]]) -> list[tf.Operation]:
    """Seeds as operations.  TypeError for what is neither operations nor tensors."""
    listed = list(seeds) if op_selector.is_iterable(seeds) else [seeds]
    if listed and isinstance(listed[0], tf.Tensor):
        return [op for tensor in make_list_of_t(listed, allow_graph=False) for op in of_tensor(tensor)]
    return list(make_list_of_op(listed, allow_graph=False))


def _walk(
    seeds: list[tf.Operation],
    following: Callable[[tf.Operation], list[tf.Operation]],
    inclusive: bool,
    within_ops: Any,
    within_ops_fn: Callable[[tf.Operation], bool] | None,
) -> list[tf.Operation]:
    """Operations in the order in which waves from the seeds reach them."""
    within = None if within_ops is None else set(make_list_of_op(within_ops, allow_graph=False))
    found = dict.fromkeys(op for op in seeds if not within or op in within)
    first, wave = set(found), list(found)
    while wave:
        reached = dict.fromkeys(user for op in wave for user in following(op))
        allowed = [op for op in reached if within is None or op in within]
        wave = [op for op in allowed if op not in found and (within_ops_fn is None or within_ops_fn(op))]
        found.update(dict.fromkeys(wave))
    return [op for op in found if inclusive or op not in first]
