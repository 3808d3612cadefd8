"""Sizes of a shape that were computed with ``/``: TF 1.15 takes 48.0 as 48, TensorFlow 2 only what can be an index."""

from __future__ import annotations

import numbers
from importlib import import_module
from typing import Any

from npu_bridge._log import once
from npu_bridge._tf1.journal import Journal


def add(journal: Journal) -> None:
    """Let ``Dimension`` take a float without a fraction. Source: TF 1.15, framework/tensor_shape.py, ``Dimension.__init__``."""
    dimension = import_module("tensorflow.python.framework.tensor_shape").Dimension  # not earlier: quiet comes before it
    before = dimension.__init__

    def init(self: Any, value: Any) -> None:
        if not isinstance(value, numbers.Integral) and isinstance(value, numbers.Real) and value == int(value):
            once(f"a size of a shape is the float {value!r}; TensorFlow 2 refuses that: divide sizes with //")
            value = int(value)
        before(self, value)

    dimension.__init__ = init
    journal.on_undo(lambda: setattr(dimension, "__init__", before))
