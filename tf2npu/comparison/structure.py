"""The node of the reference that an operator is, by what it computes and of what: names alone may lie.

Names of gradients are counted.  Where a migrated script has static shapes that the original has not, TensorFlow's gradient graph
has fewer nodes, and AddN_2 or truediv_grad/Sum_1 of the device are other nodes than those of that name in the reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from npu_formats.device.op_table import tensorflow_ops
from npu_formats.whole_number import whole_number
from tf2npu.comparison.graph.operators import Graph, Operator
from tf2npu.comparison.graph.reference_nodes import ReferenceNode, Tensor
from tf2npu.comparison.origin import SOURCES

_RESHAPING = frozenset({"Identity", "Reshape", "ExpandDims", "Squeeze", "StopGradient", "Unsqueeze"})
"""Ops, TensorFlow's and the device's, that leave the elements of their first input as they are."""
_BROADCAST, _TILE = "BroadcastTo", "Tile"
"""Ops by which the gradient of a sum expands: BroadcastTo where the shape is known at run time, Tile where it is static."""
_COUNTED = re.compile(r"_\d+(?=/|$)")
"""The number that TensorFlow gives to the second and later nodes, or scopes, of a name."""
_MOST_WALKED = 1000
"""Nodes in a row that are walked through; a damaged file may have a ring of them."""


@dataclass(frozen=True)
class Pair:
    """A tensor of the reference.  is_doubtful: whether that is another node than the device's, which only has its name."""

    tensor: Tensor
    is_doubtful: bool = False


class Structure:
    """Pairs of a graph of the device with the nodes of the reference.  Each operator is looked at once, after what it reads."""

    def __init__(self, graph: Graph, nodes: Mapping[str, ReferenceNode]) -> None:
        self._nodes = nodes
        self._operators = {operator.name: operator for operator in reversed(graph.operators)}
        self._pairs: dict[Tensor, Pair] = {}
        self._readers: dict[tuple[str, Tensor], dict[str, None]] = {}
        """Nodes by their name without numbers and a tensor that they read."""
        for name, node in nodes.items():
            for tensor in chain.from_iterable(map(self._reference_sources, node.inputs)):
                self._readers.setdefault((_stem(name), tensor), {})[name] = None
        for operator in sorted(graph.operators, key=lambda operator: operator.order) if nodes else ():
            self._add(operator)

    def pair(self, operator: Operator, output: int) -> Pair | None:
        """The tensor of the reference that stands for an output of an operator; None where its name alone tells."""
        return self._pairs.get((operator.name, output))

    def reads(self, operator: Operator, n: int, tensor: Tensor) -> bool:
        """Whether the node of an operator has a tensor as its input n, cast or reshaped; True where nobody knows.

        Of constants, which read nothing, only this tells that they are others.
        """
        node = self._nodes.get((self._tensor_of((operator.name, 0)) or ("",))[0])
        if node is None or n >= len(node.inputs):
            return True
        return tensor in self._reference_sources(node.inputs[n], _RESHAPING | {"Cast"})

    def _add(self, operator: Operator) -> None:
        named = [
            (index, (output.origin_name, index if output.origin_index == -1 else output.origin_index))
            for index, output in enumerate(operator.outputs)
            if output.origin_name
        ]
        names = {tensor[0] for _, tensor in named}
        if len(names) != 1 or operator.original_names not in ([*names], [""]) or operator.op_type in SOURCES:
            return  # it stands for several, for none, or computes nothing
        (name,) = names
        read = [list(self._sources(text)) for text in operator.inputs]
        is_same = name in self._nodes and self._likeness(operator, name, read) is not None
        other = None if is_same else self._another(operator, name, read)
        for index, (_, origin_index) in named:
            if other is not None:
                self._pairs[operator.name, index] = Pair((other, origin_index))
            elif not is_same and name in self._nodes:
                self._pairs[operator.name, index] = Pair((name, origin_index), is_doubtful=True)
            elif not is_same and operator.op_type in _RESHAPING and read and read[0]:
                source = self._tensor_of(read[0][0])
                if source is not None:
                    self._pairs[operator.name, index] = Pair(source)

    def _another(self, operator: Operator, name: str, read: list[list[Tensor]]) -> str | None:
        """The node of the same name, but for its numbers, that is most like an operator; None where none is like it."""
        found = [(self._likeness(operator, other, read) or 0, other) for other in self._candidates(_stem(name), read)]
        best = max(found, key=lambda each: each[0], default=(0, ""))
        return best[1] if best[0] else None

    def _candidates(self, stem: str, read: list[list[Tensor]]) -> Iterable[str]:
        """Nodes of a name that read what an operator reads: of the input that fewest nodes read, as a node must read all."""
        found = []
        for own in read:
            known = {tensor for tensor in map(self._tensor_of, own) if tensor is not None}
            if known:
                found.append([self._readers.get((stem, tensor), {}) for tensor in sorted(known)])
        return dict.fromkeys(chain(*min(found, key=lambda readers: sum(map(len, readers)), default=())))

    def _likeness(self, operator: Operator, name: str, read: list[list[Tensor]]) -> int | None:
        """The number of a node's inputs that are known to be those of an operator; None where the op or an input is another.

        read: for each input of the operator the tensors that it may be called by, empty for a constant.
        """
        node = self._nodes[name]
        if not _is_like(operator.op_type, node.op):
            return None
        n_alike = 0
        for own, other in zip(read, node.inputs, strict=False):
            known = {tensor for tensor in map(self._tensor_of, own) if tensor is not None}
            if known and known.isdisjoint(self._reference_sources(other)):
                return None
            n_alike += bool(known)
        return n_alike

    def _tensor_of(self, device: Tensor) -> Tensor | None:
        """The tensor of the reference that one of the device is; None where nobody knows."""
        pair = self._pairs.get(device)
        if pair is not None:
            return None if pair.is_doubtful else pair.tensor
        operator, index = self._operators[device[0]], device[1]
        output = operator.outputs[index] if index < len(operator.outputs) else None
        name = output.origin_name if output is not None else ""
        if name not in self._nodes:
            return None
        return name, index if output is None or output.origin_index == -1 else output.origin_index

    def _sources(self, text: str) -> Iterator[Tensor]:
        """The tensor of an input of the device, and those that it is a reshaped form of; nothing for a constant."""
        for _ in range(_MOST_WALKED):
            name, _, index = text.rpartition(":")
            operator = self._operators.get(name)
            output = whole_number(index)
            if operator is None or operator.op_type == "Const" or output is None:
                return
            yield name, output
            if operator.op_type not in _RESHAPING or not operator.inputs:
                return
            text = operator.inputs[0]

    def _reference_sources(self, tensor: Tensor, passed: frozenset[str] = _RESHAPING) -> Iterator[Tensor]:
        """The same in the reference, where sums and transpositions may do nothing, too."""
        for _ in range(_MOST_WALKED):
            yield tensor
            node = self._nodes.get(tensor[0])
            if node is None or not node.inputs or not (node.op in passed or self._may_do_nothing(node)):
                return
            tensor = node.inputs[0]

    def _may_do_nothing(self, node: ReferenceNode) -> bool:
        """Whether it has axes that only a run tells: with static shapes TensorFlow leaves out what does nothing."""
        axes = self._nodes.get(node.inputs[1][0]) if len(node.inputs) > 1 else None
        if axes is not None and axes.op == "InvertPermutation":
            axes = self._nodes.get(axes.inputs[0][0])
        if axes is None:
            return False
        return (node.op, axes.op) == ("Sum", "BroadcastGradientArgs") or (node.op == "Transpose" and axes.op != "Const")


def _stem(name: str) -> str:
    """A name without numbers, of the gradient of a sum in the form for static shapes."""
    return _COUNTED.sub("", name).replace(f"_grad/{_BROADCAST}", f"_grad/{_TILE}")


def _is_like(op_type: str, op: str) -> bool:
    """Whether an operator of the device is what TensorFlow's op becomes."""
    row = tensorflow_ops().get(op)
    names = {op, op.lstrip("_"), *((row.device_op, *row.forms) if row is not None else ())}
    return op_type in names or (op_type in _RESHAPING and op in _RESHAPING) or (op_type, op) == (_TILE, _BROADCAST)
