"""Precision."""

from __future__ import annotations

from mindspore.nn.metrics._evaluation import OfEachClass


class Precision(OfEachClass):
    """The share of a class's predictions that were right."""

    counted = 0
