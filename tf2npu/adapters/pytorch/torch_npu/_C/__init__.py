"""Names that the vendor's package has in C++ and that its documentation gives to scripts."""

from __future__ import annotations

from . import _distributed_c10d  # noqa: F401
