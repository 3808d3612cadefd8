"""Gives operations back ``_outputs``, which code that edits graphs reads.

Source: ``Operation`` of TF 1.15 (tensorflow/python/framework/ops.py) keeps its tensors in that list; in TensorFlow 2.15 the class
is compiled and shows ``outputs`` only.
"""

from __future__ import annotations

from npu_bridge._tf1.journal import Journal
from tensorflow.python.framework.ops import Operation

_NAME = "_outputs"


def complete(journal: Journal) -> None:
    """Let operations show their outputs under the name of 1.15 too."""
    setattr(Operation, _NAME, property(lambda self: self.outputs))
    journal.on_undo(lambda: delattr(Operation, _NAME))
