"""The tensors at which the migrated script's graph begins to compute something else than the original's, on equal inputs.

From what is off, the loss or the update of a variable, it goes back along tensors that are off, too. A tensor that is off though
all that it is made of is right is where the graphs part. What is unlike the original and harms nothing is not met on the way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from npu_bridge._check.corresponding_tensors import SAME
from npu_bridge._check.step_graph import StepGraph, made_of


class PartingTensors:
    """loss: name of its tensor, or "".  errors: distance of each tensor from the original's, None where that has no such tensor;
    what is not there is not known, as in loops.  rounded: tensors that rounding alone may have made unlike the original's.
    """

    def __init__(self, graph: StepGraph, loss: str, errors: Mapping[str, float | None], rounded: Collection[str] = ()) -> None:
        self._loss, self._graph, self._errors, self._rounded = loss, graph, errors, frozenset(rounded)
        self._inputs_off: dict[str, list[str]] = {}

    def is_off(self, name: str) -> bool:
        """Whether a tensor is known and is none of the original's."""
        if name not in self._errors:
            return False
        error = self._errors[name]
        return error is None or error > SAME

    def ends(self) -> list[str]:
        """The results of the step: the tensor of the loss, where there is one, and the operations that change variables."""
        return [*([self._loss] if self._loss else []), *self._graph.changes()]

    def ends_of(self, off: Collection[str]) -> list[str]:
        """The ends at which a difference shows: the loss, where "" is off, and the updates of variables."""
        loss = [self._loss] if "" in off and self._loss else []
        return [*loss, *(operation.name for name in off if name for operation in self._graph.updates_of(name))]

    def wrong(self, ends: Iterable[str]) -> dict[str, bool]:
        """Tensors that are off and on which one of the ends depends by such tensors alone, and whether each is the first of its
        way: what is made of rounding alone is not among them.  ends: tensors, or operations.
        """
        met = set(self._met(ends))
        found: dict[str, bool] = {}
        for name in (one for one in self._graph.tensors if one in met):  # in order, so inputs come before
            off = self.inputs_off(name)
            if off and any(one in found for one in off):
                found[name] = False
            elif not off and name not in self._rounded:
                found[name] = True
        return found

    def _met(self, ends: Iterable[str]) -> list[str]:
        found: dict[str, None] = {}
        left = [name for end in ends for name in self._off_at(end)]
        while left:
            name = left.pop()
            if name not in found:
                found[name] = None
                left += self.inputs_off(name)
        return list(found)

    def _off_at(self, end: str) -> list[str]:
        return ([end] if self.is_off(end) else []) if ":" in end else self._known_off(self._graph.by_name[end])

    def inputs_off(self, name: str) -> list[str]:
        """The known tensors that a tensor is made of and that are off."""
        if name not in self._inputs_off:
            self._inputs_off[name] = self._known_off(self._graph.graph.as_graph_element(name).op)
        return self._inputs_off[name]

    def _known_off(self, operation: Any) -> list[str]:
        return [name for name in dict.fromkeys(self._known_inputs(operation)) if self.is_off(name)]

    def _known_inputs(self, operation: Any) -> Iterator[str]:
        """Tensors that are known, before an operation; what is not known, such as the inside of a loop, is passed through."""
        seen, left = {operation.name}, [operation]
        while left:
            for tensor in made_of(left.pop()):
                if tensor.name in self._errors:
                    yield tensor.name
                elif tensor.op.name not in seen and tensor.op.name in self._graph.by_name:
                    seen.add(tensor.op.name)
                    left.append(tensor.op)
