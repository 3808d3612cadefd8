"""Session hooks."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
from npu_bridge._host_differences import accept
from npu_bridge._log import log
from npu_bridge.estimator import npu_ops
from npu_bridge.estimator.npu import util
from npu_bridge.hccl import hccl_ops


def broadcast_global_variables(root_rank: int) -> tf.Operation:
    """An operation that gives every trainable variable the root's value."""
    updates = []
    for variable in tf.trainable_variables():
        updates.append(tf.assign(variable, hccl_ops.broadcast([variable], root_rank)[0]))
    return tf.group(*updates)


class NPUBroadcastGlobalVariablesHook(tf.train.SessionRunHook):
    """Gives every rank the root's trainable variables when a session is made; nothing with one rank."""

    def __init__(self, root_rank: int | None = None, index: int | None = None) -> None:
        self._root_rank = root_rank
        self._index = index
        self._rank_size = int(util.get_ranksize())
        self._broadcast: tf.Operation | None = None

    def begin(self) -> None:
        """Build the broadcast."""
        if self._rank_size > 1:
            self._broadcast = broadcast_global_variables(self._root_rank)

    def after_create_session(self, session: tf.Session, coord: Any) -> None:
        """Run the broadcast."""
        if self._broadcast is not None:
            session.run(self._broadcast)


class NPUCheckpointSaverHook(tf.train.CheckpointSaverHook):
    """A checkpoint hook that logs the global step after each run."""

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: int | None = None,
        save_steps: int | None = None,
        saver: tf.train.Saver | None = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: tf.train.Scaffold | None = None,
        listeners: Sequence[Any] | None = None,
    ) -> None:
        super().__init__(checkpoint_dir, save_secs, save_steps, saver, checkpoint_basename, scaffold, listeners)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Save when it is time."""
        log.info("global_step..%s", run_values.results)
        super().after_run(run_context, run_values)


class NPUOutputTensorHook(tf.train.SessionRunHook):
    """Collects tensors run by run and hands the collected values to ``output_fn`` every N runs and at the end.

    tensors: a dict or list of tensors or names; with ``dependencies`` it must be a dict.  0 means only at the end.
    """

    def __init__(
        self,
        tensors: Any,
        dependencies: Any = None,
        output_fn: Callable[[list[dict[str, Any]]], None] | None = None,
        output_every_n_steps: int = 0,
    ) -> None:
        self._tensors = tensors if isinstance(tensors, dict) else {str(item): item for item in tensors or ()}
        if dependencies is not None and not isinstance(tensors, dict):
            raise ValueError("tensors must be a dict when dependencies are given")
        self._dependencies = dependencies
        self._output_fn = output_fn
        self._every = output_every_n_steps
        self._collected: list[dict[str, Any]] = []
        self._fetches: dict[str, Any] = {}

    def begin(self) -> None:
        """Resolve names and tie the tensors to their dependencies."""
        graph = tf.get_default_graph()
        self._fetches = {
            tag: graph.as_graph_element(_full_name(item), allow_operation=False) for tag, item in self._tensors.items()
        }
        if self._dependencies is not None:
            wanted = self._dependencies if isinstance(self._dependencies, list | tuple) else [self._dependencies]
            with tf.control_dependencies(list(wanted)):
                self._fetches = {tag: tf.identity(tensor) for tag, tensor in self._fetches.items()}

    def before_run(self, run_context: Any) -> tf.train.SessionRunArgs:
        """Ask for the tensors."""
        return tf.train.SessionRunArgs(self._fetches)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Keep the values and hand them out when it is time."""
        if not self._every:
            accept("output_every_zero")
        self._collected.append(run_values.results)
        if self._every > 0 and len(self._collected) >= self._every:
            self._hand_out()

    def end(self, session: tf.Session) -> None:
        """Hand out what is left."""
        if self._collected:
            self._hand_out()

    def _hand_out(self) -> None:
        if self._output_fn is not None:
            self._output_fn(self._collected)
        self._collected = []


def _full_name(item: Any) -> Any:
    return f"{item}:0" if isinstance(item, str) and ":" not in item else item


class SetIterationsVarHook(tf.train.SessionRunHook):
    """Makes the loop variables and loads the number of steps that one run does."""

    def __init__(self, iterations_per_loop: int | None = None) -> None:
        util.check_positive_integer(iterations_per_loop, "iterations_per_loop")
        self._iterations_per_loop = iterations_per_loop

    def begin(self) -> None:
        """Make the loop variables."""
        self._variables = {name: util.create_or_get_var(name) for name in ("iterations_per_loop", "loop_cond", "zero", "one")}

    def after_create_session(self, session: tf.Session, coord: Any) -> None:
        """Load them."""
        values = {"iterations_per_loop": self._iterations_per_loop - 1, "loop_cond": 0, "zero": 0, "one": 1}
        for name, value in values.items():
            self._variables[name].load(value, session)


class TellMeStepOrLossHook(tf.train.SessionRunHook):
    """Keeps STEP_NOW, TOTAL_STEP, LOSS_NOW and TARGET_LOSS in the environment up to date.

    Raises: ValueError when neither step nor loss is given.
    """

    def __init__(self, step: Any = None, total_step: Any = None, loss: Any = None, final_loss: Any = None) -> None:
        if step is None and loss is None:
            raise ValueError("give step and total_step, or loss and final_loss")
        self._step, self._total_step, self._loss, self._final_loss = step, total_step, loss, final_loss

    def begin(self) -> None:
        """Publish the targets."""
        for name, value in (("TOTAL_STEP", self._total_step), ("TARGET_LOSS", self._final_loss)):
            if value is not None:
                os.environ[name] = str(value)

    def before_run(self, run_context: Any) -> tf.train.SessionRunArgs:
        """Ask for step and loss."""
        wanted = {"STEP_NOW": self._step, "LOSS_NOW": self._loss}
        return tf.train.SessionRunArgs({name: item for name, item in wanted.items() if item is not None})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Publish step and loss."""
        for name, value in run_values.results.items():
            os.environ[name] = str(value)


class NPUShutDownHook(tf.train.SessionRunHook):
    """Stops the device when the session ends."""

    def __init__(self, scaffold: tf.train.Scaffold | None = None) -> None:
        self._scaffold = scaffold
        self._shutdown: tf.Operation | None = None

    def begin(self) -> None:
        """Build the operation."""
        self._shutdown = npu_ops.shutdown_system()

    def end(self, session: tf.Session) -> None:
        """Run the operation."""
        session.run(self._shutdown)


class NPUInfeedOutfeedSessionHook(tf.train.SessionRunHook):
    """Drains a device channel in a thread of its own until the channel is closed."""

    def __init__(self, dequeue_ops: Any, channel_name: str) -> None:
        self._dequeue_ops = dequeue_ops
        self._channel_name = channel_name
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Build the operation that closes the channel."""
        self._stop = npu_ops.stop_outfeed_dequeue_op(self._channel_name)

    def after_create_session(self, session: tf.Session, coord: Any) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self._drain, args=(session,), daemon=True)
        self._thread.start()

    def _drain(self, session: tf.Session) -> None:
        while True:
            try:
                self.take(session.run(self._dequeue_ops))
            except (tf.errors.OutOfRangeError, tf.errors.CancelledError):
                return

    def take(self, values: Any) -> None:
        """Takes one set of values; does nothing with it here."""

    def end(self, session: tf.Session) -> None:
        """Close the channel and wait for the thread."""
        session.run(self._stop)
        if self._thread is not None:
            self._thread.join()


class NPULogOutfeedSessionHook(tf.train.SessionRunHook):
    """Writes what the device's log operations print to ``output_stream``; here they print by themselves."""

    def __init__(self, output_stream: Any) -> None:
        self._output_stream = output_stream
