"""Events of a timeline as Chrome's trace format has them, written as text: one line an event.

A time is text with three decimals of a microsecond, counted from the begin of the collection. The vendor's file counts from
1970: such numbers have more digits than a floating-point number, and Perfetto then takes neighbours for overlapping.
Source: "Trace Event Format" of the Chromium project.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from npu_runtime.observers.profiler.clocks import TICK_NS, Clocks, decimal_us, tick_ns
from npu_runtime.observers.profiler.raw.information import PROCESS_ID

HOST_DEVICE = 31
"""The number that stands for the host where the number of a device is meant."""
_LAYER_BITS, _DEVICE_BITS = 10, 5
"""Bits of layer and device in the number of a track's process."""


@dataclass(frozen=True)
class Process:
    """A group of tracks.  order: its place from the top.  label: what stands behind its name.  device: number, or HOST_DEVICE."""

    name: str
    order: int
    label: str
    device: int

    @property
    def pid(self) -> int:
        """The number of the group: process, layer and device in one."""
        return PROCESS_ID << _LAYER_BITS | self.order << _DEVICE_BITS | self.device

    def head(self, threads: Mapping[int, str]) -> Iterator[str]:
        """The events that name the group and its tracks; these stand in the order of their numbers."""
        yield self._named("process_name", 0, name=self.name)
        yield self._named("process_labels", 0, labels=self.label)
        yield self._named("process_sort_index", 0, sort_index=self.order)
        for tid, name in threads.items():
            yield self._named("thread_name", tid, name=name)
            yield self._named("thread_sort_index", tid, sort_index=tid)

    def _named(self, what: str, tid: int, **args: Any) -> str:
        return json.dumps({"name": what, "pid": self.pid, "tid": tid, "args": args, "ph": "M"})


def at_tick(tick: int) -> str:
    """A moment of the device as the timeline gives it."""
    return Clocks.since_begin_us(tick_ns(tick))


def at_raw(raw: int) -> str:
    """A moment of the host as the timeline gives it, from nanoseconds of the raw clock."""
    return Clocks.since_begin_us(raw)


def tick_duration(ticks: int) -> str:
    """A duration in microseconds as a number of JSON."""
    return decimal_us(ticks * TICK_NS)


def slice_event(process: Process, tid: int, name: str, ts: str, duration: str, args: Mapping[str, Any] | None = None,
                category: str = "") -> str:  # fmt: skip
    """An event with a length."""
    extra = f', "args": {json.dumps(args)}' if args is not None else ""
    kind = f', "cat": {json.dumps(category)}' if category else ""
    return (
        f'{{"name": {json.dumps(name)}, "pid": {process.pid}, "tid": {tid}, "ts": "{ts}", "dur": {duration}{extra}{kind}, '
        '"ph": "X"}'
    )


def flow_event(process: Process, tid: int, name: str, ts: str, number: str, category: str, *, begins: bool) -> str:
    """One end of an arrow between two slices; the other has the same name, category and number."""
    side = '"ph": "s"' if begins else '"ph": "f", "bp": "e"'
    return (
        f'{{"name": "{name}", {side}, "cat": "{category}", "id": "{number}", "pid": {process.pid}, "tid": {tid}, "ts": "{ts}"}}'
    )


def document(events: Iterable[str]) -> Iterator[str]:
    """A list of JSON, an event a line."""
    yield "[\n"
    between = ""
    for event in events:
        yield f"{between}{event}"
        between = ",\n"
    yield "\n]\n"
