"""Tuples within tuples as one flat list of leaves, and back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def flat(value: Any) -> list[Any]:
    """The leaves of nested tuples and lists, in order."""
    return [leaf for one in value for leaf in flat(one)] if isinstance(value, (tuple, list)) else [value]


def rebuilt(value: Any, leaves: Iterator[Any]) -> Any:
    """The same nesting, as tuples, with other leaves."""
    return tuple(rebuilt(one, leaves) for one in value) if isinstance(value, (tuple, list)) else next(leaves)


def nesting(value: Any) -> Any:
    """The nesting alone, as something that compares and hashes: None for a leaf."""
    return tuple(map(nesting, value)) if isinstance(value, (tuple, list)) else None
