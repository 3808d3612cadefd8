"""Host calls: a function that gets values of the training step on the host, after each step."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.python.ops import gen_summary_ops, summary_ops_v2
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
    written by a writer, say) runs in every step with the values of that step. Writers of the graph are opened before the first
    step and flushed behind the last.  Source: summary_writer_initializer_op in the hooks of TF 1.15's TPUEstimator.
    """

    def __init__(self, host_call: Any) -> None:
        function, tensors = host_call
        self._tensors = tensors
        with tf.device("/cpu:0"):
            with tf.name_scope("host_call"):
                self._fed = tf.nest.map_structure(_placeholder_like, tensors)
            # Not in the scope: the names of summaries would have it too.
            result = function(**self._fed) if isinstance(tensors, dict) else function(*self._fed)
        self._operations = [item for item in tf.nest.flatten(result) if item is not None]

    def begin(self) -> None:
        """Find the writers, which an Estimator does not open by itself."""
        self._open_writers = summary_ops_v2.summary_writer_initializer_op()
        self._flush_writers = [gen_summary_ops.flush_summary_writer(op.inputs[0]) for op in self._open_writers]

    def after_create_session(self, session: tf.Session, coord: Any) -> None:
        """Open the writers."""
        if self._open_writers:
            session.run(self._open_writers)

    def end(self, session: tf.Session) -> None:
        """Write what is waiting."""
        if self._flush_writers:
            session.run(self._flush_writers)

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
