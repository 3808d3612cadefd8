"""Streams and events. Operators are done when they return, so that nothing has to be waited for."""

from __future__ import annotations

import time
from typing import Any

from .._device import numbering


class Stream:
    """A queue of a device.  device: as torch.npu.device takes it.  priority: kept, without effect."""

    def __init__(self, device: Any = None, priority: int = 0, **kwargs: Any) -> None:
        self.device_index = numbering.index_of(device)
        self.priority = priority
        self.npu_stream = id(self)

    @property
    def device(self) -> Any:
        """The device of the queue."""
        return numbering.device(self.device_index)

    def synchronize(self) -> None:
        """Wait for what the queue has."""

    def wait_stream(self, stream: Any) -> None:
        """Let what comes wait for another queue."""

    def wait_event(self, event: Any) -> None:
        """Let what comes wait for an event."""

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event, a new one unless one is given."""
        event = event or Event()
        event.record(self)
        return event

    def query(self) -> bool:
        """Whether all is done: always."""
        return True

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None:
        pass


class ExternalStream(Stream):
    """A queue that other code made.  stream_ptr: its address."""

    def __init__(self, stream_ptr: int, device: Any = None) -> None:
        super().__init__(device)
        self.npu_stream = stream_ptr


class SyncLaunchStream(Stream):
    """A queue whose operators are launched one by one: all are done when they return."""


class Event:
    """A moment of a queue; times are those of this machine, not of the device."""

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        self.enable_timing = enable_timing
        self.seconds: float | None = None

    def record(self, stream: Any = None) -> None:
        """Record the moment."""
        self.seconds = time.perf_counter()

    def wait(self, stream: Any = None) -> None:
        """Let what comes wait for the event."""

    def query(self) -> bool:
        """Whether the moment has passed: always."""
        return True

    def synchronize(self) -> None:
        """Wait for the moment."""

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this event to another.  Raises: RuntimeError for events without timing or that were not recorded."""
        if not (self.enable_timing and end_event.enable_timing):
            raise RuntimeError("Both events must be created with argument 'enable_timing=True'.")
        if self.seconds is None or end_event.seconds is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        return (end_event.seconds - self.seconds) * 1e3


class StreamContext:
    """A block whose operators go to a queue."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> Stream | None:
        return self.stream

    def __exit__(self, *error: object) -> None:
        pass


def stream(stream: Stream | None) -> StreamContext:
    """A block whose operators go to a queue."""
    return StreamContext(stream)


_DEFAULT: dict[int, Stream] = {}


def default_stream(device: Any = None) -> Stream:
    """The queue that operators go to unless told otherwise."""
    index = numbering.index_of(device)
    return _DEFAULT.setdefault(index, Stream(index))


current_stream = default_stream


def set_stream(stream: Stream) -> None:
    """Let operators go to a queue."""


def synchronize(device: Any = None) -> None:
    """Wait for all of a device's work.  Raises: RuntimeError for a device that is not there."""
    numbering.index_of(device)
