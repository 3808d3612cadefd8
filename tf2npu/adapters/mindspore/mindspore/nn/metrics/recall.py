"""Recall."""

from __future__ import annotations

from mindspore.nn.metrics._evaluation import OfEachClass


class Recall(OfEachClass):
    """The share of a class's samples that were found."""

    counted = 1
