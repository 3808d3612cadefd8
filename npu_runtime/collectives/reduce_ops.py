"""The arithmetic of collective operations: what every rank gets from what all of them have brought.

Sums are formed in the order of the ranks, so that every rank gets the same bits in every run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

import numpy as np

from npu_runtime.collectives.collective_call import Call
from npu_runtime.errors import InvalidArgument

DIFFER = "the ranks bring tensors that differ"
"""What the error for other types or shapes says, by which a kernel knows it."""
Arrays = Sequence[np.ndarray]
"""What one rank brings: one array, or several for an exchange of parts."""

_REDUCTIONS: Mapping[str, Callable[..., np.ndarray]] = {
    "sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum,
}  # fmt: skip


def combine(call: Call, brought: Sequence[Arrays]) -> list[np.ndarray]:
    """What each rank of the group gets, in the order of the group.

    call: as all ranks made it.  brought: by rank of the group; no result shares memory with it, as a rank that has its own
    result brings the next arrays in the same place.
    Raises: InvalidArgument where types, shapes or counts of the ranks do not fit.
    """
    return _COMBINATIONS[call.op](call, brought)


def _reduced(call: Call, brought: Sequence[Arrays]) -> np.ndarray:
    arrays = _alike(call, brought)
    with np.errstate(all="ignore"):
        return reduce(_REDUCTIONS[call.reduction], arrays)


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
    return [np.concatenate(_alike(call, brought))] * len(brought)


def _broadcast(call: Call, brought: Sequence[Arrays]) -> list[np.ndarray]:
    return [np.array(_alike(call, brought)[call.root])] * len(brought)


def _reduce_scatter(call: Call, brought: Sequence[Arrays]) -> list[np.ndarray]:
    total = _reduced(call, brought)
    if not total.ndim or len(total) % len(brought):
        raise InvalidArgument(f"{call}: {list(total.shape)} has no first axis that divides by {len(brought)} ranks")
    return np.split(total, len(brought))


def _all_to_all_v(call: Call, brought: Sequence[Arrays]) -> list[np.ndarray]:
    """brought: data [n], then by rank of the group how much to send and from where, how much to receive and to where."""
    results = []
    for receiver, (data, _, _, counts, places) in enumerate(brought):
        result = np.zeros(int(np.max(counts + places, initial=0)), data.dtype)
        for sender, (other, sent, starts, _, _) in enumerate(brought):
            if sent[receiver] != counts[sender]:
                pair = f"rank {call.ranks[sender]} sends {sent[receiver]} elements to rank {call.ranks[receiver]}"
                raise InvalidArgument(f"{call}: {pair}, which expects {counts[sender]}")
            part = other[starts[receiver] : starts[receiver] + counts[sender]]
            result[places[sender] : places[sender] + counts[sender]] = part
        results.append(result)
    return results


def _all_to_all_v_c(call: Call, brought: Sequence[Arrays]) -> list[np.ndarray]:
    """brought: data [n], then the matrix of what each rank sends to each; parts follow each other on both sides."""
    n_ranks = len(brought)
    counts = np.asarray(brought[0][1]).reshape(n_ranks, n_ranks)
    starts = np.cumsum(counts, axis=1) - counts
    pieces = [
        [data[at : at + count] for at, count in zip(starts[sender], counts[sender], strict=True)]
        for sender, (data, _) in enumerate(brought)
    ]
    return [np.concatenate([pieces[sender][receiver] for sender in range(n_ranks)]) for receiver in range(n_ranks)]


_COMBINATIONS: Mapping[str, Callable[[Call, Sequence[Arrays]], list[np.ndarray]]] = {
    "HcomAllReduce": _all_reduce, "HcomReduce": _reduce, "HcomAllGather": _all_gather, "HcomBroadcast": _broadcast,
    "HcomReduceScatter": _reduce_scatter, "HcomAllToAllV": _all_to_all_v, "HcomAllToAllVC": _all_to_all_v_c,
}  # fmt: skip
