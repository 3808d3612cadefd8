"""A stranger between a rank and the coordinator: passes on what comes, or something else."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from npu_formats.ranks import network
from npu_formats.ranks.connection import LENGTHS, exactly
from npu_formats.ranks.sealed_connection import SEAL_BYTES
from npu_runtime.collectives.coordinator import Coordinator

GREETING_BYTES = {"rank": 64, "coordinator": 64}
"""A challenge of 32 bytes from each side, and a digest of 32."""


@dataclass
class Tap:
    """place: where ranks reach it.  heard: what has come from the rank and from the coordinator, message by message.

    change: makes of a message, and of its number, what is passed on; the greeting passes as it is.
    """

    place: str
    heard: dict[str, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    change: Callable[[str, int, bytes], list[bytes]] = lambda who, number, message: [message]


@contextmanager
def tapped(running: Coordinator) -> Iterator[Tap]:
    """A tap before a coordinator."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        tap = Tap("{}:{}".format(*listener.getsockname()))
        threading.Thread(target=_serve, args=(listener, running.place, tap), daemon=True).start()
        yield tap


def translated(monkeypatch, tap: Tap, running: Coordinator) -> None:
    """As if the stranger were on the cable itself, where addresses are what both ends expect."""
    real = network._Secret.__init__

    def same_ends(self, key, rank, coordinator) -> None:
        real(self, key, ("rank", 0), ("coordinator", 0))

    monkeypatch.setattr(network._Secret, "__init__", same_ends)


def _serve(listener: socket.socket, place: str, tap: Tap) -> None:
    host, _, port = place.rpartition(":")
    with contextlib.suppress(OSError):
        while True:
            rank = listener.accept()[0]
            behind = socket.create_connection((host, int(port)), timeout=20)
            for who, source, sink in (("rank", rank, behind), ("coordinator", behind, rank)):
                threading.Thread(target=_pass_on, args=(who, source, sink, tap), daemon=True).start()


def _pass_on(who: str, source: socket.socket, sink: socket.socket, tap: Tap) -> None:
    with contextlib.suppress(OSError), source:
        for n_bytes in (32, 32) if who == "coordinator" else (GREETING_BYTES[who],):
            tap.heard[who].append(exactly(source, n_bytes, 20))
            sink.sendall(tap.heard[who][-1])
        number = 0
        while True:
            message = _message(source)
            tap.heard[who].append(message)
            for part in tap.change(who, number, message):
                sink.sendall(part)
            number += 1
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


def serve(listener: socket.socket, place: str, heard: list[bytes]) -> None:
    """Pass bytes on in both directions, with a word changed that a rank says of itself."""
    host, _, port = place.rpartition(":")

    def pump(source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while come := source.recv(65_536):
                heard.append(come)
                sink.sendall(come.replace(b'"present",1', b'"present",0'))
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    with contextlib.suppress(OSError):
        while True:
            rank = listener.accept()[0]
            behind = socket.create_connection((host, int(port)), timeout=20)
            for ends in ((rank, behind), (behind, rank)):
                threading.Thread(target=pump, args=ends, daemon=True).start()


def _message(source: socket.socket) -> bytes:
    head = exactly(source, LENGTHS.size + SEAL_BYTES, 20)
    return head + exactly(source, sum(LENGTHS.unpack_from(head)) + SEAL_BYTES, 20)
