"""Say how far a conversion is: a bar on a terminal, a line now and then anywhere else."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress

_SECONDS_BETWEEN_LINES = 5.0
"""Seconds between two lines of progress where there is no terminal: a log of an hour has 720."""


class Bar:
    """A context manager whose `show` takes what is done, how many files are, and how many there are in all.

    The bar is drawn by `show` itself: a refreshing thread would make forking the workers unsafe.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._bar: Progress | None = None
        self._tasks: dict[str, Any] = {}
        self._last = time.monotonic()

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        is_last = done == total
        if self._stream.isatty():
            if is_last or now - self._last > 0.1:
                self._last = now
                self._draw(what, done, total)
        elif now - self._last > _SECONDS_BETWEEN_LINES:
            self._last = now
            self._stream.write(f"{what}: {done} of {total} files\n")
            self._stream.flush()

    def _draw(self, what: str, done: int, total: int) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (
                TextColumn("{task.description}"), BarColumn(bar_width=None), MofNCompleteColumn(), TextColumn("files,"),
                TimeRemainingColumn(compact=True), TextColumn("left"),
            )  # fmt: skip
            self._bar = Progress(
                *columns, console=Console(file=self._stream), auto_refresh=False, transient=True, expand=True,
                redirect_stdout=False, redirect_stderr=False,
            )  # fmt: skip
            self._bar.start()
        if what not in self._tasks:
            self._tasks[what] = self._bar.add_task(what, total=total)
        self._bar.update(self._tasks[what], completed=done)
        self._bar.refresh()
