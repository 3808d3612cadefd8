"""The meeting of the ranks of a group, for one call after another."""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from threading import Condition

import numpy as np

from npu_runtime.collectives.collective_call import Call
from npu_runtime.collectives.engine import MessageEngine
from npu_runtime.collectives.reduce_ops import KEY_EXCHANGE, OTHER_CALLS, Arrays, combine
from npu_runtime.collectives.waiting import Waiting
from npu_runtime.errors import DeviceError

GRACE_SECONDS = 1.0
"""Seconds for the tensors of a rank that has ended after it had sent them: they may be on their way."""

Reply = tuple[str, "np.ndarray | None"]
"""An error, empty when there is none; what the rank gets."""


@dataclass
class _Turn:
    """One call of all ranks.  arrived, came: what each brings and when it did, by its world rank.  replies: when it is over.

    Once all have arrived it is no meeting's turn any more, and whoever came last alone works on it.
    """

    arrived: dict[int, tuple[Call, Arrays]] = field(default_factory=dict)
    came: dict[int, float] = field(default_factory=dict)
    replies: Mapping[int, Reply] | None = None


class Moves:
    """The ranks of a group that were let through and still move the tensors of their call, where another engine does so."""

    def __init__(self, ranks: tuple[int, ...], ended: Mapping[int, str], changed: Condition) -> None:
        self._ranks, self._ended, self._changed = ranks, ended, changed
        self._moving: set[int] = set()
        self._call = Call("", ranks)

    def begin(self, call: Call, ranks: Iterable[int]) -> None:
        """Whoever calls it has the lock."""
        self._call = call
        self._moving.update(ranks)

    def is_moving(self, rank: int) -> bool:
        """Whether a rank has been let through and has not said that it is done."""
        return rank in self._moving

    def done(self, rank: int) -> None:
        """A rank has all that it gets."""
        with self._changed:
            self._moving.discard(rank)
            self._changed.notify_all()

    def wait_for_others(self, rank: int, seconds: float) -> None:
        """Wait until no other rank needs what this one has sent, at most so long."""
        with self._changed:
            self._moving.discard(rank)
            self._changed.wait_for(lambda: not self._moving - self._ended.keys(), seconds)

    def problem(self, rank: int, since: float, seconds: float) -> str:
        """The reason that a rank waits in vain for tensors, else "".  since: when it was let through, by time.monotonic()."""
        waited = time.monotonic() - since
        with self._changed:
            others = [other for other in self._ranks if other in self._ended]
            gone = [other for other in others if other in self._moving or waited > GRACE_SECONDS]
            if rank not in self._moving or not (gone or waited > seconds):
                return ""
            if gone:
                return waits_in_vain(self._call, gone[0], self._ended)
            return f"{self._call} has waited {seconds:g} s for tensors (HCCL_EXEC_TIMEOUT); every rank has to run the same steps"


def waits_in_vain(call: Call, rank: int, ended: Mapping[int, str]) -> str:
    """The reason that a call fails which needs a rank that has ended."""
    return f"{call} waits for rank {rank}, which {ended[rank]}; every rank has to run the same steps"


class Rendezvous:
    """The calls of one group, in order: the n-th of each rank is one call of all.

    ranks: of the group.  ended: why a rank takes no part any more, by world rank; shared with other meetings.
    changed: the condition that all meetings share.  messages: where the ranks move the tensors themselves.  waiting: notes
    for whom ranks wait.
    """

    def __init__(
        self,
        ranks: tuple[int, ...],
        ended: Mapping[int, str],
        changed: Condition,
        messages: MessageEngine | None = None,
        waiting: Waiting | None = None,
    ) -> None:
        self._ranks, self._ended, self._changed = ranks, ended, changed
        self._messages, self._waiting = messages, waiting
        self._turn = _Turn()
        self._posted: dict[int, deque[tuple[np.ndarray, np.ndarray]]] = defaultdict(deque)
        self.moves = Moves(ranks, ended, changed)

    def attend(self, rank: int, call: Call, arrays: Arrays, seconds: float) -> Reply:
        """Wait for the other ranks, at most so long, and get what this one is given."""
        with self._changed:
            if call.op == "HcomSend":
                return "", self._post(call, arrays[0])
            if call.op == "HcomReceive":
                return self._receive(call, arrays[0], seconds)
            turn = self._turn
            turn.arrived[rank] = (call, arrays)
            turn.came[rank] = time.monotonic()
            is_last = len(turn.arrived) == len(self._ranks)
            if not is_last:
                return self._wait(turn, rank, seconds)
            self._turn = _Turn()
        if self._waiting is not None and call.op != KEY_EXCHANGE:
            self._waiting.note(turn.came)
        replies = self._combined(turn)  # meanwhile other groups meet
        with self._changed:
            if self._messages is not None and call.op != KEY_EXCHANGE and not replies[rank][0]:
                self.moves.begin(call, self._ranks)
            return self._finish(turn, replies)[rank]

    def _wait(self, turn: _Turn, rank: int, seconds: float) -> Reply:
        """Wait for those that are missing, however long; then for the result."""
        self._changed.wait_for(lambda: turn is not self._turn or self._missing(turn), seconds)
        if turn is self._turn:
            self._turn = _Turn()
            return self._finish(turn, dict.fromkeys(turn.arrived, (self._why_not(turn, seconds), None)))[rank]
        self._changed.wait_for(lambda: turn.replies is not None)
        return (turn.replies or {})[rank]

    def _post(self, call: Call, array: np.ndarray) -> np.ndarray:
        """Posts a tensor for its receiver.  Returns: what both get, a copy of it or the tag under which the message comes."""
        kept = np.array(array) if self._messages is None else array  # the sender uses its memory again
        answer = kept if self._messages is None else self._messages.tag()
        self._posted[call.tag].append((kept, answer))
        self._changed.notify_all()
        return answer

    def _finish(self, turn: _Turn, replies: Mapping[int, Reply]) -> Mapping[int, Reply]:
        turn.replies = replies
        self._changed.notify_all()
        return replies

    def _combined(self, turn: _Turn) -> Mapping[int, Reply]:
        calls = [turn.arrived[rank][0] for rank in self._ranks]
        if len(set(calls)) > 1:
            said = "; ".join(f"rank {rank} {call}" for rank, call in zip(self._ranks, calls, strict=True))
            return dict.fromkeys(self._ranks, (f"{OTHER_CALLS}: {said}", None))
        try:
            settle = combine if self._messages is None or calls[0].op == KEY_EXCHANGE else self._messages.settle
            results = settle(calls[0], [turn.arrived[rank][1] for rank in self._ranks])
        except DeviceError as error:
            return dict.fromkeys(self._ranks, (error.message, None))
        except Exception as error:  # numpy's, of counts that fit no array; without a reply the ranks would wait for ever
            return dict.fromkeys(self._ranks, (f"{calls[0]}: {error}", None))
        return {rank: ("", result) for rank, result in zip(self._ranks, results, strict=True)}

    def _missing(self, turn: _Turn) -> list[int]:
        """Ranks that will not come, as they have ended."""
        return [rank for rank in self._ranks if rank in self._ended and rank not in turn.arrived]

    def _why_not(self, turn: _Turn, seconds: float) -> str:
        call = next(iter(turn.arrived.values()))[0]
        gone = self._missing(turn)
        if gone:
            return waits_in_vain(call, gone[0], self._ended)
        late = ", ".join(str(rank) for rank in self._ranks if rank not in turn.arrived)
        return f"{call} has waited {seconds:g} s for rank {late} (HCCL_EXEC_TIMEOUT); every rank has to run the same steps"

    def _receive(self, call: Call, like: np.ndarray, seconds: float) -> Reply:
        posted, sender = self._posted[call.tag], self._ranks[0]
        self._changed.wait_for(lambda: bool(posted) or sender in self._ended, seconds)
        if not posted:
            why = f"which {self._ended[sender]}" if sender in self._ended else f"{seconds:g} s (HCCL_EXEC_TIMEOUT)"
            return f"{call} waits for rank {sender}, {why}", None
        value, answer = posted.popleft()
        if (value.dtype, value.shape) != (like.dtype, like.shape):
            came, wanted = (f"{x.dtype.name}{list(x.shape)}" for x in (value, like))
            return f"{call} expects {wanted}, rank {sender} has sent {came}", None
        if self._messages is not None:
            self.moves.begin(call, [call.ranks[1]])
        return "", answer
