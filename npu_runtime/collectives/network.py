"""The coordinator's place for ranks on other machines: it listens at one address, and lets in whoever proves to have the key.

Neither side shows its key: each answers the other's random challenge with a digest of it.  What follows is not encrypted, as
nothing is that HCCL sends: both belong into a network of trusted machines.
"""

from __future__ import annotations

import hmac
import secrets
import socket

from npu_runtime.collectives.connection import HELLO_SECONDS, Connection, exactly

_NONCE_BYTES = 32
_DIGEST = "sha256"
_DIGEST_BYTES = 32
N_PORTS = 16
"""Ports from the first one on that are tried, as several jobs may run.  Source: HCCL takes so many from HCCL_IF_BASE_PORT on."""
_KEEPALIVE = (("TCP_KEEPIDLE", 1), ("TCP_KEEPINTVL", 1), ("TCP_KEEPCNT", 3), ("TCP_USER_TIMEOUT", 4000))
"""Seconds, and milliseconds for the last: a machine that has lost its network is gone after 4 s."""


def listen_at(host: str, port: int) -> socket.socket:
    """The coordinator's socket, at the first of N_PORTS ports that is free.  Raises: OSError."""
    for number in range(port, port + N_PORTS):
        try:
            return socket.create_server((host, number), backlog=socket.SOMAXCONN)
        except OSError as error:
            problem = error
    raise OSError(problem.errno, f"{host}, ports {port} to {port + N_PORTS - 1}: {problem.strerror}")


def connect_to(address: str, key: bytes) -> Connection:
    """A rank's end.  address: "host:port".  Raises: OSError when nobody listens there who has the key."""
    host, _, port = address.rpartition(":")
    link = socket.create_connection((host, int(port)), timeout=HELLO_SECONDS)
    try:
        theirs = exactly(link, _NONCE_BYTES, HELLO_SECONDS)
        ours = secrets.token_bytes(_NONCE_BYTES)
        link.sendall(ours + _digest(key, b"rank", theirs, ours))
        if not hmac.compare_digest(exactly(link, _DIGEST_BYTES, HELLO_SECONDS), _digest(key, b"coordinator", theirs, ours)):
            raise PermissionError(f"{address}: who listens there has another key")
        _watch(link)
    except BaseException:
        link.close()
        raise
    return Connection(link)


def admit_from_network(link: socket.socket, key: bytes) -> bool:
    """The coordinator's side of it.  Raises: OSError."""
    ours = secrets.token_bytes(_NONCE_BYTES)
    link.settimeout(HELLO_SECONDS)
    link.sendall(ours)
    answer = exactly(link, _NONCE_BYTES + _DIGEST_BYTES, HELLO_SECONDS)
    theirs, digest = answer[:_NONCE_BYTES], answer[_NONCE_BYTES:]
    if not hmac.compare_digest(digest, _digest(key, b"rank", ours, theirs)):
        return False
    link.sendall(_digest(key, b"coordinator", ours, theirs))
    _watch(link)
    return True


def _digest(key: bytes, who: bytes, *nonces: bytes) -> bytes:
    return hmac.digest(key, who + b"".join(nonces), _DIGEST)


def _watch(link: socket.socket) -> None:
    """From now on wait without an end, but notice when the other machine is gone."""
    link.settimeout(None)
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE:
        if hasattr(socket, name):
            link.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
