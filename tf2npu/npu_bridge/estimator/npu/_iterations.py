"""Several training steps in one ``session.run``: the loop variables and the operation that the device repeats.

The repetition itself is the device session's: it runs an ``IterationOp`` as often as the loaded variable says.
"""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

from npu_runtime.importers.tensorflow.device_calls import mark

LOOP_VARIABLES = "npu_runconfig"
COLLECTION = "npu_iterations_per_loop"
ITERATION_OP = "IterationOp"
NAMES = ("iterations_per_loop", "loop_cond", "zero", "one")


def create_or_get_var(var_name: str) -> tf.Variable:
    """The int64 loop variable ``npu_runconfig/<var_name>`` of the default graph, made when absent.

    Raises: RuntimeError when the graph holds it twice.
    """
    full = f"{LOOP_VARIABLES}/{var_name}"
    found = [variable for variable in tf.get_collection(COLLECTION) if variable.op.name == full]
    if len(found) > 1:
        raise RuntimeError(f"the graph holds the loop variable {full} {len(found)} times")
    if found:
        return found[0]
    with tf.variable_scope(LOOP_VARIABLES, reuse=tf.AUTO_REUSE):
        return tf.get_variable(
            var_name,
            shape=[],
            dtype=tf.int64,
            initializer=tf.zeros_initializer(),
            trainable=False,
            collections=[COLLECTION, tf.GraphKeys.LOCAL_VARIABLES],
            use_resource=True,
        )


def register_func(var_name: str) -> Callable[[], None]:
    """A function that makes the loop variable when it is called."""

    def make() -> None:
        create_or_get_var(var_name)

    return make


def _check_count(iterations_per_loop: int) -> None:
    if not isinstance(iterations_per_loop, int) or isinstance(iterations_per_loop, bool):
        raise TypeError(f"iterations_per_loop must be an int, got {iterations_per_loop!r}")
    if iterations_per_loop < 1:
        raise ValueError(f"iterations_per_loop must be > 0, got {iterations_per_loop}")


def _check_train_op(train_op: tf.Operation) -> None:
    if not isinstance(train_op, tf.Operation):
        raise ValueError(f"train_op must be an Operation, got {train_op!r}; of a tensor take its .op")


class IterationPerLoop:
    """The loop in two halves, for sessions that are made after the graph is final."""

    def __init__(self) -> None:
        self._variables: dict[str, tf.Variable] = {}

    def create_iteration_per_loop_var(self, train_op: tf.Operation) -> tf.Operation:
        """Make the loop variables and group ``train_op`` as ``IterationOp``, the operation to run."""
        _check_train_op(train_op)
        self._variables = {name: create_or_get_var(name) for name in NAMES}
        return mark(tf.group(train_op, name=ITERATION_OP), ITERATION_OP)

    def load_iteration_per_loop_var(self, sess: tf.Session, iterations_per_loop: int = 1) -> None:
        """Tell the device of ``sess`` how many steps an ``IterationOp`` is."""
        _check_count(iterations_per_loop)
        for name, value in zip(NAMES, (iterations_per_loop - 1, 0, 0, 1), strict=True):
            variable = self._variables.get(name)
            if variable is None:
                raise RuntimeError("call create_iteration_per_loop_var before load_iteration_per_loop_var")
            variable.load(value, sess)


def set_iteration_per_loop(sess: tf.Session, train_op: tf.Operation, iterations_per_loop: int = 1) -> tf.Operation:
    """An operation that does ``iterations_per_loop`` steps of ``train_op`` in one run of ``sess``; 1 gives ``train_op``.

    Raises: ValueError when train_op is no Operation or the number is below 1, TypeError when it is no int.
    """
    _check_count(iterations_per_loop)
    _check_train_op(train_op)
    if iterations_per_loop == 1:
        return train_op
    loop = IterationPerLoop()
    iteration = loop.create_iteration_per_loop_var(train_op)
    loop.load_iteration_per_loop_var(sess, iterations_per_loop)
    return iteration
