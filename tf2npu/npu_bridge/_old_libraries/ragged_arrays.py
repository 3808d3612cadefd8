"""Arrays of rows of different lengths: up to NumPy 1.23 they became arrays of objects, since then they are a ValueError.

`np.array(list(zip(x, y)))` in loops over batches, and replay buffers of tuples, were copied from project to project.
Source: release notes of NumPy 1.19 (deprecated) and 1.24 (gone).
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from npu_bridge._log import once
from npu_bridge._tf1.journal import Journal

from npu_formats.user_frames import is_library

_RAGGED = "inhomogeneous shape"
"""Part of NumPy's message for rows of unequal lengths."""


def add(journal: Journal) -> None:
    """Let scripts, and nobody else, make arrays of objects of them."""
    for name in ("array", "asarray", "asanyarray"):
        journal.set(vars(np), name, _taking_ragged_rows(name, getattr(np, name)))


def _taking_ragged_rows(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def make(*arguments: Any, **named: Any) -> Any:
        try:
            return original(*arguments, **named)
        except ValueError as error:
            has_type = len(arguments) > 1 or named.get("dtype") is not None
            frame = sys._getframe(1)
            if _RAGGED not in str(error) or has_type or is_library(frame.f_code.co_filename):
                raise
            place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
            once(f"np.{name} of rows of different lengths ({place}) is an error since NumPy 1.24; here it makes an array of "
                 f"objects, as it did; today write np.{name}(..., dtype=object)")  # fmt: skip
            return original(*arguments, **{**named, "dtype": object})

    return make
