"""The base of all operations of c_transforms: callables over the columns of a row."""

from __future__ import annotations

import numpy as np

from .random_numbers import Drawing


class Operation(Drawing):
    """Something that `map` applies to rows, and that may be called with an array."""

    def __call__(self, *columns):
        if len(columns) != 1:
            raise RuntimeError(
                f"{type(self).__name__} takes one column and was given {len(columns)}: call map once for each column"
            )
        return self.apply(as_array(columns[0], type(self).__name__))

    def apply(self, value: np.ndarray):
        raise RuntimeError(f"{type(self).__name__} has no apply")


class Sequence(Operation):
    """Operations that hold operations, which are made anew together with them."""

    def __init__(self, transforms):
        if not isinstance(transforms, (list, tuple)) or not transforms:
            raise TypeError(f"{type(self).__name__}: transforms is {transforms!r}; give a list of operations that is not empty")
        for number, transform in enumerate(transforms):
            if not callable(transform):
                raise TypeError(f"{type(self).__name__}: transforms[{number}] is {transform!r}, which cannot be called")
        self.transforms = list(transforms)

    def fresh(self, numbers):
        new = super().fresh(numbers)
        new.transforms = [one.fresh(numbers) if hasattr(one, "fresh") else one for one in self.transforms]
        return new


def as_array(value, who: str) -> np.ndarray:
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "asnumpy"):
        return value.asnumpy()
    if isinstance(value, (np.generic, bool, int, float, str, bytes)):
        return np.asarray(value)
    raise TypeError(f"{who} takes numpy arrays and was given {type(value).__name__}: give it np.asarray(...)")


def all_of(operations, columns: tuple) -> tuple:
    """Columns after one operation after the other."""
    for operation in operations:
        result = operation(*columns)
        columns = tuple(result) if isinstance(result, tuple) else (result,)
    return columns


def number_in(who: str, name: str, value, low: float, high: float) -> float:
    """The number, or an error that names the operation and the argument."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        raise TypeError(f"{who}: {name} is {value!r}; give a number from {low} to {high}")
    if not low <= value <= high:
        raise ValueError(f"{who}: {name} is {value!r}; give a number from {low} to {high}")
    return value
