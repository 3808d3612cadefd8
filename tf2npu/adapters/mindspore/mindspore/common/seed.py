"""The seed of initial values, of shuffled data and of random operators."""

from __future__ import annotations

import numpy as np

_seed: list[int | None] = [None]
_generators: dict[str, np.random.RandomState] = {}


def set_seed(seed: int) -> None:
    """Let all random numbers from here on follow from a seed, 0 or more.  Raises: TypeError, ValueError for another one."""
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise TypeError(f"set_seed({seed!r}): the seed is a whole number")
    if not 0 <= seed < 2**32:
        raise ValueError(f"set_seed({seed}): the seed is from 0 to 4294967295")
    _seed[0] = seed
    _generators.clear()


def get_seed() -> int | None:
    """The seed that was set, None for none."""
    return _seed[0]


def generator(purpose: str) -> np.random.RandomState:
    """The random numbers of a purpose, which those of others do not move."""
    if purpose not in _generators:
        _generators[purpose] = np.random.RandomState(None if _seed[0] is None else (_seed[0] + sum(purpose.encode())) % 2**32)
    return _generators[purpose]
