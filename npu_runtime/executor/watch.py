"""An observer of one run: steps with their times, and a deadline between steps."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from npu_runtime.errors import DeadlineExceeded
from npu_runtime.executor.program import HostStep, Task


@dataclass
class Watch:
    """timeout_ms: of the whole run, 0 for none.  deadline_s: its end on time.monotonic's clock.

    steps: (node, op, is on the host, start, end), microseconds since 1970.
    """

    timeout_ms: int = 0
    deadline_s: float | None = None
    is_traced: bool = False
    steps: list[tuple[str, str, bool, int, int]] = field(default_factory=list)

    def check(self) -> None:
        """Raises: DeadlineExceeded after the deadline.  Source: TensorFlow's direct session words it so."""
        if self.deadline_s is not None and time.monotonic() > self.deadline_s:
            raise DeadlineExceeded("Timed out waiting for notification")

    def observe(self, run: Callable[..., None]) -> Callable[..., None]:
        """`run` of one step, after a look at the clock and, when traced, with its times noted."""

        def observed(function: Callable[..., Any], step: Task | HostStep, slots: list[Any]) -> None:
            self.check()
            start = time.time_ns() // 1000
            run(function, step, slots)
            if self.is_traced:
                end = time.time_ns() // 1000
                for node in step.nodes if isinstance(step, HostStep) else (step.node,):
                    self.steps.append((node, getattr(step, "op", "host call"), isinstance(step, HostStep), start, end))

        return observed


_current: ContextVar[Watch | None] = ContextVar("watch", default=None)


def current() -> Watch | None:
    """The watch over this thread's run, None without one."""
    return _current.get()


def timeout_ms() -> int:
    """Milliseconds that a host call may take within this thread's run, 0 for no limit: it may wait for a queue."""
    watch = _current.get()
    return watch.timeout_ms if watch else 0


@contextmanager
def watched(timeout_ms: int = 0, is_traced: bool = False) -> Iterator[Watch | None]:
    """Runs inside are watched; without a timeout and a trace there is nothing to do."""
    if not timeout_ms and not is_traced:
        yield None
        return
    watch = Watch(timeout_ms, time.monotonic() + timeout_ms / 1e3 if timeout_ms else None, is_traced)
    token = _current.set(watch)
    try:
        yield watch
    finally:
        _current.reset(token)
