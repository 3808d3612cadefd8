"""Switch and Merge: the ops that decide what is dead.  Source: TensorFlow's executor (dead tensors of V1 control flow)."""

from __future__ import annotations

from typing import Any

import numpy as np

from npu_runtime.executor.program import DEAD


def switch(data: Any, predicate: Any) -> tuple[Any, Any]:
    """data goes to output 1 when the predicate is true, to output 0 otherwise; the other output is dead."""
    return (DEAD, data) if predicate else (data, DEAD)


def merge(*inputs: Any) -> tuple[Any, Any]:
    """The first live input and its index (int32); dead when all are."""
    for index, value in enumerate(inputs):
        if value is not DEAD:
            return value, np.int32(index).reshape(())
    return DEAD, DEAD


def identity(value: Any) -> Any:
    return value
