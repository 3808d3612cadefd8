"""The graph of the chip while it is made: which tensor is in each storage now, and the copies that strided operands need."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from npu_runtime.importers.pytorch.operator_call import OperatorCall, TensorUse, changed_tensors, given_tensors, tensors_in
from npu_runtime.lowering.chip_graph import MOVEMENT, ChipGraph, ChipOp, Tensor

_SAME_SIZE = {
    "complex32": "float32", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8", "float8_e4m3fnuz": "uint8",
    "float8_e5m2fnuz": "uint8", "float8_e8m0fnu": "uint8", "quint8": "uint8", "qint8": "int8", "qint32": "int32",
}  # fmt: skip
"""Types that the cost tables have not, and one of theirs with elements of the same size."""


@dataclass(eq=False)
class TracedGraph(ChipGraph):
    """calls: by the name that stands in the members of the operators made of them.  unmapped: names of the calls that the table
    does not know, each as often as it was called; they are in the graph as movements of their bytes.
    """

    calls: dict[str, OperatorCall] = field(default_factory=dict)
    unmapped: list[str] = field(default_factory=list)

    def source_of(self, member: str) -> str:
        """ "file:line" of the call behind a member, "" if unknown."""
        return self.calls[member].source if member in self.calls else ""

    def position_of(self, member: str) -> int:
        """The position of the call behind a member among all calls, from 0: it stands behind the name."""
        return int(member.rpartition("#")[2])


@dataclass
class _Stored:
    """The content of a storage: the tensor that owns it now, how it lay in memory when it was made, and views of it so far."""

    tensor: Tensor
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    views: dict[tuple[Any, ...], Tensor] = field(default_factory=dict)


class GraphBuilder:
    """call: the one at hand.  lasting: storages that outlive the step though no call makes them, as states of optimizers do."""

    def __init__(self, lasting: Collection[int]) -> None:
        self.graph = TracedGraph()
        self._lasting = lasting
        self._stored: dict[int, _Stored] = {}
        self._member = ""

    def begin(self, call: OperatorCall) -> None:
        """Go on to a call; what is launched from now on is of it."""
        self._member = f"{call.name}#{len(self.graph.calls)}"
        self.graph.calls[self._member] = call
        for use in given_tensors(call):
            self._known(use)

    def read(self, use: TensorUse) -> Tensor:
        """The tensor that a kernel reads: behind a copy where the operand is strided, as the device's kernels want rows."""
        tensor = self.show(use)
        if not self.is_strided(use):
            return tensor.storage if tensor.storage.bits == 1 else tensor  # bits in a row, whatever format the others have
        device_op = "StridedSlice" if tensor.is_part else "Transpose"
        return self.launch("Transpose", device_op, MOVEMENT, [tensor], [tensor.shape], tensor.dtype).outputs[0]

    def read_all(self, value: Any) -> list[Tensor]:
        """The tensors of an argument, read in order."""
        return [self.read(use) for use in tensors_in(value)]

    def show(self, use: TensorUse) -> Tensor:
        """The tensor as it is, strided or not; extents that are only spread count as one."""
        stored, shape = self._known(use), _read_shape(use)
        if shape == stored.tensor.shape and use.strides == stored.strides and _dtype(use.dtype) == stored.tensor.dtype:
            return stored.tensor
        key = shape, use.strides, use.dtype
        if key not in stored.views:
            base, is_part = stored.tensor, math.prod(shape) < stored.tensor.n_elements
            name, dtype = f"{base.name}v{len(stored.views)}", _dtype(use.dtype)
            stored.views[key] = Tensor(name, shape, dtype, producer=base.producer, base=base, bits=base.bits, is_part=is_part)
        return stored.views[key]

    def is_strided(self, use: TensorUse) -> bool:
        """Whether the device would copy it before a kernel reads it: it does not lie as it was made."""
        stored = self._known(use)
        if (use.shape, use.strides) == (stored.shape, stored.strides):
            return False
        return not (_is_contiguous(use.shape, use.strides) and _is_contiguous(stored.shape, stored.strides))

    def launch(
        self, op: str, device_op: str, pattern: str, inputs: Sequence[Tensor], shapes: Sequence[tuple[int, ...]] = (),
        dtype: str = "float32", attrs: Mapping[str, Any] | None = None, flops: float = 0.0,
    ) -> ChipOp:  # fmt: skip
        """An operator of the chip.  shapes, dtype: of results that stay inside of the call; `keep` gives those that are kept."""
        name = f"{self._member.partition('::')[2].partition('#')[0]}_{device_op}_{len(self.graph.ops)}"
        made = ChipOp(name, op, device_op, pattern, list(inputs), [], (self._member,), attrs or {}, False, flops)
        made.outputs = [Tensor(f"{name}:{n}", shape, _dtype(dtype), producer=made) for n, shape in enumerate(shapes)]
        self.graph.ops.append(made)
        return made

    def keep(self, op: ChipOp, use: TensorUse, shape: tuple[int, ...] | None = None, bits: int = 0) -> Tensor:
        """A result of an operator that a storage holds from now on.  shape: as the operator makes it, if not that of the use.

        Into a part of what a storage holds, the operator writes no more than the part.
        """
        before = self._stored.get(use.storage)
        is_lasting = before is not None and before.tensor.storage.is_variable and self._is_given(use)
        made = Tensor(
            f"{op.name}:{len(op.outputs)}", shape or use.shape, _dtype(use.dtype), producer=op, bits=bits, is_variable=is_lasting
        )
        op.outputs.append(made)
        if before is None or not self._is_given(use):
            whole = made if made.shape == use.shape else Tensor(f"{made.name}v", use.shape, made.dtype, producer=op, base=made)
            self._stored[use.storage] = _Stored(whole, use.shape, use.strides)
            return made
        self._stored[use.storage] = _Stored(self._changed(before, made), before.shape, before.strides)
        return made

    def forget(self, use: TensorUse) -> None:
        """Take a storage for new memory whose content nobody has made, though its number was another one's."""
        if not self._is_given(use):
            self._stored.pop(use.storage, None)

    def _changed(self, before: _Stored, made: Tensor) -> Tensor:
        """The whole of a storage after an operator has written `made` into it."""
        old = before.tensor
        if made.shape == old.shape:
            return made
        is_part = made.n_elements < old.n_elements
        base, bits = None if is_part else made, 0 if is_part else made.bits
        return Tensor(
            f"{made.name}w", old.shape, old.dtype, producer=made.producer, is_variable=made.is_variable, base=base, bits=bits
        )

    def _is_given(self, use: TensorUse) -> bool:
        return any(given.storage == use.storage for given in given_tensors(self.graph.calls[self._member]))

    def _known(self, use: TensorUse) -> _Stored:
        """The content of a storage; one that nobody has made comes from outside of the trace."""
        found = self._stored.get(use.storage)
        if found is None or math.prod(_read_shape(use)) > found.tensor.n_elements:
            lasts = use.is_parameter or use.storage in self._lasting
            tensor = Tensor(f"input{len(self._stored)}", _read_shape(use), _dtype(use.dtype), is_variable=lasts)
            found = self._stored[use.storage] = _Stored(tensor, use.shape, use.strides)
        return found


def lasting_storages(calls: Sequence[OperatorCall]) -> frozenset[int]:
    """The storages that are there before the first call that sees them, and that a call changes: states of optimizers."""
    made: set[int] = set()
    outside: set[int] = set()
    changed: set[int] = set()
    for call in calls:
        given = {use.storage for use in given_tensors(call)}
        outside |= given - made
        changed |= {use.storage for use in changed_tensors(call)}
        made |= {use.storage for use in tensors_in(call.results)} - given
    return frozenset(outside & changed)


def _dtype(name: str) -> str:
    return _SAME_SIZE.get(name, name)


def _read_shape(use: TensorUse) -> tuple[int, ...]:
    return tuple(1 if stride == 0 else n for n, stride in zip(use.shape, use.strides, strict=True))


def _is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether elements lie in rows, extents that are only spread left out."""
    expected = 1
    for n, stride in zip(reversed(shape), reversed(strides), strict=True):
        if n == 1 or stride == 0:
            continue
        if stride != expected:
            return False
        expected *= n
    return True
