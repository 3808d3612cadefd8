"""Branches and loops whose test is a tensor: both branches, or the body, become parts of the graph.

Writes of parameters stay in the branch and in the order of the program: all of a branch comes after the test, which comes after
what was read and written before; and what comes later waits for the node in which the branches meet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from mindspore._device.structure import flat, nesting, rebuilt
from mindspore._device.trace import Trace, current_trace, nested_trace, tracing
from mindspore.common.tensor import Tensor
from npu_bridge.npu_init import tf


class Unbound:
    """Stands for a name that has no value yet."""

    def __init__(self, name: str) -> None:
        self._unbound = name

    def __getattr__(self, name: str) -> Any:
        raise UnboundLocalError(f"{self._unbound} has no value here: give it one before the `if` or `while`, or in both branches")

    def __call__(self, *_: Any) -> Any:
        return self.value

    __add__ = __radd__ = __sub__ = __mul__ = __rmul__ = __truediv__ = __bool__ = __iter__ = __len__ = __getitem__ = __call__


def is_of_graph(value: Any) -> bool:
    """Whether a value is a tensor that only the running graph knows."""
    return tracing() and isinstance(value, Tensor) and (value.is_parameter or value.node is not None)


def branch(
    test: Any, then: Callable[..., Any], otherwise: Callable[..., Any], values: Sequence[Any], names: Sequence[str], line: str
) -> Any:  # fmt: skip
    """The result of one of two functions for values, as a test says.  names: of the values.  line: "file:line" of the test."""
    if not is_of_graph(test):
        return then(*values) if test else otherwise(*values)
    outer = current_trace()
    parts: list[_Part] = []

    def traced(function: Callable[..., Any]) -> list[Any]:
        part = _Part(lambda: function(*values), outer, names, line, parts[0] if parts else None)
        parts.append(part)
        return part.nodes

    with tf.control_dependencies(_all_before(outer)):
        condition = tf.identity(_truth(test, line))
    merged = tf.cond(condition, lambda: traced(then), lambda: traced(otherwise))
    merged = list(merged) if isinstance(merged, (tuple, list)) else [merged]
    _note_writes(outer, parts, merged[-1].op)
    return parts[0].with_nodes(merged)


class _Part:
    """A branch: what it gave, and the nodes for the tensors among that, with one more that all its writes come before."""

    def __init__(
        self, function: Callable[[], Any], outer: Trace, names: Sequence[str], line: str, like: _Part | None
    ) -> None:  # fmt: skip
        self.trace = Trace(outer=outer)
        self.trace.is_replayed = outer.is_replayed
        self.names, self.line = names, line
        self.lost: dict[int, Unbound] = {}
        self.lengthened: set[int] = set()
        with nested_trace(self.trace):
            self.given = function()
            self.leaves = flat(self.given)
            found = self._nodes() if like is None else self._nodes_like(like)
        outer.n_draws += self.trace.n_draws
        with tf.control_dependencies(self.trace.written):
            self.nodes = [*map(tf.identity, found), tf.constant(0)]

    def _nodes(self) -> list[Any]:
        self.places = [i for i, leaf in enumerate(self.leaves) if isinstance(leaf, (Tensor, bool, int, float, np.number))]
        return [_node(self.leaves[i]) for i in self.places]

    def _nodes_like(self, first: _Part) -> list[Any]:
        if nesting(self.given) != nesting(first.given):
            self._lose_unequal(first)
        for i, (mine, theirs) in enumerate(zip(self.leaves, first.leaves, strict=False)):
            if i not in first.places and not (isinstance(mine, Unbound) or isinstance(theirs, Unbound) or _is_same(mine, theirs)):
                raise TypeError(
                    f"{self._name(i)} is {theirs!r} in one branch of the test at {self.line}, and {mine!r} in the other"
                )
        nodes = [self._node_like(i, node) for i, node in zip(first.places, first.nodes, strict=False)]
        return [self._joined(i, own, node, first) for i, own, node in zip(first.places, nodes, first.nodes, strict=False)]

    def _joined(self, i: int, own: Any, node: Any, first: _Part) -> Any:
        """A node in the shape of the other branch's: where one is () and one is (1,), MindSpore's join is (1,)."""
        if not _is_join(own, node):
            return own
        if node.shape.ndims == 0:
            first.lengthened.add(i)
        return tf.reshape(own, node.shape)

    def _lose_unequal(self, first: _Part) -> None:
        """Leaves names without a value that are a tuple in one branch, and in the other none or a longer one.

        `done = False` beside `done = self.optimizer(gradients)` is such a name.  Raises: TypeError where names do not tell them.
        """
        if not len(self.names) == len(self.given) == len(first.given):
            raise TypeError(f"the branches of the test at {self.line} give different numbers of values")
        mine, at = [], 0
        for name, own, theirs in zip(self.names, self.given, first.given, strict=True):
            lost = {at + i: Unbound(name) for i in range(len(flat(theirs)) if nesting(own) != nesting(theirs) else 0)}
            first.lost.update(lost)
            mine.append(rebuilt(theirs, iter(lost.values())) if lost else own)
            at += len(flat(theirs))
        self.given = tuple(mine)
        self.leaves = flat(self.given)

    def _node_like(self, i: int, node: Any) -> Any:
        leaf = self.leaves[i]
        if isinstance(leaf, Unbound):
            return tf.zeros(node.shape, node.dtype)
        if not isinstance(leaf, (Tensor, bool, int, float, np.number)):
            raise TypeError(f"{self._name(i)} is a tensor in one branch of the test at {self.line}, and {leaf!r} in the other")
        own = _node(leaf) if isinstance(leaf, Tensor) else tf.constant(leaf, node.dtype)
        if own.dtype != node.dtype or not (own.shape.is_compatible_with(node.shape) or _is_join(own, node)):
            raise TypeError(
                f"{self._name(i)} is {node.dtype.name} {_shape(node)} in one branch of the test at {self.line}, and "
                f"{own.dtype.name} {_shape(own)} in the other: give both one type and shape"
            )
        return own

    def _name(self, i: int) -> str:
        return self.names[i] if len(self.names) == len(self.leaves) else f"value {i + 1}"

    def with_nodes(self, nodes: Sequence[Any]) -> Any:
        """The results of the branch, with other nodes in the place of its own."""
        found = dict(zip(self.places, nodes, strict=False))
        found |= {i: tf.reshape(found[i], (1,)) for i in self.lengthened}
        leaves = [Tensor(found[i]) if i in found else leaf for i, leaf in enumerate(self.leaves)]
        return rebuilt(self.given, iter([self.lost.get(i, leaf) for i, leaf in enumerate(leaves)]))


def loop(
    test: Callable[..., Any], body: Callable[..., Any], values: Sequence[Any], names: Sequence[str], line: str
) -> tuple[Any, ...]:  # fmt: skip
    """The values after a body was repeated while a test of them holds.  line: "file:line" of the loop."""
    values = tuple(values)
    first = test(*values)
    while not is_of_graph(first):
        if not first:
            return values
        values = tuple(body(*values))
        first = test(*values)
    return _graph_loop(test, body, values, names, line)


def _graph_loop(
    test: Callable[..., Any], body: Callable[..., Any], values: tuple[Any, ...], names: Sequence[str], line: str
) -> tuple[Any, ...]:  # fmt: skip
    outer = current_trace()
    places = [i for i, leaf in enumerate(flat(values)) if isinstance(leaf, (Tensor, bool, int, float, np.number))]
    with tf.control_dependencies(_all_before(outer)):
        begin = [tf.identity(_node(flat(values)[i])) for i in places] + [tf.constant(0)]
    build = partial(_built_loop, test, body, values, places, begin, outer, names, line)
    found, parts = build(frozenset())
    written = _written(parts)
    while written:  # what a turn writes is read anew in each turn
        found, parts = build(written)
        if _written(parts) <= written:
            break
        written |= _written(parts)
    found = list(found) if isinstance(found, (tuple, list)) else [found]
    _note_writes(outer, parts, found[-1].op)
    return _with(values, places, found)


def _built_loop(
    test: Callable[..., Any], body: Callable[..., Any], values: tuple[Any, ...], places: Sequence[int], begin: list[Any],
    outer: Trace, names: Sequence[str], line: str, own: frozenset[Any],
) -> tuple[Any, list[_Turn]]:  # fmt: skip
    """The values after a loop, and its body.  own: parameters that are read in each turn."""
    parts: list[_Turn] = []

    def condition(*nodes: Any) -> Any:
        with nested_trace(Trace(outer=outer, own=own)):
            return _truth(test(*_with(values, places, nodes)), line)

    def turn(*nodes: Any) -> list[Any]:
        parts.append(_Turn(body, values, places, nodes, Trace(outer=outer, own=own), names, line))
        return parts[-1].nodes

    return tf.while_loop(condition, turn, begin), parts


def _written(parts: Sequence[Any]) -> frozenset[Any]:
    return frozenset(one for part in parts for one in part.trace.last_write)


def _with(values: tuple[Any, ...], places: Sequence[int], nodes: Sequence[Any]) -> tuple[Any, ...]:
    found = dict(zip(places, nodes, strict=False))
    return rebuilt(values, iter([Tensor(found[i]) if i in found else leaf for i, leaf in enumerate(flat(values))]))


class _Turn:
    """One turn of a loop's body."""

    def __init__(
        self, body: Callable[..., Any], values: tuple[Any, ...], places: Sequence[int], nodes: Sequence[Any], trace: Trace,
        names: Sequence[str], line: str,
    ) -> None:  # fmt: skip
        self.trace = trace
        self.trace.is_replayed = trace.outer is not None and trace.outer.is_replayed
        before = _with(values, places, nodes)
        with nested_trace(self.trace):
            after = tuple(body(*before))
            if nesting(after) != nesting(values):
                raise TypeError(f"the loop at {line} changes how many values {', '.join(names)} have: a list cannot grow in it")
            leaves = flat(after)
            found = [_node_of_turn(leaves[i], node, names, i, line) for i, node in zip(places, nodes, strict=False)]
            for i, (old, new) in enumerate(zip(flat(before), leaves, strict=False)):
                if i not in places and not _is_same(old, new) and not isinstance(old, Unbound):
                    raise TypeError(f"the loop at {line} makes {new!r} of {old!r}: only tensors and numbers can change in it")
        with tf.control_dependencies(self.trace.written):
            self.nodes = [*map(tf.identity, found), tf.identity(nodes[-1])]


def _node_of_turn(leaf: Any, node: Any, names: Sequence[str], i: int, line: str) -> Any:
    made = _node(leaf) if isinstance(leaf, Tensor) else tf.constant(leaf, node.dtype)
    if made.dtype != node.dtype or not made.shape.is_compatible_with(node.shape):
        name = names[i] if i < len(names) else f"value {i + 1}"
        raise TypeError(
            f"{name} is {node.dtype.name} {_shape(node)} before the loop at {line}, and {made.dtype.name} "
            f"{_shape(made)} after a turn: a tensor keeps its type and shape in a loop"
        )
    return made


def _node(leaf: Any) -> Any:
    return leaf.raw() if isinstance(leaf, Tensor) else Tensor(leaf).raw()


def _shape(node: Any) -> tuple[int | None, ...]:
    return tuple(node.shape.as_list())


def _is_join(one: Any, other: Any) -> bool:
    return {one.shape.ndims, other.shape.ndims} == {0, 1} and one.shape.num_elements() == other.shape.num_elements() == 1


def _truth(test: Any, line: str) -> Any:
    node = _node(test)
    if node.shape.num_elements() != 1:
        raise ValueError(f"the test at {line} is a tensor of shape {_shape(node)}: a tensor of one element can be tested")
    node = tf.reshape(node, ())
    return node if node.dtype == tf.bool else tf.not_equal(node, tf.zeros((), node.dtype))


def _all_before(trace: Trace) -> list[Any]:
    written = [op for ops in trace.last_write.values() for op in ops]
    return [*written, *trace.reads.values(), *trace.before]


def _note_writes(outer: Trace, parts: Sequence[Any], meeting: Any) -> None:
    """Everything that a part writes is written where the parts meet."""
    written = list(dict.fromkeys(one for part in parts for one in part.trace.last_write))
    if written:
        outer.note_write(written, meeting)


def _is_same(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and not isinstance(one, Tensor) and bool(one == other))
