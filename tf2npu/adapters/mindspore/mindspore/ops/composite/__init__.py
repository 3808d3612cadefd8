"""Functions of functions: gradients, maps over tuples, one name for several functions."""

from mindspore.ops.composite.base import GradOperation, HyperMap, Map, MultitypeFuncGraph, add_flags, core
from mindspore.ops.composite.clip_ops import clip_by_global_norm, clip_by_value
from mindspore.ops.operations.array_ops import OnesLike, ZerosLike

ones_like, zeros_like = OnesLike(), ZerosLike()

__all__ = [
    "GradOperation", "HyperMap", "Map", "MultitypeFuncGraph", "add_flags", "clip_by_global_norm", "clip_by_value", "core",
    "ones_like", "zeros_like",
]  # fmt: skip
