"""Messages between a rank and the coordinator: a header in JSON and the bytes of arrays.  Nothing in them can be run.

A message is two lengths, the header and the bytes.  Each side sends one and waits for the answer.
"""

from __future__ import annotations

import hmac
import json
import os
import select
import socket
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

SOCKET = "coordinator"
"""Name of the socket in the run's folder."""
LONGEST_NAME = 104
"""Bytes of the longest name of a socket, with the zero behind it.  Source: sun_path of sys/un.h, 108 on Linux and 104 on
macOS."""
KEY_BYTES = 32
"""Bytes of the key that a rank shows first."""
HELLO_SECONDS = 10.0
"""Seconds for a connection to show the key. Ranks do so at once."""
LONGEST_HEADER_BYTES = 1 << 20
"""Bytes of the longest header. It names a group's ranks or some arrays; a longer one is no header."""
_READ_BYTES = 1 << 16
"""Bytes asked for in the first read of a message: all of it, but for large arrays without room in memory."""
LENGTHS = struct.Struct("<IQ")
_PADDING_BYTES = 16
"""Headers end at a multiple of so many bytes, so that the numbers behind them are aligned as numpy likes them."""
_CREDENTIALS = struct.Struct("3i")
"""Process, user and group.  Source: struct ucred of sys/socket.h."""
_WELCOME = b"+"


class BrokenMessage(ValueError):
    """A message that the protocol does not allow."""


class Connection:
    """One end, after the key was shown."""

    def __init__(self, link: socket.socket) -> None:
        self._link = link
        self._arrival = select.poll()
        self._arrival.register(link, select.POLLIN)
        self.is_closed = False

    def send(self, header: Any, arrays: Sequence[np.ndarray] = ()) -> None:
        """arrays: whose bytes follow the header, which says what they are."""
        self._send_parts(parts_of(header, arrays))

    def _send_parts(self, parts: Sequence[bytes]) -> None:
        if sum(map(len, parts)) <= _READ_BYTES:
            self._link.sendall(b"".join(parts))
            return
        for part in parts:
            self._link.sendall(part)

    def has_come(self, seconds: float) -> bool:
        """Whether a message is there, or the other side has hung up; waits so long for it."""
        return bool(self._arrival.poll(seconds * 1000))

    def receive(self) -> tuple[Any, memoryview]:
        """The header of the next message and the bytes behind it.

        Raises: EOFError when the other side has hung up.  BrokenMessage.
        """
        begun = self._link.recv(_READ_BYTES)
        while len(begun) < LENGTHS.size:
            begun += _some(self._link.recv(_READ_BYTES))
        n_header, n_bytes = LENGTHS.unpack_from(begun)
        if n_header > LONGEST_HEADER_BYTES:
            raise BrokenMessage(f"a header of {n_header} bytes")
        message = self._rest(begun, LENGTHS.size + n_header + n_bytes)
        return parsed(message[LENGTHS.size :], n_header)

    def _rest(self, begun: bytes, n_bytes: int) -> memoryview:
        if len(begun) == n_bytes:
            return memoryview(begun)
        if len(begun) > n_bytes:
            raise BrokenMessage("more bytes than it says")
        whole = room_for(n_bytes)
        whole[: len(begun)] = begun
        return self._fill(whole, len(begun))

    def _fill(self, whole: memoryview, n_come: int) -> memoryview:
        """Raises: EOFError."""
        while n_come < len(whole):
            n_come += _some(self._link.recv_into(whole[n_come:]))
        return whole

    def close(self) -> None:
        """Hang up."""
        self.is_closed = True
        self._link.close()


def parts_of(header: Any, arrays: Sequence[np.ndarray]) -> list[bytes]:
    """The lengths, the header and each array's bytes of a message."""
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(LENGTHS.size + len(text)) % _PADDING_BYTES)
    return [LENGTHS.pack(len(text), sum(array.nbytes for array in arrays)), text, *(array.tobytes() for array in arrays)]


def room_for(n_bytes: int) -> memoryview:
    """Memory that is taken when the bytes come, whatever was said.  Raises: BrokenMessage."""
    try:
        return np.empty(n_bytes, np.uint8).data
    except (MemoryError, ValueError, OverflowError):
        raise BrokenMessage(f"a message of {n_bytes} bytes") from None


def parsed(message: memoryview, n_header: int) -> tuple[Any, memoryview]:
    """The header and the bytes behind it.  Raises: BrokenMessage."""
    try:
        header = json.loads(bytes(message[:n_header]))
    except (ValueError, RecursionError) as error:
        raise BrokenMessage(f"a header that is no JSON: {error}") from None
    return header, message[n_header:]


def _some(received: Any) -> Any:
    """The bytes received, or their number; none means that the other side has hung up.  Raises: EOFError."""
    if not received:
        raise EOFError
    return received


def listen(folder: Path) -> socket.socket:
    """The coordinator's socket, in the run's folder, which is no other user's to look into.  Raises: OSError."""
    link = socket.socket(socket.AF_UNIX)
    with _socket_name(folder) as name:
        link.bind(name)
        os.chmod(name, 0o600)  # whatever the umask has given or taken
    link.listen(socket.SOMAXCONN)
    return link


def connect(folder: Path, key: bytes) -> Connection:
    """A rank's end.  Raises: OSError when nobody listens, or somebody who does not know the key."""
    link = socket.socket(socket.AF_UNIX)
    try:
        with _socket_name(folder) as name:
            link.connect(name)
        if _is_other_user(link):
            raise PermissionError("another user listens there")
        link.settimeout(HELLO_SECONDS)
        link.sendall(key)
        if link.recv(len(_WELCOME)) != _WELCOME:
            raise PermissionError("this run's key is another one")
        link.settimeout(None)
    except BaseException:
        link.close()
        raise
    return Connection(link)


class KeyIsShown:
    """The coordinator's side of it, as Greeter has it.  Raises: PermissionError for another user."""

    hello = b""
    n_bytes = KEY_BYTES

    def __init__(self, link: socket.socket, key: bytes) -> None:
        if _is_other_user(link):
            raise PermissionError("another user")
        self._link, self._key = link, key

    def admitted(self, said: bytes) -> Connection | None:
        """The connection, where the key is the right one.  Raises: OSError."""
        if not hmac.compare_digest(said, self._key):
            return None
        self._link.settimeout(None)
        self._link.sendall(_WELCOME)
        return Connection(self._link)


def exactly(link: socket.socket, n_bytes: int, seconds: float) -> bytes:
    """Receive exactly so many bytes of a greeting.  Raises: OSError where the other side hangs up before, or takes longer."""
    deadline, come = time.monotonic() + seconds, b""
    while len(come) < n_bytes:
        link.settimeout(max(0.001, deadline - time.monotonic()))
        received = link.recv(n_bytes - len(come))
        if not received:
            raise ConnectionAbortedError("hung up: its key, or its job, is another one")
        come += received
    return come


@contextmanager
def _socket_name(folder: Path) -> Iterator[str]:
    """A name that is short enough for a socket; Linux has one for every open folder."""
    path = str(folder / SOCKET)
    if len(os.fsencode(path)) < LONGEST_NAME:
        yield path
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{descriptor}/{SOCKET}"
    finally:
        os.close(descriptor)


def _is_other_user(link: socket.socket) -> bool:
    """Whether another user runs the process at the other end, where the system says so: in case the folder lets others in."""
    if not hasattr(socket, "SO_PEERCRED"):
        return False
    _, user, _ = _CREDENTIALS.unpack(link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
    return user != os.geteuid()
