"""The time line that a run keeps beside its log for a report: when who worked.  Nothing is kept where nobody asks for it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from npu_formats.environment import TF2NPU_RECORD

MOST_SPANS = 200
"""Spans of a stream that are kept: a page shows them on a thousand pixels, where more would touch each other."""
COMPILE, DEVICE, HOST, WAITING = "compile", "device", "host", "waiting"
STREAMS = (COMPILE, DEVICE, HOST, WAITING)
"""Streams of the recording, by who works: the graph compiler, the device, TensorFlow on the host; or nobody, as input or the
script is awaited."""
_INPUT = frozenset({"IteratorGetNext", "IteratorGetNextSync", "QueueDequeueV2", "QueueDequeueManyV2", "QueueDequeueUpToV2"})
"""Operators that wait for an element of the input."""


class Spans:
    """Spans of one stream as [start, end, busy], in seconds; those that are close are merged when there are too many."""

    def __init__(self) -> None:
        self.spans: list[list[float]] = []
        self._resolution = 0.0

    def add(self, start: float, end: float) -> None:
        """One more, which begins where the last one ended or later."""
        self._append(start, end, end - start)
        while len(self.spans) > MOST_SPANS:
            self._coarsen()

    def _append(self, start: float, end: float, busy: float) -> None:
        last = self.spans[-1] if self.spans else None
        if last is not None and start - last[1] <= self._resolution:
            last[1], last[2] = max(last[1], end), last[2] + busy
        else:
            self.spans.append([start, end, busy])

    def _coarsen(self) -> None:
        whole = self.spans[-1][1] - self.spans[0][0]
        self._resolution = max(2 * self._resolution, whole / (4 * MOST_SPANS))
        spans, self.spans = self.spans, []
        for span in spans:
            self._append(*span)


class Recording:
    """The streams of this process from now on; threads may add to them."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._streams = {name: Spans() for name in STREAMS}
        self._seconds = dict.fromkeys(STREAMS, 0.0)
        self._lock = threading.Lock()
        self._of_thread = threading.local()
        self._n_steps = 0
        self._idle_since = self._began

    @contextmanager
    def step(self) -> Iterator[None]:
        """A step: what is none of the spans inside it is the device's."""
        begun = time.perf_counter()
        with self._lock:
            self._n_steps += 1
            if self._n_steps == 1:
                self._add(WAITING, self._idle_since, begun)
        inside: list[tuple[float, float]] = []
        around = getattr(self._of_thread, "inside", None)
        self._of_thread.inside = inside
        try:
            yield
        finally:
            self._of_thread.inside = around
            end = time.perf_counter()
            with self._lock:
                self._n_steps -= 1
                self._idle_since = end
                for start, stop in [*sorted(inside), (end, end)]:
                    if start > begun:
                        self._add(DEVICE, begun, start)
                    begun = max(begun, stop)

    @contextmanager
    def span(self, stream: str) -> Iterator[None]:
        """Work of another stream inside a step."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            end = time.perf_counter()
            with self._lock:
                self._add(stream, begun, end)
            inside = getattr(self._of_thread, "inside", None)
            if inside is not None:
                inside.append((begun, end))

    def host_call(self, function: Callable[[Any], Any], ops: list[str]) -> Callable[[Any], Any]:
        """A call of the host whose times are kept; ops: operators that it runs."""
        stream = WAITING if _INPUT.intersection(ops) else HOST

        def run(values: Any) -> Any:
            with self.span(stream):
                return function(values)

        return run

    def _add(self, stream: str, start: float, end: float) -> None:
        self._streams[stream].add(start - self._began, end - self._began)
        self._seconds[stream] += end - start

    def document(self) -> dict[str, Any]:
        """The time line so far, in seconds since the beginning."""
        with self._lock:
            if not self._n_steps:
                now = time.perf_counter()
                self._add(WAITING, self._idle_since, now)
                self._idle_since = now
            streams = [
                {
                    "name": name,
                    "seconds": round(self._seconds[name], 6),
                    "spans": [[round(n, 6) for n in span] for span in spans.spans],
                }
                for name, spans in self._streams.items()
            ]
        return {"seconds": round(time.perf_counter() - self._began, 6), "streams": streams}


@cache
def recording() -> Recording | None:
    """The recording of this process; None where nobody asked for one when it began."""
    return Recording() if os.environ.get(TF2NPU_RECORD) == "1" else None
