"""Transforms of any data that MindSpore computes in C++: over numpy arrays."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from ...common.dtype import bool_, np_type
from ..core.operation import Operation, Sequence, all_of, as_array, number_in

__all__ = [
    "Compose",
    "Concatenate",
    "Duplicate",
    "Fill",
    "Mask",
    "OneHot",
    "PadEnd",
    "RandomApply",
    "RandomChoice",
    "Relational",
    "Slice",
    "TypeCast",
    "Unique",
]


class OneHot(Operation):
    """Vectors of zeros with a one at the place of a label, in the label's type."""

    def __init__(self, num_classes):
        self.num_classes = int(number_in("OneHot", "num_classes", num_classes, 1, 2**31 - 1))

    def apply(self, labels):
        if labels.dtype.kind not in "iu" or labels.ndim > 1:
            raise RuntimeError(
                f"OneHot: labels have to be whole numbers in at most one axis, not {labels.dtype} of shape {labels.shape}"
            )
        wrong = labels[(labels < 0) | (labels >= self.num_classes)]
        if wrong.size:
            raise RuntimeError(
                f"OneHot: label {wrong.flat[0]} is not below num_classes {self.num_classes}; give a larger num_classes"
            )
        return np.eye(self.num_classes, dtype=labels.dtype)[labels]


class Fill(Operation):
    """The same shape and type, filled with a value."""

    def __init__(self, fill_value):
        self.fill_value = fill_value

    def apply(self, value):
        return np.full(value.shape, self.fill_value).astype(value.dtype)


class TypeCast(Operation):
    """The same values in another type of `mindspore.dtype`."""

    def __init__(self, data_type):
        self.kind = np.dtype(np_type(data_type))

    def apply(self, value):
        return value.astype(self.kind)


class Slice(Operation):
    """A part: a number, list, slice, None or ellipsis for each of the first axes."""

    def __init__(self, *slices):
        self.slices = slices

    def apply(self, value):
        part = value
        for axis, chosen in enumerate(self.slices):
            if chosen is None or chosen is Ellipsis:
                continue
            if isinstance(chosen, slice):
                chosen = range(value.shape[axis])[chosen]
            places = np.atleast_1d(np.array(chosen, np.int64))
            if places.size and not (-value.shape[axis] <= places.min() and places.max() < value.shape[axis]):
                raise RuntimeError(f"Slice: {chosen!r} is outside of axis {axis} of a column of shape {value.shape}")
            part = part.take(places, axis)
        return part


class Relational(IntEnum):
    """Comparisons of `Mask`."""

    EQ = 0
    NE = 1
    GT = 2
    GE = 3
    LT = 4
    LE = 5


_COMPARISONS = {
    Relational.EQ: np.equal,
    Relational.NE: np.not_equal,
    Relational.GT: np.greater,
    Relational.GE: np.greater_equal,
    Relational.LT: np.less,
    Relational.LE: np.less_equal,
}


class Mask(Operation):
    """The results of a comparison with a constant, in a type."""

    def __init__(self, operator, constant, dtype=bool_):
        if not isinstance(operator, Relational):
            raise TypeError(f"Mask: operator is {operator!r}; give one of Relational")
        self.compare, self.constant, self.kind = _COMPARISONS[operator], constant, np.dtype(np_type(dtype))

    def apply(self, value):
        return self.compare(value, self.constant).astype(self.kind)


class PadEnd(Operation):
    """A shape with as many axes: filled up or cut at the end of each; None leaves an axis."""

    def __init__(self, pad_shape, pad_value=None):
        if not isinstance(pad_shape, (list, tuple)):
            raise TypeError(f"PadEnd: pad_shape is {pad_shape!r}; give a list with a size for each axis")
        self.pad_shape, self.pad_value = list(pad_shape), pad_value

    def apply(self, value):
        if len(self.pad_shape) != value.ndim:
            raise RuntimeError(f"PadEnd: pad_shape {self.pad_shape} has not as many axes as a column of shape {value.shape}")
        sizes = [have if size is None else size for have, size in zip(value.shape, self.pad_shape, strict=True)]
        new = np.full(sizes, 0 if self.pad_value is None else as_array(self.pad_value, "PadEnd")).astype(value.dtype)
        part = tuple(slice(0, min(have, size)) for have, size in zip(value.shape, sizes, strict=True))
        new[part] = value[part]
        return new


class Concatenate(Operation):
    """A column with arrays of its type put before and behind it. Columns with one axis alone are joined."""

    def __init__(self, axis=0, prepend=None, append=None):
        if axis not in (0, -1):
            raise ValueError(f"Concatenate: axis is {axis!r}; give 0, as columns with one axis alone are joined")
        self.before, self.behind = prepend, append

    def apply(self, value):
        parts = [part for part in (self.before, value, self.behind) if part is not None]
        arrays = [np.atleast_1d(as_array(part, "Concatenate")) for part in parts]
        for array in arrays:
            if array.ndim != 1 or array.dtype != value.dtype:
                raise RuntimeError(
                    f"Concatenate: {array.dtype} of shape {array.shape} cannot be joined with {value.dtype}; give arrays of one "
                    "axis and of the column's type"
                )
        return np.concatenate(arrays)


class Duplicate(Operation):
    """The column twice."""

    def apply(self, value):
        return value, value.copy()


class Unique(Operation):
    """The different values in their order, each value's place among them, and how often each one comes."""

    def apply(self, value):
        values, first, places, counts = np.unique(value.ravel(), return_index=True, return_inverse=True, return_counts=True)
        order = np.argsort(first)
        back = np.argsort(order)
        return values[order], back[places].astype(np.int32), counts[order].astype(np.int32)


class Compose(Sequence):
    """One operation after the other."""

    def __call__(self, *columns):
        result = all_of(self.transforms, columns)
        return result[0] if len(result) == 1 else result


class RandomApply(Sequence):
    """One operation after the other, or none of them."""

    def __init__(self, transforms, prob=0.5):
        super().__init__(transforms)
        self.prob = number_in("RandomApply", "prob", prob, 0, 1)

    def __call__(self, *columns):
        result = all_of(self.transforms, columns) if self.random.random_sample() < self.prob else columns
        return result[0] if len(result) == 1 else result


class RandomChoice(Sequence):
    """One of the operations."""

    def __call__(self, *columns):
        return self.transforms[self.random.randint(len(self.transforms))](*columns)
