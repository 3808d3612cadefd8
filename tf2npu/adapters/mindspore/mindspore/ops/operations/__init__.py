"""Primitives."""

from mindspore.ops.operations.other_ops import Assign, AssignAdd, AssignSub

__all__ = ["Assign", "AssignAdd", "AssignSub"]
