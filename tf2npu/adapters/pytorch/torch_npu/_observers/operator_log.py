"""The operators of a run, for its log and for a report: what the chip lacks of them, and copies between host and device."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch

from npu_formats.pytorch.call_limits import Limit, limits_of_call
from npu_formats.user_frames import calling_line

from .._device import dispatch, transfers
from .._device.chip import chip_of_run
from .._device.memory import POOLS
from .._device.tensor import NpuTensor, bytes_of

_aten = torch.ops.aten
_Tensor = torch.Tensor
_TO_HOST = frozenset((_aten._local_scalar_dense.default, _aten.is_nonzero.default, _aten.equal.default))
"""Operators whose result is a number of Python, for which the host waits."""
_ITEM = "number to Python"
"""The direction of a copy that those make."""


class LimitAt(NamedTuple):
    """A limit at a line of the script, "file:line"."""

    place: str
    limit: Limit


class CopyAt(NamedTuple):
    """Copies of one direction at a line of the script."""

    place: str
    direction: str


class OperatorLog:
    """operators: calls by name.  limits, copies: how often at each line.  copied: bytes.  places: operators of each line, where
    these are wanted.  peaks: the line at which each device's memory was highest.
    """

    def __init__(self, with_places: bool) -> None:
        self.operators: Counter[str] = Counter()
        self.limits: Counter[LimitAt] = Counter()
        self.copies: Counter[CopyAt] = Counter()
        self.copied: Counter[CopyAt] = Counter()
        self.places: Counter[str] | None = Counter() if with_places else None
        self.peaks: dict[int, str] = {}
        self._known: dict[Any, tuple[Limit, ...]] = {}

    def begin(self) -> None:
        """Take part in all operators from here on."""
        dispatch.OBSERVERS.append(self.observe)
        for pool in POOLS:
            pool.at_peak = lambda index=pool.index: self.peaks.__setitem__(index, calling_line())

    def observe(self, operator: Any, args: tuple, kwargs: dict[str, Any], result: Any, index: int) -> None:
        """Count an operator or a copy."""
        if direction := transfers.direction_of(operator, args, result):
            self._copy(direction, args[1] if operator is _aten.copy_.default else args[0])
            return
        if operator in _TO_HOST:
            self._copy(_ITEM, args[0])
        name = operator if isinstance(operator, str) else operator.name()
        self.operators[name] += 1
        if self.places is not None:
            self.places[calling_line()] += 1
        for limit in self._limits(name, args):
            self.limits[LimitAt(calling_line(), limit)] += 1

    def _copy(self, direction: str, source: Any) -> None:
        at = CopyAt(calling_line(), direction)
        self.copies[at] += 1
        self.copied[at] += source.nbytes if source.layout is torch.strided else bytes_of(getattr(source, "host", source))

    def _limits(self, name: str, args: tuple) -> tuple[Limit, ...]:
        tensors = list(_tensors(args))
        key = (name, *[(one.dtype, one.shape) for one in tensors])
        found = self._known.get(key)
        if found is None:
            types, shapes = [str(one.dtype) for one in tensors], [tuple(one.shape) for one in tensors]
            found = self._known[key] = tuple(limits_of_call(name, types, shapes, chip_of_run().name))
        return found


def _tensors(args: tuple) -> Iterator[torch.Tensor]:
    for value in args:
        if isinstance(value, NpuTensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from (part for part in value if isinstance(part, NpuTensor))
