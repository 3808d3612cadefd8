"""The output of all ranks, printed by the launcher: whole lines, one write each.

What is held is at most `lines.LONGEST_LINE_BYTES` of each stream.  Lines of a rank's two streams keep their order only within
their stream.
"""

from __future__ import annotations

import os
import select
import selectors
import sys
import time
from array import array
from collections import deque
from dataclasses import dataclass, field
from subprocess import Popen
from threading import Event, Lock, Thread
from typing import IO, TextIO

from tf2npu.ranks.lines import Lines

CHUNK_BYTES = 1 << 16
"""Bytes of one read: what a pipe holds on Linux."""
CHILDREN_SECONDS = 0.5
"""Seconds that the end of a run waits for pipes that children of ranks keep open: for their last words, not for their end."""


@dataclass(eq=False)
class _Stream:
    """One pipe.  rank: its process.  is_over: the process has ended.  is_said: what was in the pipe then is printed."""

    source: IO[bytes]
    rank: Popen[bytes]
    lines: Lines
    is_over: Event = field(default_factory=Event)
    is_said: Event = field(default_factory=Event)
    is_closed: Event = field(default_factory=Event)


class Output:
    """The launcher's two streams: a thread for each, so that a reader of one that is slow holds up no lines of the other."""

    def __init__(self) -> None:
        lock = Lock()
        self._out = _Printer(_Target(sys.stdout, lock))
        self._err = _Printer(_Target(sys.stderr, lock if _are_the_same(sys.stdout, sys.stderr) else Lock()))

    def add(self, rank: Popen[bytes], number: int | None) -> None:
        """Print what a process writes into its pipes.  number: that stands in front of each line, if one does."""
        for printer, source in ((self._out, rank.stdout), (self._err, rank.stderr)):
            if source is not None:
                printer.add(source, rank, number)

    def start(self) -> None:
        """Begin to print; no more processes are added."""
        for printer in (self._out, self._err):
            printer.start()

    def over(self, rank: Popen[bytes]) -> None:
        """A process has ended, though children of it may keep its pipes open."""
        for printer in (self._out, self._err):
            printer.over(rank)

    def say(self, text: str) -> None:
        """A line of the launcher's own on stderr, behind what ranks that are over have said there."""
        self._err.say(text)

    def finish(self) -> None:
        """Wait until all is printed that was there when the ranks ended, and a moment for what their children still say."""
        for printer in (self._out, self._err):
            printer.wait()
        deadline = time.monotonic() + CHILDREN_SECONDS
        for printer in (self._out, self._err):
            printer.stop(deadline)


class _Target:
    """One of the launcher's streams.  lock: of the file behind it, which may be that of the other stream."""

    def __init__(self, stream: TextIO | None, lock: Lock) -> None:
        self._stream, self._lock = stream, lock
        self._descriptor = _descriptor(stream)
        self.encoding = getattr(stream, "encoding", None) or "utf-8"
        if stream is not None:
            stream.flush()

    def write(self, line: bytes) -> None:
        """Raises: OSError when nobody reads it any more."""
        with self._lock:
            if self._descriptor is not None:
                _write_whole(self._descriptor, line)
            elif self._stream is not None:
                self._stream.write(line.decode(self.encoding, "replace"))
                self._stream.flush()


class _Printer(Thread):
    """Prints on one of the launcher's streams."""

    def __init__(self, target: _Target) -> None:
        super().__init__(name="output of ranks", daemon=True)
        self._target = target
        self._streams: list[_Stream] = []
        self._words: deque[str] = deque()
        self._is_stopped = False
        self._selector = selectors.DefaultSelector()
        self._woken, self._waker = os.pipe()
        self._selector.register(self._woken, selectors.EVENT_READ)

    def add(self, source: IO[bytes], rank: Popen[bytes], number: int | None) -> None:
        stream = _Stream(source, rank, Lines(number, self._target.encoding))
        self._streams.append(stream)
        self._selector.register(source, selectors.EVENT_READ, stream)

    def over(self, rank: Popen[bytes]) -> None:
        for stream in self._streams:
            if stream.rank is rank:
                stream.is_over.set()
        self._wake()

    def say(self, text: str) -> None:
        self._words.append(text)
        self._wake()

    def wait(self) -> None:
        for stream in self._streams:
            stream.is_said.wait()

    def stop(self, deadline: float) -> None:
        """deadline: until when pipes may stay open."""
        for stream in self._streams:
            stream.is_closed.wait(max(0.0, deadline - time.monotonic()))
        self._is_stopped = True
        self._wake()
        self.join()

    def run(self) -> None:
        while not self._is_stopped:
            for key, _ in self._selector.select():
                if key.data is None:
                    os.read(self._woken, CHUNK_BYTES)
                else:
                    self._print(key.data, CHUNK_BYTES)
            for stream in self._streams:
                if stream.is_over.is_set() and not stream.is_said.is_set():
                    self._print_rest(stream)
            self._print_words()
        self._print_words()

    def _print_words(self) -> None:
        while self._words:
            self._write([f"{self._words.popleft()}\n".encode(self._target.encoding, "replace")])

    def _wake(self) -> None:
        os.write(self._waker, b"+")

    def _print(self, stream: _Stream, n_bytes: int) -> int:
        """Print what the next so many bytes complete; how many there were."""
        data = os.read(stream.source.fileno(), n_bytes)
        lines = stream.lines.feed(data) if data else stream.lines.end()
        if not self._write(lines) or not data:
            self._close(stream)
        return len(data)

    def _print_rest(self, stream: _Stream) -> None:
        """Prints what is in the pipe now, but not what a child of the rank may put there for ever."""
        left = _waiting_bytes(stream.source)
        while left > 0 and not stream.is_closed.is_set():
            left -= self._print(stream, min(left, CHUNK_BYTES))
        self._write(stream.lines.end())
        stream.is_said.set()

    def _close(self, stream: _Stream) -> None:
        """Read no more; where nobody reads us either, the rank is told so by its next write, as without a launcher."""
        self._selector.unregister(stream.source)
        stream.source.close()
        stream.is_said.set()
        stream.is_closed.set()

    def _write(self, lines: list[bytes]) -> bool:
        """One write a line; False when nobody reads it any more."""
        try:
            for line in lines:
                self._target.write(line)
        except OSError:
            return False
        return True


def _write_whole(target: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        try:
            left = left[os.write(target, left) :]
        except BlockingIOError:  # somebody has made the terminal or the pipe so
            select.select([], [target], [])


def _waiting_bytes(source: IO[bytes]) -> int:
    import fcntl
    import termios

    count = array("i", [0])
    fcntl.ioctl(source.fileno(), termios.FIONREAD, count)
    return count[0]


def _descriptor(stream: TextIO | None) -> int | None:
    """None for what is no file, as in a notebook."""
    try:
        return None if stream is None else stream.fileno()
    except OSError:
        return None


def _are_the_same(one: TextIO | None, other: TextIO | None) -> bool:
    numbers = [_descriptor(stream) for stream in (one, other)]
    files = [os.fstat(number) for number in numbers if number is not None]
    return len(files) == len(numbers) and os.path.samestat(*files)
