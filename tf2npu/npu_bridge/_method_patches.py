"""Methods of a class of TensorFlow's, replaced by functions until they are given back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def replace_methods(owner: type, replacements: Mapping[str, Callable[..., Any]], original: dict[str, Callable[..., Any]]) -> None:
    """Put functions in the place of a class's methods, by name; `original` is filled with the methods."""
    for name, replacement in replacements.items():
        original[name] = getattr(owner, name)
        setattr(owner, name, replacement)


def restore_methods(owner: type, original: dict[str, Callable[..., Any]]) -> None:
    """Give a class its own methods back; `original` is emptied."""
    for name, method in original.items():
        setattr(owner, name, method)
    original.clear()
