"""The base of callbacks, and what they are told."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

MOMENTS = ("begin", "epoch_begin", "epoch_end", "step_begin", "step_end", "end")


class Callback:
    """An object that is told of the moments of a training; a context manager for the time of it."""

    def __enter__(self) -> Callback:
        return self

    def __exit__(self, *err: Any) -> Any:
        """Ends what the callback began."""

    def begin(self, run_context: RunContext) -> None:
        """Called before the first epoch."""

    def epoch_begin(self, run_context: RunContext) -> None:
        """Called before each epoch."""

    def epoch_end(self, run_context: RunContext) -> None:
        """Called after each epoch."""

    def step_begin(self, run_context: RunContext) -> None:
        """Called before each step, before each epoch of a sunk training."""

    def step_end(self, run_context: RunContext) -> None:
        """Called after each step, after each epoch of a sunk training."""

    def end(self, run_context: RunContext) -> None:
        """Called after the last epoch."""


class CallbackManager(Callback):
    """Several callbacks as one.  Raises: TypeError for anything but a Callback or a list of them."""

    def __init__(self, callbacks: Any) -> None:
        given = [] if callbacks is None else callbacks if isinstance(callbacks, list) else [callbacks]
        for one in given:
            if not isinstance(one, Callback):
                raise TypeError(f"callbacks={callbacks!r}: a Callback or a list of them, and {one!r} is none")
        self._callbacks = list(given)
        self._stack = ExitStack()

    def __enter__(self) -> CallbackManager:
        entered = [(one, self._stack.enter_context(one)) for one in self._callbacks]
        self._callbacks = [target if isinstance(target, Callback) else one for one, target in entered]
        return self

    def __exit__(self, *err: Any) -> Any:
        return self._stack.__exit__(*err)


def _all_told(moment: str) -> Any:
    def tell(self: CallbackManager, run_context: RunContext) -> None:
        for one in self._callbacks:
            getattr(one, moment)(run_context)

    return tell


for _moment in MOMENTS:
    setattr(CallbackManager, _moment, _all_told(_moment))


class InternalCallbackParam(dict):
    """A dict whose keys are attributes: what callbacks get to know."""

    def __getattr__(self, key: str) -> Any:
        try:
            return self[key]
        except KeyError:
            raise AttributeError(f"callbacks are not told {key!r} here: {', '.join(self)}") from None

    def __setattr__(self, key: str, value: Any) -> None:
        self[key] = value


class RunContext:
    """A training as callbacks see it, and may stop it.  original_args: what they get to know, a dict."""

    def __init__(self, original_args: dict[str, Any]) -> None:
        if not isinstance(original_args, dict):
            raise TypeError(f"RunContext takes a dict, not {type(original_args).__name__}")
        self._original_args, self._stop_requested = original_args, False

    def original_args(self) -> dict[str, Any]:
        """The dict of what callbacks get to know."""
        return self._original_args

    def request_stop(self) -> None:
        """Ends the training after this step, a sunk one after this epoch."""
        self._stop_requested = True

    def get_stop_requested(self) -> bool:
        """Whether a callback has asked for the end."""
        return self._stop_requested


def step_in_epoch(told: InternalCallbackParam) -> int:
    """The number of a step in its epoch, from 1."""
    return int((told.cur_step_num - 1) % told.batch_num + 1)
