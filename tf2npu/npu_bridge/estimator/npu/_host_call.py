"""Host calls: a function that gets values of the training step on the host, after each step."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow_estimator.python.estimator import util as estimator_util


def check_host_call(host_call: Any) -> None:
    """Raises: ValueError, TypeError or RuntimeError for a host call that cannot be made."""
    if not isinstance(host_call, list | tuple) or len(host_call) != 2:
        raise ValueError(f"host_call must be a pair of a function and its tensors, got {host_call!r}")
    function, tensors = host_call
    if not isinstance(tensors, list | tuple | dict):
        raise ValueError(f"the tensors of host_call must be a list, tuple or dict, got {type(tensors).__name__}")
    if not callable(function):
        raise TypeError(f"the first part of host_call must be a function, got {function!r}")
    wanted = estimator_util.fn_args(function)
    if isinstance(tensors, list | tuple) and len(tensors) != len(wanted):
        raise RuntimeError(f"host_call gives {len(tensors)} tensors to a function of {len(wanted)}: {', '.join(wanted)}")
    if isinstance(tensors, dict) and set(tensors) - set(wanted):
        unknown = ", ".join(sorted(set(tensors) - set(wanted)))
        raise RuntimeError(f"host_call gives {unknown}, which the function does not take")


class HostCallHook(tf.train.SessionRunHook):
    """Builds the host function's operations on the step's values and runs them after each step.

    The function is called once, while the graph is built, with placeholders for its tensors; what it returns (summaries
    written by a writer, say) runs in every step with the values of that step.
    """

    def __init__(self, host_call: Any) -> None:
        function, tensors = host_call
        self._tensors = tensors
        with tf.device("/cpu:0"), tf.name_scope("host_call"):
            self._fed = tf.nest.map_structure(_placeholder_like, tensors)
            result = function(**self._fed) if isinstance(tensors, dict) else function(*self._fed)
        self._operations = [item for item in tf.nest.flatten(result) if item is not None]

    def before_run(self, run_context: Any) -> tf.train.SessionRunArgs:
        """Ask for the tensors."""
        return tf.train.SessionRunArgs(self._tensors)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Run the host function's operations with the values."""
        feeds = dict(zip(tf.nest.flatten(self._fed), tf.nest.flatten(run_values.results), strict=True))
        if self._operations:
            run_context.session.run(self._operations, feeds)


def _placeholder_like(tensor: Any) -> tf.Tensor:
    tensor = tf.convert_to_tensor(tensor)
    return tf.placeholder(tensor.dtype.base_dtype, tensor.shape, name=tensor.op.name.rpartition("/")[2])
