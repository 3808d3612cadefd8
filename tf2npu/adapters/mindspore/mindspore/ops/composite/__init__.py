"""Functions of functions: gradients, maps over tuples, one name for several functions."""

from mindspore.ops.composite.base import GradOperation, HyperMap, Map, MultitypeFuncGraph, core
from mindspore.ops.composite.clip_ops import clip_by_global_norm, clip_by_value

__all__ = ["GradOperation", "HyperMap", "Map", "MultitypeFuncGraph", "clip_by_global_norm", "clip_by_value", "core"]
