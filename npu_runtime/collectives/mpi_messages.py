"""Tensors of collective operations as MPI messages between the ranks, each under the tag that the coordinator gave the call.

A blocked MPI call spins, and ranks that share a processor starve each other.  So nothing here blocks: messages are started, and
looked after with pauses.  Results have the bits of the coordinator's arithmetic: each rank reduces one part, in the order of the
ranks, and sends it to the others.  MPI's own sums depend on the algorithm that it chooses.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from threading import Thread
from typing import Any

import numpy as np

from npu_runtime.collectives.collective_call import Call
from npu_runtime.collectives.reduce_ops import parts_of, reduction_of

SMALL_BYTES = 1 << 14
"""Bytes up to which every rank gets all tensors and reduces them itself: one round of messages is faster than two."""
_BUSY_LOOKS = 20
"""Looks after which a wait begins to pause: most small messages have come by then."""
_FIRST_PAUSE, _LONGEST_PAUSE = 2e-5, 1e-4
"""Seconds. With a longest pause of 1 ms 25 MB take ten times as long, as each look moves one fragment of a message."""
LOOK_SECONDS = 0.1
"""Seconds after which a waiting rank looks at what its process was asked meanwhile."""
Look = Callable[[], None]


class Messages:
    """The messages of one call.  mpi: the module mpi4py.MPI.  look: called now and then; what it raises ends the call."""

    def __init__(self, mpi: Any, call: Call, rank: int, tag: int, look: Look) -> None:
        self._mpi, self._call, self._tag, self._look = mpi, call, 2 * tag, look
        self.ranks = call.ranks
        self.place = call.ranks.index(rank)
        self._requests: list[Any] = []

    def send(self, place: int, array: np.ndarray, *, second: bool = False) -> None:
        """array: contiguous, unchanged until wait returns."""
        if array.nbytes:
            world = self._mpi.COMM_WORLD
            self._requests.append(world.Isend([_bytes(array), self._mpi.BYTE], self.ranks[place], self._tag + second))

    def receive(self, place: int, array: np.ndarray, *, second: bool = False) -> None:
        """array: contiguous; filled when wait returns."""
        if array.nbytes:
            world = self._mpi.COMM_WORLD
            self._requests.append(world.Irecv([_bytes(array), self._mpi.BYTE], self.ranks[place], self._tag + second))

    def wait(self) -> None:
        """Wait until all messages have gone and come."""
        looks, pause, looked = 0, _FIRST_PAUSE, time.monotonic()
        while not self._mpi.Request.Testall(self._requests):
            looks += 1
            if looks <= _BUSY_LOOKS:
                time.sleep(0)
                continue
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
            if time.monotonic() - looked > LOOK_SECONDS:
                looked = time.monotonic()
                self._look_or_abandon()
        self._requests.clear()

    def _look_or_abandon(self) -> None:
        """MPI writes into the memory of messages that are on their way: it is never given back."""
        try:
            self._look()
        except BaseException:
            _abandoned.append(self._requests)
            raise

    def others(self) -> Sequence[int]:
        """Places of the other ranks, this one's neighbour first, so that not all send to the same one."""
        n_ranks = len(self.ranks)
        return [(self.place + step) % n_ranks for step in range(1, n_ranks)]


_abandoned: list[Any] = []
"""Requests of calls that ended early; they keep their memory."""


def _bytes(array: np.ndarray) -> np.ndarray:
    return array.reshape(-1).view(np.uint8)


def move(messages: Messages, call: Call, arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Moves the tensors of a call and returns this rank's result.  arrays: as Communicator.exchange has them."""
    data = np.ascontiguousarray(arrays[0]).reshape(arrays[0].shape)
    return _MOVES[call.op](messages, call, data, arrays[1:])


def _gathered(messages: Messages, data: np.ndarray) -> np.ndarray:
    """[ranks, *shape], the tensors of all."""
    everything = np.empty((len(messages.ranks), *data.shape), data.dtype)
    everything[messages.place] = data
    for place in messages.others():
        messages.receive(place, everything[place])
        messages.send(place, data)
    messages.wait()
    return everything


def _part_reduced(messages: Messages, call: Call, data: np.ndarray, bounds: Sequence[int]) -> np.ndarray:
    """This rank's part of the reduction.  data: [n].  bounds: of the parts, one more than there are ranks."""
    own = messages.place
    brought = np.empty((len(messages.ranks), bounds[own + 1] - bounds[own]), data.dtype)
    brought[own] = data[bounds[own] : bounds[own + 1]]
    for place in messages.others():
        messages.receive(place, brought[place])
        messages.send(place, data[bounds[place] : bounds[place + 1]])
    messages.wait()
    return reduction_of(call, list(brought))


def _bounds(n_elements: int, n_ranks: int) -> list[int]:
    size = -(-n_elements // n_ranks)
    return [min(n_elements, place * size) for place in range(n_ranks + 1)]


def _all_reduce(messages: Messages, call: Call, data: np.ndarray, _: Any) -> np.ndarray:
    if data.nbytes <= SMALL_BYTES:
        return reduction_of(call, list(_gathered(messages, data)))
    bounds, own = _bounds(data.size, len(messages.ranks)), messages.place
    result = np.empty_like(data)
    flat = result.reshape(-1)
    flat[bounds[own] : bounds[own + 1]] = part = _part_reduced(messages, call, data.reshape(-1), bounds)
    for place in messages.others():
        messages.receive(place, flat[bounds[place] : bounds[place + 1]], second=True)
        messages.send(place, part, second=True)
    messages.wait()
    return result


def _reduce(messages: Messages, call: Call, data: np.ndarray, _: Any) -> np.ndarray:
    """Each rank reduces its part and sends it to the root."""
    bounds, own = _bounds(data.size, len(messages.ranks)), messages.place
    part = _part_reduced(messages, call, data.reshape(-1), bounds)
    result = np.array(data)
    if own != call.root:
        messages.send(call.root, part, second=True)
    else:
        flat = result.reshape(-1)
        flat[bounds[own] : bounds[own + 1]] = part
        for place in messages.others():
            messages.receive(place, flat[bounds[place] : bounds[place + 1]], second=True)
    messages.wait()
    return result


def _all_gather(messages: Messages, _: Call, data: np.ndarray, __: Any) -> np.ndarray:
    return np.concatenate(list(_gathered(messages, data)))


def _broadcast(messages: Messages, call: Call, data: np.ndarray, _: Any) -> np.ndarray:
    result = np.array(data)
    if messages.place == call.root:
        for place in messages.others():
            messages.send(place, data)
    else:
        messages.receive(call.root, result)
    messages.wait()
    return result


def _reduce_scatter(messages: Messages, call: Call, data: np.ndarray, _: Any) -> np.ndarray:
    n_ranks = len(messages.ranks)
    bounds = [place * (data.size // n_ranks) for place in range(n_ranks + 1)]
    return _part_reduced(messages, call, data.reshape(-1), bounds).reshape(len(data) // n_ranks, *data.shape[1:])


def _exchange(messages: Messages, call: Call, data: np.ndarray, numbers: Sequence[np.ndarray]) -> np.ndarray:
    parts, own = parts_of(call, messages.place, len(messages.ranks), numbers), messages.place
    result = np.zeros(int(np.max(parts.counts + parts.places, initial=0)), data.dtype)
    result[parts.places[own] :][: parts.counts[own]] = data[parts.starts[own] :][: parts.sent[own]]
    for place in messages.others():
        messages.receive(place, result[parts.places[place] :][: parts.counts[place]])
        messages.send(place, data[parts.starts[place] :][: parts.sent[place]])
    messages.wait()
    return result


def _send(messages: Messages, _: Call, data: np.ndarray, __: Any) -> np.ndarray:
    """The sender goes on at once, as two ranks may both send before they receive."""
    messages.send(1, np.array(data))
    thread = Thread(target=messages.wait, name="sent message", daemon=True)
    thread.start()
    _sending.append(thread)
    return data


def finish_sends(seconds: float) -> None:
    """Wait, at most so long, until what was sent has gone: it would be lost with the process."""
    deadline = time.monotonic() + seconds
    for thread in _sending:
        thread.join(max(0.0, deadline - time.monotonic()))
    _sending.clear()


_sending: list[Thread] = []


def _receive(messages: Messages, _: Call, like: np.ndarray, __: Any) -> np.ndarray:
    result = np.empty_like(like)
    messages.receive(0, result)
    messages.wait()
    return result


_MOVES = {
    "HcomAllReduce": _all_reduce, "HcomReduce": _reduce, "HcomAllGather": _all_gather, "HcomBroadcast": _broadcast,
    "HcomReduceScatter": _reduce_scatter, "HcomAllToAllV": _exchange, "HcomAllToAllVC": _exchange,
    "HcomSend": _send, "HcomReceive": _receive,
}  # fmt: skip
