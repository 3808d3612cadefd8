"""Part of a long test that `make test` runs, the same in every run; `make whole`, which acceptance has, runs all of it.

A part is for what takes long: examples that are drawn, seeds, and lists of cases of which the others ask much the same.
A case that alone asks something stays in `make test`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TypeVar

IS_WHOLE = bool(os.environ.get("TF2NPU_WHOLE_TESTS")) or "--regen" in sys.argv
SHARE = 4
"""One of so many is run: the drawn examples of a whole run took two fifths of its time."""
FEWEST = 5
"""Examples that are drawn at least: with fewer, hypothesis has hardly left the simplest."""

Case = TypeVar("Case")


def drawn(whole: int) -> int:
    """Number of examples, of `whole`, that are drawn."""
    return whole if IS_WHOLE else max(whole // SHARE, min(whole, FEWEST))


def some(cases: Iterable[Case], share: int = SHARE) -> list[Case]:
    """One of each `share` cases, the first of all among them."""
    return list(cases) if IS_WHOLE else list(cases)[::share]
