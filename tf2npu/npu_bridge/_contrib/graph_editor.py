"""``tf.contrib.graph_editor``: selecting, copying and rerouting parts of a graph, for code that trades memory for recomputation.

Edges are changed before a session has run what they belong to, as TensorFlow wants it.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from npu_bridge._contrib._graph_copies import (
    SubGraphView,
    TransformerInfo,
    copy_with_input_replacements,
    graph_replace,
    make_view,
)
from npu_bridge._contrib._graph_walks import (
    ControlOutputs,
    filter_ops,
    filter_ops_from_regex,
    filter_ts,
    filter_ts_from_regex,
    get_backward_walk_ops,
    get_forward_walk_ops,
    get_name_scope_ops,
    get_walks_intersection_ops,
    make_list_of_op,
    make_list_of_t,
    select_ops,
    select_ts,
)
from tensorflow.python.ops.op_selector import get_consuming_ops, get_generating_ops

__all__ = [
    "ControlOutputs", "SubGraphView", "TransformerInfo", "add_control_inputs", "copy_with_input_replacements", "filter_ops",
    "filter_ops_from_regex", "filter_ts", "filter_ts_from_regex", "get_backward_walk_ops", "get_consuming_ops",
    "get_forward_walk_ops", "get_generating_ops", "get_name_scope_ops", "get_walks_intersection_ops", "graph_replace",
    "make_list_of_op", "make_list_of_t", "make_view", "remove_control_inputs", "reroute_ts", "select_ops", "select_ts", "sgv",
    "swap_ts",
]  # fmt: skip
sgv = make_view


def reroute_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Makes operations that take a tensor of ``ts1`` take the one of ``ts0``; returns the number of inputs changed.

    Only operations of ``can_modify`` and none of ``cannot_modify`` are changed.  ValueError: the lists differ in length, or two
    tensors in type or shape.
    """
    pairs = _pairs(ts0, ts1)
    return sum(_move(new, users, can_modify, cannot_modify) for new, users in [(a, _uses(b)) for a, b in pairs if a is not b])


def swap_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Makes operations that take a tensor of one list take that of the other; as ``reroute_ts`` otherwise."""
    pairs = [pair for pair in _pairs(ts0, ts1) if pair[0] is not pair[1]]
    moves = [move for a, b in pairs for move in ((a, _uses(b)), (b, _uses(a)))]
    return sum(_move(new, users, can_modify, cannot_modify) for new, users in moves)


def _pairs(ts0: Any, ts1: Any) -> list[tuple[tf.Tensor, tf.Tensor]]:
    first, second = make_list_of_t(ts0), make_list_of_t(ts1)
    if len(first) != len(second):
        raise ValueError(f"ts0 and ts1 have different sizes: {len(first)} != {len(second)}")
    for a, b in zip(first, second, strict=True):
        if not a.dtype.is_compatible_with(b.dtype):
            raise ValueError(f"Dtypes {a.dtype} and {b.dtype} are not compatible.")
        if not a.shape.is_compatible_with(b.shape):
            raise ValueError(f"Shapes {a.shape} and {b.shape} are not compatible.")
    return list(zip(first, second, strict=True))


def _uses(tensor: tf.Tensor) -> list[tuple[tf.Operation, int]]:
    """Operations that take a tensor, with the places where."""
    users = dict.fromkeys(tensor.consumers())
    return [(op, index) for op in users for index, taken in enumerate(op.inputs) if taken is tensor]


def _move(new: tf.Tensor, uses: list[tuple[tf.Operation, int]], can_modify: Any, cannot_modify: Any) -> int:
    allowed = None if can_modify is None else set(make_list_of_op(can_modify))
    kept = set() if cannot_modify is None else set(make_list_of_op(cannot_modify))
    changed = [(op, index) for op, index in uses if op not in kept and (allowed is None or op in allowed)]
    for op, index in changed:
        op._update_input(index, new)
    return len(changed)


def add_control_inputs(op: tf.Operation, cops: Any) -> None:
    """``op`` waits for further operations.  TypeError: not operations; ValueError: it waits for one of them already."""
    needed = _controls(op, cops)
    for each in needed:
        if each in op.control_inputs:
            raise ValueError(f"{each.name} is already a control_input of {op.name}")
    op._add_control_inputs(needed)


def remove_control_inputs(op: tf.Operation, cops: Any) -> None:
    """``op`` no longer waits for some operations.  TypeError: not operations; ValueError: it does not wait for one of them."""
    needless = _controls(op, cops)
    for each in needless:
        if each not in op.control_inputs:
            raise ValueError(f"{each.name} is not a control_input of {op.name}")
    left = [each for each in op.control_inputs if each not in needless]
    op._remove_all_control_inputs()
    op._add_control_inputs(left)


def _controls(op: Any, cops: Any) -> list[tf.Operation]:
    if not isinstance(op, tf.Operation):
        raise TypeError(f"Expected a tf.Operation, got: {type(op)}")
    return list(make_list_of_op(cops, allow_graph=False))
