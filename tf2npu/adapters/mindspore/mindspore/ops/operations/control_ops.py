"""The primitive that orders others, where r1.1 has it."""

from mindspore.ops.operations.other_ops import ControlDepend

__all__ = ["ControlDepend"]
