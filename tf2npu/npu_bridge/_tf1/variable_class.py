"""Gives resource variables back ``initialized_value``, with which one variable starts from the value of another.

Source: in TF 1.15 every variable is a ``VariableV1`` (tensorflow/python/ops/variables.py). TensorFlow 2.15 derives resource
variables from ``Variable``, where the method has no body, and keeps it for ref variables
(tensorflow/python/ops/variable_v1.py).
"""

from __future__ import annotations

from npu_bridge._tf1.journal import Journal
from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable
from tensorflow.python.ops.variable_v1 import VariableV1

_NAME = "initialized_value"


def complete(journal: Journal) -> None:
    """Let resource variables have the method of ref variables."""
    setattr(BaseResourceVariable, _NAME, getattr(VariableV1, _NAME))
    journal.on_undo(lambda: delattr(BaseResourceVariable, _NAME))
