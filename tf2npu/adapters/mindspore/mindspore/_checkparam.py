"""Checks of what constructors are given.  Source of names: mindspore._checkparam of r1.1; a wrong value raises as there."""

from __future__ import annotations

import math
from typing import Any


def positive_int(value: Any, name: str, owner: str) -> int:
    """The value.  Raises: ValueError for anything but a whole number above 0."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{owner}({name}={value!r}): a whole number above 0 is needed")
    return value


def non_negative_int(value: Any, name: str, owner: str) -> int:
    """The value.  Raises: ValueError for anything but 0 or a whole number above."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{owner}({name}={value!r}): 0 or a whole number above is needed")
    return value


def flag(value: Any, name: str, owner: str) -> bool:
    """The value.  Raises: TypeError for anything but True and False."""
    if not isinstance(value, bool):
        raise TypeError(f"{owner}({name}={value!r}): True or False is needed")
    return value


def a_float(value: Any, name: str, owner: str) -> float:
    """The value.  Raises: TypeError for anything but a float, as an int is one too in MindSpore's checks."""
    if not isinstance(value, float):
        raise TypeError(f"{owner}({name}={value!r}): a float is needed, as {float(value) if isinstance(value, int) else 0.1}")
    return value


def positive_float(value: Any, name: str, owner: str) -> float:
    """The value.  Raises: TypeError for no float; ValueError for 0 and below."""
    if not a_float(value, name, owner) > 0 or math.isinf(value):
        raise ValueError(f"{owner}({name}={value}): a number above 0 is needed")
    return float(value)


def non_negative_float(value: Any, name: str, owner: str) -> float:
    """The value.  Raises: TypeError for no float; ValueError below 0."""
    if not a_float(value, name, owner) >= 0:
        raise ValueError(f"{owner}({name}={value}): 0 or a number above is needed")
    return float(value)


def fraction(value: Any, name: str, owner: str) -> float:
    """The value.  Raises: TypeError for no float; ValueError for a number that is not between 0 and 1."""
    if not 0 < a_float(value, name, owner) < 1:
        raise ValueError(f"{owner}({name}={value}): a number above 0 and below 1 is needed")
    return float(value)


def one_of(value: Any, known: tuple[Any, ...], name: str, owner: str) -> Any:
    """The value.  Raises: ValueError for one that is not among the known ones."""
    if value not in known:
        raise ValueError(f"{owner}({name}={value!r}): it is one of {', '.join(map(repr, known))}")
    return value


def pair(value: Any, name: str, owner: str) -> tuple[int, int]:
    """Two whole numbers above 0; one stands for both.  Raises: ValueError for anything else."""
    found = (value, value) if isinstance(value, int) else tuple(value) if isinstance(value, (tuple, list)) else ()
    if len(found) == 4:
        found = found[2:]
    if len(found) != 2:
        raise ValueError(f"{owner}({name}={value!r}): a whole number above 0 is needed, or a tuple of two")
    for one in found:
        positive_int(one, name, owner)
    return found[0], found[1]
