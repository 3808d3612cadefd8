"""The arithmetic of collective operations: what every rank gets from what all of them have brought.

Sums are formed in the order of the ranks, so that every rank gets the same bits in every run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from npu_runtime.collectives.collective_call import Call
from npu_runtime.errors import InvalidArgument

DIFFER = "the ranks bring tensors that differ"
"""Part of the error for unequal types or shapes, by which a kernel recognizes it."""
KEY_EXCHANGE = "KeyExchange"
"""The operation by which processes tell each other how an engine reaches them: bytes of any length, one behind the other."""
Arrays = Sequence[np.ndarray]
"""Operands of one rank: one array, or several for an exchange of parts."""

OTHER_CALLS = "the ranks call different operations at the same time"
"""Part of the error for unequal operations, by which a kernel recognizes it."""

_REDUCTIONS: Mapping[str, Callable[..., np.ndarray]] = {
    "sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum,
}  # fmt: skip


def combine(call: Call, brought: Sequence[Arrays]) -> list[np.ndarray]:
    """The result of a call for each rank of the group, in the order of the group.

    call: as all ranks made it.  brought: by rank of the group; no result shares memory with it, as a rank that has its own
    result brings the next arrays in the same place.
    Raises: InvalidArgument where types, shapes or counts of the ranks do not fit.
    """
    check(call, brought)
    return _COMBINATIONS[call.op](call, brought)


def check(call: Call, brought: Sequence[Arrays]) -> None:
    """Whether a call can be made with what the ranks bring, of which the values of counts alone are read.

    Raises: InvalidArgument that says what differs.
    """
    if call.op in _EXCHANGES:
        _check_parts(call, brought)
    elif call.op != KEY_EXCHANGE:
        arrays = _alike(call, brought)
        if call.op == "HcomReduceScatter" and (not arrays[0].ndim or len(arrays[0]) % len(arrays)):
            shape = list(arrays[0].shape)
            raise InvalidArgument(f"{call}: {shape} has no first axis that divides by {len(arrays)} ranks")


def reduction_of(call: Call, arrays: Sequence[np.ndarray]) -> np.ndarray:
    """The sum, product, smallest or largest, element by element, in the order of the group.  arrays: alike."""
    with np.errstate(all="ignore"):
        return reduce(_REDUCTIONS[call.reduction], arrays)


def _reduced(call: Call, brought: Sequence[Arrays]) -> np.ndarray:
    return reduction_of(call, [array for (array,) in brought])


def _alike(call: Call, brought: Sequence[Arrays]) -> list[np.ndarray]:
    """One array of each rank, all of one type and shape."""
    arrays = [array for (array,) in brought]
    kinds = [f"{array.dtype.name}{list(array.shape)}" for array in arrays]
    if len(set(kinds)) > 1:
        said = ", ".join(f"rank {rank} {kind}" for rank, kind in zip(call.ranks, kinds, strict=True))
        raise InvalidArgument(f"{call}: {DIFFER}: {said}")
    return arrays


def _all_reduce(call: Call, brought: Sequence[Arrays]) -> list[np.ndarray]:
    return [_reduced(call, brought)] * len(brought)


def _reduce(call: Call, brought: Sequence[Arrays]) -> list[np.ndarray]:
    """The result for the root; the others keep what they have brought."""
    result = _reduced(call, brought)
    return [result if rank == call.root else np.array(array) for rank, (array,) in enumerate(brought)]


def _all_gather(call: Call, brought: Sequence[Arrays]) -> list[np.ndarray]:
    return [np.concatenate([array for (array,) in brought])] * len(brought)


def _broadcast(call: Call, brought: Sequence[Arrays]) -> list[np.ndarray]:
    return [np.array(brought[call.root][0])] * len(brought)


def _reduce_scatter(call: Call, brought: Sequence[Arrays]) -> list[np.ndarray]:
    return np.split(_reduced(call, brought), len(brought))


@dataclass(frozen=True)
class Parts:
    """The elements that a rank sends and gets in an exchange, each array by rank of the group.

    sent, starts: how many of its data, and from where.  counts, places: how many it gets, and where to.
    """

    sent: np.ndarray
    starts: np.ndarray
    counts: np.ndarray
    places: np.ndarray


def parts_of(call: Call, place: int, n_ranks: int, numbers: Arrays) -> Parts:
    """place: of the rank in the group.  numbers: what the rank brings beside its data: four lists, or the matrix of all pairs."""
    if call.op == "HcomAllToAllV":
        return Parts(*(np.asarray(one) for one in numbers))
    matrix = np.asarray(numbers[0]).reshape(n_ranks, n_ranks)
    sent, counts = matrix[place], matrix[:, place]
    return Parts(sent, np.cumsum(sent) - sent, counts, np.cumsum(counts) - counts)


def _check_parts(call: Call, brought: Sequence[Arrays]) -> None:
    every = [parts_of(call, place, len(brought), numbers) for place, (_, *numbers) in enumerate(brought)]
    types = {data.dtype.name for data, *_ in brought}
    if len(types) > 1:
        raise InvalidArgument(f"{call}: {DIFFER}: {', '.join(sorted(types))}")
    for receiver, own in enumerate(every):
        for sender, other in enumerate(every):
            if other.sent[receiver] != own.counts[sender]:
                pair = f"rank {call.ranks[sender]} sends {other.sent[receiver]} elements to rank {call.ranks[receiver]}"
                raise InvalidArgument(f"{call}: {pair}, which expects {own.counts[sender]}")
    for place, own in enumerate(every):
        size = brought[place][0].size
        if min(map(np.min, (own.sent, own.starts, own.counts, own.places))) < 0 or np.max(own.starts + own.sent) > size:
            raise InvalidArgument(f"{call}: rank {call.ranks[place]} sends more than the {size} elements that it has")


def _exchanged(call: Call, brought: Sequence[Arrays]) -> list[np.ndarray]:
    """brought: data [n], then the numbers that parts_of reads."""
    every = [parts_of(call, place, len(brought), numbers) for place, (_, *numbers) in enumerate(brought)]
    results = []
    for receiver, own in enumerate(every):
        result = np.zeros(int(np.max(own.counts + own.places, initial=0)), brought[receiver][0].dtype)
        for sender, (data, *_) in enumerate(brought):
            start = every[sender].starts[receiver]
            result[own.places[sender] :][: own.counts[sender]] = data[start : start + own.counts[sender]]
        results.append(result)
    return results


_EXCHANGES = ("HcomAllToAllV", "HcomAllToAllVC")
_COMBINATIONS: Mapping[str, Callable[[Call, Sequence[Arrays]], list[np.ndarray]]] = {
    "HcomAllReduce": _all_reduce, "HcomReduce": _reduce, "HcomAllGather": _all_gather, "HcomBroadcast": _broadcast,
    "HcomReduceScatter": _reduce_scatter, "HcomAllToAllV": _exchanged, "HcomAllToAllVC": _exchanged,
    KEY_EXCHANGE: _all_gather,
}  # fmt: skip
