"""Transforms of any data that MindSpore computes in Python."""

from __future__ import annotations

import numpy as np

from ..core.operation import Operation, Sequence, all_of, number_in
from .c_transforms import Compose as _Compose
from .c_transforms import RandomApply, RandomChoice

__all__ = ["Compose", "OneHotOp", "RandomApply", "RandomChoice", "RandomOrder"]


class Compose(_Compose):
    """One operation after the other."""


class OneHotOp(Operation):
    """Vectors of a label's class, smoothed: the class loses smoothing_rate, which all classes share."""

    def __init__(self, num_classes, smoothing_rate=0.0):
        self.num_classes = int(number_in("OneHotOp", "num_classes", num_classes, 1, 2**31 - 1))
        self.smoothing_rate = number_in("OneHotOp", "smoothing_rate", smoothing_rate, 0, 1)

    def apply(self, label):
        label = label.reshape(()) if label.size == 1 else label
        if label.dtype.kind not in "iu" or not ((label >= 0) & (label < self.num_classes)).all():
            raise RuntimeError(f"OneHotOp: label {label!r} is no whole number below num_classes {self.num_classes}")
        return (1 - self.smoothing_rate) * np.eye(self.num_classes)[label] + self.smoothing_rate / self.num_classes


class RandomOrder(Sequence):
    """All operations in an order that is drawn."""

    def __call__(self, *columns):
        order = self.random.permutation(len(self.transforms))
        result = all_of([self.transforms[place] for place in order], columns)
        return result[0] if len(result) == 1 else result
