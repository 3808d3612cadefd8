"""Work on parts of a product as soon as they are finished."""

from __future__ import annotations

from typing import Protocol

import numpy as np

ALL = slice(None)


class Epilogue(Protocol):
    """Changes a finished part of a result in place, while it is in cache."""

    def __call__(self, block: np.ndarray, columns: slice = ALL) -> None:
        """block: (rows, columns), which are those of the whole result, in rows that need not follow each other in memory."""
