"""Collective operations: what a rank brings goes to the coordinator, what it gets comes back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from npu_runtime.collectives.collective_call import Call
from npu_runtime.collectives.communicator import communicator
from npu_runtime.collectives.reduce_ops import DIFFER, OTHER_CALLS
from npu_runtime.errors import FailedPrecondition
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.interrupts import current as current_interrupts
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.half_storage import store, widen

_IGNORED = ("fusion", "fusion_id", "group")
"""Attributes that change no value here: the two that say which collectives a device puts into one call, as `fuse_all_reduces`
does, and the name of the group, whose ranks are there."""

_OTHER_SLICES = (
    "{}. These are rows of the gradient of {}, and HCCL takes as many from each rank: read batches of one size on all ranks, "
    "or make the gradient dense before it is averaged, as sparse_as_dense of Horovod does: leave the optimizer unwrapped and "
    "apply [(npu_allreduce(tf.convert_to_tensor(g)), v) for g, v in optimizer.compute_gradients(loss) if g is not None]"
)
"""An error of other numbers of rows, as of a table whose batches differ."""
_IN_ONE_CALL = (
    "{}. These are sums of several gradients in one call, here of the shapes {}: every rank has to have the same; allreduce with "
    "fusion=0, or a run with --option fusion=off, adds up each alone and names the one that differs"
)
_PIECE_BYTES = 1 << 21
"""Bytes that are brought at once, 2 MB: the caches of ranks and coordinator keep them, and shared memory for all gradients of a
large network would be more than containers have."""
_SHOWN_SHAPES = 20
"""Shapes that a message names; a network has hundreds."""


def _same(x: Spec, **_: Any) -> Shape:
    return x.shape


def _exchange(call: Call, x: np.ndarray, more: Sequence[np.ndarray] = ()) -> np.ndarray:
    """16-bit floats travel as fp32, so that a sum is rounded once.  Raises: what handlers of signals raise, as between steps."""
    result = communicator().exchange(call, [widen(x), *more], current_interrupts().deliver)
    return store(result, x.dtype, None)


def _ranks(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


def _all_same(*tensors: Spec, **_: Any) -> list[Shape]:
    return [x.shape for x in tensors]


@kernel("_NpuHcomAllReduce", unit="vector", shape=_all_same, ignores=_IGNORED)
def all_reduce(
    *tensors: np.ndarray, ranks: str, reduction: str, tag: int = -1, state: dict[str, Any]
) -> np.ndarray | tuple[np.ndarray, ...]:
    """The sum, product, smallest or largest of all ranks' tensors, on all of them.

    tensors: any shape, the same on every rank; several have one type, and go in one call.  tag: of such a call, which tells it
    from one of other tensors.  Returns: these shapes.  Source: HCCL's operator HcomAllReduce.
    """
    call = Call("HcomAllReduce", _ranks(ranks), reduction, tag=tag)
    if len(tensors) == 1:
        return _exchange(call, tensors[0])
    try:
        together = _exchange_pieces(call, np.concatenate([x.reshape(-1) for x in tensors]))
    except FailedPrecondition as error:
        if DIFFER not in error.message and OTHER_CALLS not in error.message:
            raise
        shapes = ", ".join(str(list(x.shape)) for x in tensors[:_SHOWN_SHAPES])
        shown = f"{shapes} and {len(tensors) - _SHOWN_SHAPES} more" if len(tensors) > _SHOWN_SHAPES else shapes
        raise FailedPrecondition(_IN_ONE_CALL.format(error.message, shown)) from None
    parts = np.split(together, np.cumsum([x.size for x in tensors])[:-1])
    return tuple(part.reshape(x.shape) for part, x in zip(parts, tensors, strict=True))


def _exchange_pieces(call: Call, x: np.ndarray) -> np.ndarray:
    """The same for each element, in the place of x, which has one axis; x may be as large as all gradients of a network."""
    step = max(1, _PIECE_BYTES // x.itemsize)
    for start in range(0, max(1, x.size), step):
        x[start : start + step] = _exchange(call, x[start : start + step])
    return x


@kernel("_NpuHcomReduce", unit="vector", shape=_same, ignores=_IGNORED)
def reduce_to_root(x: np.ndarray, /, *, ranks: str, reduction: str, root_rank: int, state: dict[str, Any]) -> np.ndarray:
    """The same on the root; the other ranks get their own tensor.  Source: HCCL's operator HcomReduce."""
    return _exchange(Call("HcomReduce", _ranks(ranks), reduction, root_rank), x)


@kernel("_NpuHcomBroadcast", unit="vector", shape=_same, ignores=_IGNORED)
def broadcast(x: np.ndarray, /, *, ranks: str, root_rank: int, state: dict[str, Any]) -> np.ndarray:
    """The root's tensor.  x: the same shape on every rank.  Source: HCCL's operator HcomBroadcast."""
    return _exchange(Call("HcomBroadcast", _ranks(ranks), root=root_rank), x)


def _gathered(x: Spec, *, ranks: str) -> Shape:
    return _times_ranks(x, lambda rows, n_ranks: rows * n_ranks, ranks)


def _scattered(x: Spec, *, ranks: str, reduction: str = "") -> Shape:
    return _times_ranks(x, lambda rows, n_ranks: rows // n_ranks, ranks)


def _times_ranks(x: Spec, rows: Any, ranks: str) -> Shape:
    if x.shape is None:
        return None
    first = x.shape[0]
    return (None if first is None else rows(first, len(_ranks(ranks))), *x.shape[1:])


@kernel("_NpuHcomAllGather", unit="vector", shape=_gathered, ignores=(*_IGNORED, "rank_size"))
def all_gather(x: np.ndarray, /, *, ranks: str, slices_of: str = "", state: dict[str, Any]) -> np.ndarray:
    """All ranks' tensors one below the other, in the order of the group.

    x: (n, ...), the same shape on every rank.  slices_of: what an error says that the rows belong to.
    Returns: (n * ranks, ...).  Source: HCCL's operator HcomAllGather.
    """
    try:
        return _exchange(Call("HcomAllGather", _ranks(ranks)), x)
    except FailedPrecondition as error:
        if not slices_of or DIFFER not in error.message:
            raise
        raise FailedPrecondition(_OTHER_SLICES.format(error.message, slices_of)) from None


@kernel("_NpuHcomReduceScatter", unit="vector", shape=_scattered, ignores=(*_IGNORED, "rank_size"))
def reduce_scatter(x: np.ndarray, /, *, ranks: str, reduction: str, state: dict[str, Any]) -> np.ndarray:
    """This rank's part of the first axis of what HcomAllReduce gives.

    x: (n, ...) where n divides by the number of ranks.  Source: HCCL's operator HcomReduceScatter.
    """
    return _exchange(Call("HcomReduceScatter", _ranks(ranks), reduction), x)


def _unknown_length(*_: Spec, **__: Any) -> Shape:
    return (None,)


@kernel("_NpuHcomAllToAllV", unit="vector", shape=_unknown_length, ignores=_IGNORED)
def all_to_all_v(x: np.ndarray, /, *counts_and_places: np.ndarray, ranks: str, state: dict[str, Any]) -> np.ndarray:
    """Parts of different length from every rank for every rank.

    x: (n,).  counts_and_places: int64 (ranks,) each, in elements: sent, from where; received, to where.
    Source: HCCL's operator HcomAllToAllV.
    """
    return _exchange(Call("HcomAllToAllV", _ranks(ranks)), x, counts_and_places)


@kernel("_NpuHcomAllToAllVC", unit="vector", shape=_unknown_length, ignores=(*_IGNORED, "rank"))
def all_to_all_v_c(x: np.ndarray, counts: np.ndarray, /, *, ranks: str, state: dict[str, Any]) -> np.ndarray:
    """The same with the numbers of all pairs as a matrix.  counts: int64 (ranks, ranks).  Source: HCCL's HcomAllToAllVC."""
    return _exchange(Call("HcomAllToAllVC", _ranks(ranks)), x, [counts])


@kernel("_NpuHcomSend", unit="vector", shape=_same, ignores=_IGNORED)
def send(x: np.ndarray, /, *, ranks: str, sr_tag: int, state: dict[str, Any]) -> np.ndarray:
    """A message under a tag, which waits for its receiver.  ranks: sender, receiver.  Returns: x.  Source: HCCL's HcomSend."""
    return _exchange(Call("HcomSend", _ranks(ranks), tag=sr_tag), x)


@kernel("_NpuHcomReceive", unit="vector", shape=_same, ignores=_IGNORED)
def receive(like: np.ndarray, /, *, ranks: str, sr_tag: int, state: dict[str, Any]) -> np.ndarray:
    """The message that was sent under the tag.  like: its type and shape.  Source: HCCL's operator HcomReceive."""
    return _exchange(Call("HcomReceive", _ranks(ranks), tag=sr_tag), like)
