"""Takes connections in and lets those go on that show the key; one thread looks after all that have not shown it yet.

Whoever reaches the coordinator can open connections, as many and as fast as they like.  So a stranger costs one descriptor and a
few bytes, answers are heard before more connections are taken, and when there are too many, the oldest of the address that has
most of them goes: a flood from one machine puts out no rank of another.  Nobody goes before there was time to answer.
"""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Thread
from typing import Protocol

from npu_formats.ranks import connection
from npu_formats.ranks.connection import Connection

MOST_UNKNOWN = 256
"""The most connections that have not shown the key yet; a process has 1,024 descriptors unless it is given more."""
ANSWER_SECONDS = 0.25
"""Seconds that everybody has for the answer, however many wait: a rank gives it at once, on a busy machine within some ms."""
RETRY_SECONDS = 0.1
"""Seconds before the next connection is taken, when there was no descriptor or thread for one."""
_AT_ONCE = 16
"""Connections that are taken before answers are heard again."""


class Greeting(Protocol):
    """One connection's.  hello: what it is sent first.  n_bytes: of its answer."""

    @property
    def hello(self) -> bytes: ...

    @property
    def n_bytes(self) -> int: ...

    def admitted(self, said: bytes) -> Connection | None: ...


@dataclass
class _Stranger:
    link: socket.socket
    greeting: Greeting
    peer: str
    came: float = field(default_factory=time.monotonic)
    said: bytes = b""


class Greeter:
    """Works until it is closed.

    greet: begins with a connection.  serve: called in a thread of its own with each that is let in.
    """

    def __init__(
        self, listener: socket.socket, greet: Callable[[socket.socket], Greeting], serve: Callable[[Connection], None]
    ) -> None:
        self._listener, self._greet, self._serve = listener, greet, serve
        self._peers: dict[str, dict[socket.socket, _Stranger]] = {}
        self._n_strangers = 0
        self._ready = selectors.DefaultSelector()
        self._waker, self._woken = socket.socketpair()
        self._ready.register(self._woken, selectors.EVENT_READ)
        self._is_listening = self._is_closed = False
        listener.setblocking(False)
        self._thread = Thread(target=self._run, name="coordinator", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Listen no longer."""
        self._is_closed = True
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        with suppress(OSError):
            self._waker.send(b"x")
        self._thread.join()

    def _run(self) -> None:
        while not self._is_closed:
            self._listen_where_there_is_room()
            heard = [key.data for key, _ in self._ready.select(self._seconds_to_next()) if key.data]
            for stranger in heard:
                self._hear(stranger)
            self._leave_late_ones()
            if self._is_listening and not self._is_closed:
                self._take_some()
        for stranger in self._oldest_of_each_peer(every=True):
            self._leave(stranger)
        self._ready.close()
        for link in (self._listener, self._waker, self._woken):
            link.close()

    def _listen_where_there_is_room(self) -> None:
        has_room = self._n_strangers < MOST_UNKNOWN or time.monotonic() >= self._next_to_go().came + ANSWER_SECONDS
        if has_room != self._is_listening:
            self._is_listening = has_room
            if has_room:
                self._ready.register(self._listener, selectors.EVENT_READ)
            else:
                self._ready.unregister(self._listener)

    def _seconds_to_next(self) -> float | None:
        """Seconds until somebody is late, or somebody may be put out for others."""
        ends = [one.came + connection.HELLO_SECONDS for one in self._oldest_of_each_peer()]
        if not self._is_listening:
            ends.append(self._next_to_go().came + ANSWER_SECONDS)
        return max(0.0, min(ends) - time.monotonic()) if ends else None

    def _oldest_of_each_peer(self, every: bool = False) -> list[_Stranger]:
        return [one for own in self._peers.values() for one in (list(own.values()) if every else [next(iter(own.values()))])]

    def _next_to_go(self) -> _Stranger:
        """The oldest of the peer that has most."""
        return next(iter(max(self._peers.values(), key=len).values()))

    def _leave_late_ones(self) -> None:
        late = time.monotonic() - connection.HELLO_SECONDS
        while any(late_ones := [one for one in self._oldest_of_each_peer() if one.came <= late]):
            for one in late_ones:
                self._leave(one)

    def _take_some(self) -> None:
        for _ in range(_AT_ONCE):
            if self._n_strangers >= MOST_UNKNOWN:
                if time.monotonic() < self._next_to_go().came + ANSWER_SECONDS:
                    return
                self._leave(self._next_to_go())
            try:
                link, address = self._listener.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError:  # no descriptor is free
                time.sleep(RETRY_SECONDS)
                return
            self._begin(link, address[0] if isinstance(address, tuple) else "")

    def _begin(self, link: socket.socket, peer: str) -> None:
        try:
            link.setblocking(False)
            greeting = self._greet(link)
            link.send(greeting.hello)
        except OSError:  # it is gone, or another user's
            link.close()
            return
        stranger = _Stranger(link, greeting, peer)
        self._peers.setdefault(peer, {})[link] = stranger
        self._n_strangers += 1
        self._ready.register(link, selectors.EVENT_READ, stranger)

    def _hear(self, stranger: _Stranger) -> None:
        try:
            heard = stranger.link.recv(stranger.greeting.n_bytes - len(stranger.said))
        except BlockingIOError:
            return
        except OSError:
            heard = b""
        stranger.said += heard
        if not heard:
            self._leave(stranger)
        elif len(stranger.said) == stranger.greeting.n_bytes:
            self._forget(stranger)
            self._let_in(stranger)

    def _let_in(self, stranger: _Stranger) -> None:
        try:
            admitted = stranger.greeting.admitted(stranger.said)
            if admitted is None:
                stranger.link.close()
            else:
                Thread(target=self._serve, args=(admitted,), name="group of ranks", daemon=True).start()
        except OSError:
            stranger.link.close()
        except RuntimeError:  # the system has no more threads
            stranger.link.close()
            time.sleep(RETRY_SECONDS)

    def _forget(self, stranger: _Stranger) -> None:
        self._ready.unregister(stranger.link)
        own = self._peers[stranger.peer]
        del own[stranger.link]
        if not own:
            del self._peers[stranger.peer]
        self._n_strangers -= 1

    def _leave(self, stranger: _Stranger) -> None:
        self._forget(stranger)
        stranger.link.close()
