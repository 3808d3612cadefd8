"""Hooks on the calls of functions by eager code: each is handed to a tool as a step, or goes on as it is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from npu_bridge._check.session_hooks import is_passing
from npu_device._call_steps.called_function import LOOP, CalledFunction, Take
from npu_device._call_steps.driven_loop import call_in_turns
from npu_device._call_steps.tape_roots import adopt_roots
from npu_device._call_steps.variables import EagerVariables
from tensorflow.python.eager import record
from tensorflow.python.eager.polymorphic_function import atomic_function

_original: dict[str, Callable[..., Any]] = {}
_steps: list[CallSteps] = []


class CallSteps:
    """The functions of a process.  take: makes a step.  takes_all: whether calls that do not train are steps, too."""

    def __init__(self, take: Take, *, takes_all: bool) -> None:
        self._take, self._takes_all = take, takes_all
        self._variables = EagerVariables()
        self._known: WeakKeyDictionary[Any, dict[tuple[str, ...], CalledFunction]] = WeakKeyDictionary()
        self._left: WeakSet[Any] = WeakSet()
        self._lock = threading.RLock()

    def call(self, func_graph: Any, arguments: Sequence[Any]) -> list[Any] | None:
        """The results of a call; None where it is no step, as all are that code of the script calls inside of one."""
        if is_passing() or func_graph in self._left or not self._lock.acquire(blocking=False):
            return None
        try:
            with record.stop_recording():
                return self._called(func_graph, arguments)
        finally:
            self._lock.release()

    def _called(self, func_graph: Any, arguments: Sequence[Any]) -> list[Any] | None:
        found = self._function(func_graph, arguments)
        if found.why_not == LOOP:
            return call_in_turns(func_graph, arguments, self.call)
        if found.why_not or not (found.computes if self._takes_all else found.trains):
            self._left.add(func_graph)
            self._known.pop(func_graph)
            return None
        return found.call(arguments, self._take)

    def _function(self, func_graph: Any, arguments: Sequence[Any]) -> CalledFunction:
        variables = self._variables.of(func_graph, arguments)
        binding = tuple("" if one is None else one.handle.name for one in variables)
        known = self._known.setdefault(func_graph, {})
        if binding not in known:
            known[binding] = CalledFunction(func_graph, variables)
            adopt_roots(known[binding].call_graph)
        return known[binding]


def install(steps: CallSteps) -> None:
    """Hand every later call to the steps; what is none of them runs on TensorFlow's CPU."""
    _steps[:] = [steps]
    if not _original:
        _original["call_flat"] = atomic_function.AtomicFunction.call_flat
        atomic_function.AtomicFunction.call_flat = _call_flat


def _call_flat(self: Any, *arguments: Any) -> Any:
    if self._bound_context.executing_eagerly() and len(arguments) == len(self.graph.inputs):
        with atomic_function.InterpolateRuntimeError(self):
            results = _steps[0].call(self.graph, arguments)
        if results is not None:
            return results or None
    return _original["call_flat"](self, *arguments)
