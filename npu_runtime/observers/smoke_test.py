"""Counts the steps of a smoke run that have trained on the device, and ends the script behind the last that is wanted.

A step counts when an optimizer's update that ran on the device has changed the value of its variable.
"""

from __future__ import annotations

import os
import threading
import zlib
from collections.abc import Callable, Mapping

import numpy as np

from npu_formats.documents.smoke_request import SmokeRequest, read_request
from npu_runtime.analysis.training_updates import trained_variables
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.ops import VARIABLES, Key, variable_key
from npu_runtime.observers.base import SessionObserver
from npu_runtime.observers.prediction.exit_script import listen, stop
from npu_runtime.observers.ran_step import ProgramStep, RanStep

Digests = dict[Key, int]


class SmokeTest(SessionObserver):
    """request: what is asked for.

    n_steps: that have trained on the device.  n_without_change: whose updates ran there and changed nothing.  n_on_host: whose
    updates all ran on the host.  tell: is called behind each step.
    """

    def __init__(self, request: SmokeRequest) -> None:
        self.request = request
        self.n_steps = self.n_without_change = self.n_on_host = 0
        self.tell: Callable[[], None] = lambda: None
        self._keys: dict[object, tuple[Key, ...] | None] = {}
        self._before: dict[tuple[int, object], Digests] = {}
        self._lock = threading.Lock()

    def before(self, step: ProgramStep) -> None:
        """Keep what the variables are that the step trains.  Raises: SystemExit where all steps have been made."""
        if self.is_over:
            stop(is_first=False)
        if keys := self._trained(step):
            self._before[threading.get_ident(), step.program] = _digests(step, keys)

    def after(self, step: RanStep) -> None:
        """Count a step.  Raises: SystemExit behind the last one, in every thread that runs another."""
        keys = self._trained(step)
        if keys is None:
            return
        before = self._before.pop((threading.get_ident(), step.program), {})
        with self._lock:
            was_over = self.is_over
            if not keys:
                self.n_on_host += 1
            elif _digests(step, keys) != before:
                self.n_steps += not was_over
            else:
                self.n_without_change += 1
            self.tell()
        if self.is_over:
            stop(is_first=not was_over)

    def has_open_step(self) -> bool:
        """Whether this thread has begun a step that trains and not ended it; it is ended then."""
        thread = threading.get_ident()
        found = [key for key in list(self._before) if key[0] == thread]
        for key in found:
            self._before.pop(key, None)
        return bool(found)

    @property
    def is_over(self) -> bool:
        """Whether the steps that are wanted have been made."""
        return self.n_steps >= self.request.steps

    def _trained(self, step: ProgramStep) -> tuple[Key, ...] | None:
        """The variables that the device trains in a step; None for a step that trains nothing."""
        key = step.program
        if key not in self._keys:
            found = trained_variables(step.graph, step.trainable())
            on_device = [
                name for name, updates in found.items()
                if name in step.graph and not all(update in step.placement.reasons for update in updates)
            ]  # fmt: skip
            nodes = [step.graph[name] for name in on_device]
            self._keys[key] = tuple(variable_key(node) for node in nodes if node.op in VARIABLES) if found else None
        return self._keys[key]


def _digests(step: ProgramStep, keys: tuple[Key, ...]) -> Digests:
    """The digest of each variable that has a value."""
    known = {key: step.variables[key] for key in keys if key in step.variables}
    return {
        key: zlib.crc32(np.ascontiguousarray(variable.read()).view(np.uint8).data)
        for key, variable in known.items() if variable.is_initialized
    }  # fmt: skip


_TESTS: dict[str, SmokeTest] = {}
"""The smoke test of this process, by the text of the request."""


def smoke_test(environment: Mapping[str, str] = os.environ) -> SmokeTest | None:
    """The one smoke test of this process, None in all that are none.  Raises: InvalidArgument for a request that is none."""
    try:
        request = read_request(environment)
    except ValueError as error:
        raise InvalidArgument(str(error)) from None
    if request is None:
        return None
    listen()
    return _TESTS.setdefault(repr(request), SmokeTest(request))
