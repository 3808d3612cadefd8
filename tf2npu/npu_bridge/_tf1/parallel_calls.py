"""Lets datasets take how many calls run side by side as a tensor of int32, as TF 1.15 asks for and TensorFlow 2.15 refuses.

Source: the input ``num_parallel_calls`` of the ops ParallelMapDataset (int32, in 1.15) and ParallelMapDatasetV2 (int64).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from npu_bridge._tf1.journal import Journal
from tensorflow.python.data.ops.dataset_ops import DatasetV1
from tensorflow.python.framework import dtypes
from tensorflow.python.framework.tensor import Tensor
from tensorflow.python.ops import math_ops

METHODS = ("map", "map_with_legacy_function")


def widen(journal: Journal) -> None:
    """Let both methods of TF1's datasets make int64 of what they are given."""
    for name in METHODS:
        method = vars(DatasetV1)[name]
        setattr(DatasetV1, name, _of_any_whole_number(method))
        journal.on_undo(functools.partial(setattr, DatasetV1, name, method))


def _of_any_whole_number(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def mapped(self: Any, map_func: Any, num_parallel_calls: Any = None, *rest: Any, **options: Any) -> Any:
        if isinstance(num_parallel_calls, Tensor):
            num_parallel_calls = math_ops.cast(num_parallel_calls, dtypes.int64)
        return method(self, map_func, num_parallel_calls, *rest, **options)

    return mapped
