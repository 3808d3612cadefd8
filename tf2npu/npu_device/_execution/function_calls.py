"""Calls of runtime functions: each is a program of the device, or runs on TensorFlow with a reason in the run log.

Source: AtomicFunction.call_flat is the one place that tf.function, concrete functions, loaded models, custom gradients and the
forward and backward functions of a tape come to (TensorFlow 2.13 to 2.15).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from npu_device._execution import eager_operations
from npu_device._execution.errors import of_device, of_host
from tensorflow.python.eager.polymorphic_function import atomic_function
from tensorflow.python.framework import dtypes, errors_impl

from npu_runtime.errors import DeviceError
from npu_runtime.importers.tensorflow.eager_values import written_inputs
from npu_runtime.importers.tensorflow.unwatched_calls import is_unwatched
from npu_runtime.session.function_session import FunctionSession

_original: dict[str, Callable[..., Any]] = {}
_session: list[FunctionSession] = []


def run_on(session: FunctionSession) -> None:
    """Run the functions that eager code calls from now on as programs of a session."""
    _session[:] = [session]
    if not _original:
        _original["call_flat"] = atomic_function.AtomicFunction.call_flat
        atomic_function.AtomicFunction.call_flat = _call_flat


def restore() -> None:
    """Give TensorFlow its own method back."""
    if _original:
        atomic_function.AtomicFunction.call_flat = _original.pop("call_flat")
    _session.clear()


def _call_flat(self: Any, *arguments: Any) -> Any:
    if is_unwatched() or not self._bound_context.executing_eagerly():
        return _original["call_flat"](self, *arguments)
    if len(arguments) != len(self.graph.inputs):
        return _original["call_flat"](self, *arguments)  # which says so
    with atomic_function.InterpolateRuntimeError(self):
        try:
            session = _session[0]
            known = session.program(self, arguments)
            if known.program is not None and not known.why_not:
                session.log.calls[known.label] += 1
                return known.program.call(arguments) or None
        except DeviceError as error:
            raise of_device(self, error) from error.__cause__
        except errors_impl.OpError as error:
            raise of_host(self, error) from None
    session.log.calls_on_tensorflow[known.label] += 1
    return _on_tensorflow(self, arguments)


def _on_tensorflow(function: Any, arguments: Any) -> Any:
    name = function.name.decode()
    if name not in eager_operations.read_by_functions:
        written, graph = written_inputs(function.graph), function.graph
        handles = [i for i, tensor in enumerate(graph.inputs) if tensor.dtype == dtypes.resource]
        eager_operations.read_by_functions[name] = frozenset(n for n, i in enumerate(handles) if i not in written)
    return _original["call_flat"](function, *arguments)
