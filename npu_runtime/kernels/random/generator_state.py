"""The state of tf.random.Generator: a variable of a counter and a key, which each draw reads and moves on."""

from __future__ import annotations

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.device.variable import Variable
from npu_runtime.errors import InvalidArgument, Unimplemented
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.random.philox import RESERVED_PER_OUTPUT
from npu_runtime.kernels.random.random_stateless import THREEFRY, not_threefry, require_philox
from npu_runtime.kernels.variable_access import value

STATE_SIZE = 3
"""Words of the state of Philox: the counter, its low word first, and the key.  Source: TensorFlow's stateful_random_ops.py."""
_LOW = 0xFFFFFFFFFFFFFFFF
"""The mask of an unsigned number of 64 bits."""


def _state_shape(*specs: Spec) -> Shape:
    return (STATE_SIZE,)


@kernel("RngReadAndSkip", unit="scalar", shape=_state_shape, refuse=not_threefry(1))
def read_and_skip(resource: Variable, alg: np.ndarray, delta: np.ndarray, /) -> np.ndarray:
    """The state before this call, which moves its counter by delta blocks for each output, () uint64.

    resource: (3,) int64; TensorFlow writes past its result for a longer one.  alg: () int32.  Returns: (3,) int64.
    Raises: InvalidArgument for a state of another shape, Unimplemented for ThreeFry.  Source: TensorFlow op `RngReadAndSkip`.
    """
    for position, given in ((1, alg), (2, delta)):
        if given.ndim:
            shape = ",".join(map(str, given.shape))
            raise InvalidArgument(f"input {position} (0-based) must have shape [], not [{shape}]")
    if int(alg) == THREEFRY:
        raise Unimplemented("Non-XLA devices don't support the ThreeFry algorithm.")
    require_philox(alg)
    state = _checked(value(resource))
    words = [int(word) & _LOW for word in state[:STATE_SIZE]]
    before = np.array(words, np.uint64).view(np.int64)
    moved = words[0] + (words[1] << 64) + (int(delta) * RESERVED_PER_OUTPUT & _LOW)
    resource.writable()[:2] = np.array([moved & _LOW, moved >> 64 & _LOW], np.uint64).view(np.int64)
    return before


def _checked(state: np.ndarray) -> np.ndarray:
    if state.dtype != np.int64:
        raise InvalidArgument(f"dtype of RNG state variable must be int64, not {dt.tensorflow_name(state.dtype.name)}")
    if state.ndim != 1:
        raise InvalidArgument(f"RNG state must have one and only one dimension, not {state.ndim}")
    if state.size < STATE_SIZE:
        raise InvalidArgument(f"For the Philox algorithm, the size of state must be at least {STATE_SIZE}; got {state.size}")
    return state
