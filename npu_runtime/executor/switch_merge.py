"""Switch and Merge: the ops that decide what is dead.  Source: TensorFlow's executor (dead tensors of V1 control flow)."""

from __future__ import annotations

from typing import Any

import numpy as np

from npu_runtime.errors import InvalidArgument
from npu_runtime.executor.program import DEAD
from npu_runtime.kernels.variable_access import shape_text


def switch(data: Any, predicate: Any) -> tuple[Any, Any]:
    """data goes to output 1 when the predicate is true, to output 0 otherwise; the other output is dead.

    Raises: InvalidArgument when the predicate is no scalar.
    """
    return (DEAD, data) if is_true(predicate) else (data, DEAD)


def is_true(predicate: Any) -> bool:
    """Raises: InvalidArgument for anything but a scalar.  Source: TensorFlow's kernel of Switch."""
    if getattr(predicate, "ndim", 0):
        raise InvalidArgument(f"The second input must be a scalar, but it has shape {shape_text(predicate.shape)}")
    return bool(predicate)


def merge(*inputs: Any) -> tuple[Any, Any]:
    """The first live input, of which there is one, and its index (int32)."""
    index = next(index for index, value in enumerate(inputs) if value is not DEAD)
    return inputs[index], np.int32(index).reshape(())


def identity(value: Any) -> Any:
    return value
