"""Generators of the numbers that pipelines draw: shuffles, samplers and random transforms.

With a seed (`mindspore.dataset.config.set_seed` or `mindspore.set_seed`) every iterator over a pipeline draws the same numbers
again; without one, other numbers in every run. Numbers are not those of MindSpore, which draws with C++'s generators.
"""

from __future__ import annotations

import copy
import itertools

import numpy as np

from . import config

_outside = itertools.count()
"""Numbers of the generators that operations get which are called outside of a pipeline."""


def generator(number: int) -> np.random.RandomState:
    """The generator of that number: of the seed and the number, or of the system's entropy where no seed was set."""
    seed = config.get_seed()
    return np.random.RandomState() if seed == config.SEED_OF_NOBODY else np.random.RandomState([seed, number])


class Drawing:
    """Something that draws numbers. Each iterator over a pipeline has its own copy with a generator of its own."""

    _generator: np.random.RandomState | None = None

    @property
    def random(self) -> np.random.RandomState:
        if self._generator is None:
            self._generator = generator(next(_outside))
        return self._generator

    def fresh(self, numbers) -> Drawing:
        """A copy whose generator has the next one of these numbers."""
        new = copy.copy(self)
        new._generator = generator(next(numbers))
        return new


class Run:
    """One iterator over a pipeline: its copies of all that draws or counts, which last over its epochs."""

    def __init__(self):
        self._numbers = itertools.count()
        self._copies: dict = {}
        self.epoch = 0

    def own(self, thing):
        """This run's copy of something; plain Python callables are shared."""
        if not hasattr(thing, "fresh"):
            return thing
        if id(thing) not in self._copies:
            self._copies[id(thing)] = (thing.fresh(self._numbers), thing)  # holds the thing too, so that its id stays its own
        return self._copies[id(thing)][0]

    def random(self, step) -> np.random.RandomState:
        """The generator of a step of the pipeline in this run."""
        if id(step) not in self._copies:
            self._copies[id(step)] = (generator(next(self._numbers)), step)
        return self._copies[id(step)][0]
