"""Marks of a profile (torch.npu.mstx): accepted, and in no file."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ContextDecorator
from itertools import count
from typing import Any

_numbers = count(1)


class mstx:
    """Marks and ranges by name."""

    class annotate(ContextDecorator):
        """A range as a block or around a function."""

        def __init__(self, message: str = "", stream: Any = None, domain: str = "default") -> None:
            self.message = message

        def __enter__(self) -> mstx.annotate:
            return self

        def __exit__(self, *error: object) -> None:
            pass

    @staticmethod
    def mark(message: str, stream: Any = None, domain: str = "default") -> None:
        """Mark a moment."""

    @staticmethod
    def range_start(message: str, stream: Any = None, domain: str = "default") -> int:
        """Begin a range.  Returns: its number."""
        return next(_numbers)

    @staticmethod
    def range_end(range_id: int, domain: str = "default") -> None:
        """End the range of a number."""

    @staticmethod
    def range_push(message: str, stream: Any = None, domain: str = "default") -> int:
        """Begin a range within the last one.  Returns: how deep it is, which is not kept."""
        return 0

    @staticmethod
    def range_pop(domain: str = "default") -> int:
        """End the last range that was pushed."""
        return 0

    @staticmethod
    def mstx_range(message: str, stream: Any = None, domain: str = "default") -> Callable[..., Any]:
        """Decorate a function whose calls are ranges."""
        return lambda function: function
