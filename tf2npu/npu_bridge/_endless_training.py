"""Gets a training out of a loss scale that cannot fall and overflows in every step: every update is skipped, and so is the
global step that the loop waits for.

Only loops that TensorFlow ends by the global step are looked at (StopAtStepHook: Estimator's steps and max_steps, sessions that
a script gives the hook). A scale that is lowered gets out by itself, however long that takes, unless it has come down to 1: a
chip that cuts what is too large counts a mask of -1e9 as an overflow, which no scale changes.
"""

from __future__ import annotations

from typing import Any

from npu_bridge._host_differences import accept_endless
from npu_bridge._session_hooks import device_of
from tensorflow.python.framework import ops
from tensorflow.python.training import basic_session_run_hooks, monitored_session, session_run_hook, training_util

from npu_runtime.device import float_status

PATIENCE = 20
"""Runs in a row that overflowed and left the global step where it was, after which the loss scale is looked at. Looking is one
more fetch, so it is not done in every run."""

_GOES_ON = ("npu_loss_scale_goes_on",)  # a key that is no text stays out of exported graphs
_STUCK = (
    "each of the last {} runs had a result too large for 16 bits, first of {}: such a step is skipped, and a loss scale that is "
    "fixed or has come down to 1 never gets out of it. Take a lower scale or ExponentialUpdateLossScaleManager, larger batches, "
    "masks of -10000 instead of -1e9, or 32 bits for such nodes (modify_mixlist, keep_dtype_scope)"
)
_HERE = (
    "; here the session goes on in the types of the graph (precision_mode=must_keep_origin_dtype), so that the rest of the "
    "script can be tried"
)
_NOTE = (
    "precision: the types of the graph from run {} of a training on, because its steps overflowed 16 bits one after another "
    "under a loss scale that cannot fall; on a host it never ends"
)
_MADE_BY_TENSORFLOW = monitored_session._MonitoredSession.__init__


def note_way_out(goes_on: Any) -> None:
    """Remember, with the graph, the tensor that says whether a step is applied or its scale can still fall."""
    if goes_on.graph.is_fetchable(goes_on):  # not inside a condition or a loop
        ops.add_to_collection(_GOES_ON, goes_on)


class EndlessTrainingHook(session_run_hook.SessionRunHook):
    """Watches the global step and the device's overflows; when both say so, asks the optimizer whether it skips for good.

    Asking is one more fetch, so that is done once in PATIENCE runs that all overflowed and left the step where it was.
    """

    def __init__(self) -> None:
        self._goes_on = ops.get_collection(_GOES_ON)
        self._device: Any = None
        self._step: int | None = None
        self._n_overflows = self._n_in_a_row = self._n_runs = 0

    def begin(self) -> None:
        """Make the read of the global step that other hooks use too."""
        self._global_step = training_util._get_or_create_global_step_read()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Start anew."""
        self._device, self._step, self._n_in_a_row = device_of(session), None, 0
        self._n_overflows = float_status.overflows.total()

    def before_run(self, run_context: Any) -> Any:
        """Fetch the global step and, when everything else speaks for it, whether the update is applied or the scale can fall."""
        if self._device is None:
            return None
        is_suspect = self._n_in_a_row >= PATIENCE - 1
        return session_run_hook.SessionRunArgs([self._global_step, self._goes_on if is_suspect else []])

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Count, and act on the last of PATIENCE runs."""
        if run_values.results is None:
            return
        step, goes_on = run_values.results
        before, self._n_overflows = self._n_overflows, float_status.overflows.total()
        has_moved, self._step = self._step not in (None, step), step
        self._n_runs += 1
        self._n_in_a_row = self._n_in_a_row + 1 if self._n_overflows > before and not has_moved else 0
        if goes_on and self._n_in_a_row:
            self._n_in_a_row = 0
            if not any(goes_on):
                self._get_out()

    def _get_out(self) -> None:
        accept_endless(_STUCK.format(PATIENCE, next(iter(float_status.overflows))), _HERE if self._device.is_reduced else "")
        self._device.keep_graph_types(_NOTE.format(self._n_runs + 1))


def _init(self: Any, session_creator: Any, hooks: Any, *args: Any, **kwargs: Any) -> None:
    ends_by_step = any(isinstance(hook, basic_session_run_hooks.StopAtStepHook) for hook in hooks or ())
    if ends_by_step and ops.get_collection(_GOES_ON):
        hooks = [*hooks, EndlessTrainingHook()]
    _MADE_BY_TENSORFLOW(self, session_creator, hooks, *args, **kwargs)


def install() -> None:
    """Give the hook to every monitored session that needs it."""
    monitored_session._MonitoredSession.__init__ = _init


def uninstall() -> None:
    """Give monitored sessions their own method back."""
    monitored_session._MonitoredSession.__init__ = _MADE_BY_TENSORFLOW
