"""The coordinator's place for ranks on other machines: it listens at one address, and lets in whoever proves to have the key.

Neither side shows its key: each answers the other's random challenge with a digest of it and of both addresses and ports, as each
side sees them, so that nobody can pass the greeting of one connection on to another.  What follows is sealed
(sealed_connection.py) and not encrypted, as nothing is that HCCL sends: it belongs into a network of trusted machines.
"""

from __future__ import annotations

import hmac
import secrets
import socket
import time

from npu_formats.ranks.connection import HELLO_SECONDS, Connection, exactly
from npu_formats.ranks.sealed_connection import SealedConnection, Seals

_NONCE_BYTES = 32
_DIGEST = "sha256"
_DIGEST_BYTES = 32
N_PORTS = 16
"""Ports from the first one on that are tried, as several jobs may run.  Source: HCCL takes so many from HCCL_IF_BASE_PORT on."""
_PAUSES = (0.05, 2.0)
"""Seconds before a rank greets again, the first time and at most; each pause is twice the one before."""
_KEEPALIVE = (("TCP_KEEPIDLE", 1), ("TCP_KEEPINTVL", 1), ("TCP_KEEPCNT", 3), ("TCP_USER_TIMEOUT", 4000))
"""Seconds, and milliseconds for the last: a machine that has lost its network is gone after 4 s."""


def listen_at(host: str, port: int) -> socket.socket:
    """The coordinator's socket, at the first of N_PORTS ports that is free; the greeting binds which.  Raises: OSError."""
    for number in range(port, port + N_PORTS):
        try:
            return socket.create_server((host, number), backlog=socket.SOMAXCONN)
        except OSError as error:
            problem = error
    raise OSError(problem.errno, f"{host}, ports {port} to {port + N_PORTS - 1}: {problem.strerror}")


def connect_to(address: str, key: bytes, seconds: float = HELLO_SECONDS) -> Connection:
    """A rank's end.  address: "host:port".  seconds: for each step of the greeting.

    Raises: OSError when nobody listens there who has the key.
    """
    host, _, port = address.rpartition(":")
    link = socket.create_connection((host, int(port)), timeout=seconds)
    try:
        secret = _Secret(key, link.getsockname(), link.getpeername())
        theirs = exactly(link, _NONCE_BYTES, seconds)
        ours = secrets.token_bytes(_NONCE_BYTES)
        link.sendall(ours + secret.of(b"rank", theirs, ours))
        if not hmac.compare_digest(exactly(link, _DIGEST_BYTES, seconds), secret.of(b"coordinator", theirs, ours)):
            raise PermissionError(f"{address}: who listens there has another key")
        _watch(link)
    except BaseException:
        link.close()
        raise
    sent, received = (Seals(secret.of(who, theirs, ours)) for who in (b"rank sends", b"coordinator sends"))
    return SealedConnection(link, sent, received)


def connect_patiently(address: str, key: bytes, seconds: float) -> Connection:
    """The same, again and again for so long: a coordinator that strangers keep busy lets a rank in later.

    Raises: OSError; at once where nobody listens, or somebody with another key.
    """
    deadline, pause = time.monotonic() + seconds, _PAUSES[0]
    while True:
        try:
            return connect_to(address, key)
        except (ConnectionRefusedError, PermissionError, socket.gaierror):
            raise
        except OSError:
            if time.monotonic() + pause > deadline:
                raise
        time.sleep(pause)
        pause = min(2 * pause, _PAUSES[1])


class KeyIsProved:
    """The coordinator's side of it, as Greeter has it.  Raises: OSError where the rank is gone."""

    n_bytes = _NONCE_BYTES + _DIGEST_BYTES

    def __init__(self, link: socket.socket, key: bytes) -> None:
        self._link, self._secret = link, _Secret(key, link.getpeername(), link.getsockname())
        self.hello = secrets.token_bytes(_NONCE_BYTES)

    def admitted(self, said: bytes) -> Connection | None:
        """The connection, where the key is the right one.  Raises: OSError."""
        theirs, digest = said[:_NONCE_BYTES], said[_NONCE_BYTES:]
        if not hmac.compare_digest(digest, self._secret.of(b"rank", self.hello, theirs)):
            return None
        _watch(self._link)
        self._link.sendall(self._secret.of(b"coordinator", self.hello, theirs))
        sent, received = (Seals(self._secret.of(who, self.hello, theirs)) for who in (b"coordinator sends", b"rank sends"))
        return SealedConnection(self._link, sent, received)


class _Secret:
    """The key, bound to the two ends of one connection.  rank, coordinator: their socket addresses, as this side sees them."""

    def __init__(self, key: bytes, rank: tuple, coordinator: tuple) -> None:
        self._key = key
        self._ends = "|".join(f"{host} {port}" for host, port, *_ in (rank, coordinator)).encode() + b"|"

    def of(self, what: bytes, *nonces: bytes) -> bytes:
        return hmac.digest(self._key, what + b"|" + self._ends + b"".join(nonces), _DIGEST)


def _watch(link: socket.socket) -> None:
    """Wait without an end from now on, but notice when the other machine is gone."""
    link.settimeout(None)
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE:
        if hasattr(socket, name):
            link.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
