"""A connection over a network: what somebody between the two ends changes, repeats, leaves out or puts in is noticed.

Each message has two seals, of its lengths and of what follows, so that no length is believed which the other end has not written.
A seal counts: it is made with the number of seals before it, by a key that is of this connection and of this direction alone.
"""

from __future__ import annotations

import hashlib
import hmac
import socket
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from npu_formats.ranks.connection import LENGTHS, BrokenMessage, Connection, parsed, parts_of, room_for

SEAL_BYTES = 16
"""Bytes of a seal: nobody guesses 128 bits while a job runs."""
_COUNT = struct.Struct("<Q")


class Seals:
    """One direction of a connection.  key: 32 bytes that only the two ends have."""

    def __init__(self, key: bytes) -> None:
        self._key, self._n_made = key, 0

    def next(self, *parts: Any) -> bytes:
        """The seal of some bytes; blake2b takes half the time of HMAC with SHA-256, and less on short messages."""
        made = hashlib.blake2b(_COUNT.pack(self._n_made), digest_size=SEAL_BYTES, key=self._key)
        self._n_made += 1
        for part in parts:
            made.update(part)
        return made.digest()

    def check(self, seal: Any, *parts: Any) -> None:
        """Raises: BrokenMessage where it is not the next one, or of other bytes."""
        if not hmac.compare_digest(self.next(*parts), seal):
            raise BrokenMessage("a message that was changed or repeated on its way: somebody stands between the machines")


class SealedConnection(Connection):
    """One end, after both have proved to have the key."""

    def __init__(self, link: socket.socket, sent: Seals, received: Seals) -> None:
        super().__init__(link)
        self._sent, self._received = sent, received

    def send(self, header: Any, arrays: Sequence[np.ndarray] = ()) -> None:
        """Send a message as Connection does."""
        lengths, *rest = parts_of(header, arrays)
        self._send_parts([lengths, self._sent.next(lengths), *rest, self._sent.next(*rest)])

    def receive(self) -> tuple[Any, memoryview]:
        """Receive a message as Connection does.  Raises: BrokenMessage for a message that the other end has not sent now."""
        head = self._exactly(LENGTHS.size + SEAL_BYTES)
        self._received.check(head[LENGTHS.size :], head[: LENGTHS.size])
        n_header, n_bytes = LENGTHS.unpack_from(head)
        message = self._exactly(n_header + n_bytes + SEAL_BYTES)
        self._received.check(message[-SEAL_BYTES:], message[:-SEAL_BYTES])
        return parsed(message[:-SEAL_BYTES], n_header)

    def _exactly(self, n_bytes: int) -> memoryview:
        return self._fill(room_for(n_bytes), 0)
