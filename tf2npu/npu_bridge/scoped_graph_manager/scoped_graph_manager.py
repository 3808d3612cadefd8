"""Releases compiled graphs at the end of a block."""

from __future__ import annotations

from types import TracebackType


class ScopedGraphManager:
    """A context around graphs that are used for a while; the simulated device frees compiled graphs with their session."""

    def start(self) -> None:
        """Begin."""

    def stop(self) -> None:
        """End."""

    def __enter__(self) -> ScopedGraphManager:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()
