"""Eager operations of a script, which the CPU runs: those that touch a variable are given its value, and all are counted.

Source: every generated operation calls TFE_Py_FastPathExecute or TFE_Py_Execute by these names of the module pywrap_tfe.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from tensorflow.core.framework import types_pb2
from tensorflow.python import pywrap_tfe
from tensorflow.python.framework import ops
from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable

from npu_runtime.graph.ops import READING
from npu_runtime.importers.tensorflow.eager_host import HOST_CALL
from npu_runtime.importers.tensorflow.residency import Residency, ResidentVariable
from npu_runtime.importers.tensorflow.unwatched_calls import is_unwatched

counts: Counter[str] = Counter()
"""Eager operations of the script so far, by type."""
read_by_functions: dict[str, frozenset[int]] = {}
"""The inputs that functions only read which TensorFlow runs as a whole, by the name of the function."""

_KEEPS_HANDLES = re.compile(r".*Dataset(V\d+)?")
"""Types of operations that keep the handles that they are given, and read the variables behind them when nobody sees it."""
_DESTROYS, _OVERWRITES = "DestroyResourceOp", "AssignVariableOp"
_CLEAR = "TFE_ContextClearCaches"
_NAMES = ("TFE_Py_FastPathExecute", "TFE_Py_Execute", "TFE_Py_ExecuteCancelable", _CLEAR)
_original: dict[str, Callable[..., Any]] = {}
_residency: list[Residency] = []
_on_new_kernels: list[Callable[[], None]] = []


def watch(residency: Residency, on_new_kernels: Callable[[], None]) -> None:
    """Watch the operations of this process from now on.

    on_new_kernels: called when TensorFlow drops its kernels, as `tf.random.set_seed` makes it do, and with them the states of
    random operations.
    """
    _residency[:], _on_new_kernels[:] = [residency], [on_new_kernels]
    if _original:
        return
    for name in _NAMES:
        _original[name] = getattr(pywrap_tfe, name)
    pywrap_tfe.TFE_Py_FastPathExecute = _fast
    pywrap_tfe.TFE_Py_Execute = _execute
    pywrap_tfe.TFE_Py_ExecuteCancelable = _execute_cancelable
    pywrap_tfe.TFE_ContextClearCaches = _clear


def unwatch() -> None:
    """Give TensorFlow its own functions back."""
    for name, function in _original.items():
        setattr(pywrap_tfe, name, function)
    _original.clear()
    _residency.clear()
    _on_new_kernels.clear()


def _clear(ctx: Any) -> None:
    _original[_CLEAR](ctx)
    for tell in _on_new_kernels:
        tell()


def _fast(ctx: Any, op: str, name: Any, *inputs: Any) -> Any:
    run = _original["TFE_Py_FastPathExecute"]
    if is_unwatched():
        return run(ctx, op, name, *inputs)
    written = _prepare(op, inputs)
    if not written:
        return run(ctx, op, name, *inputs)
    try:
        return run(ctx, op, name, *inputs)
    finally:
        _mark(written)


def _execute(ctx: Any, device: Any, op: Any, inputs: Any, *rest: Any) -> Any:
    return _watched(_original["TFE_Py_Execute"], ctx, device, op, inputs, rest)


def _execute_cancelable(ctx: Any, device: Any, op: Any, inputs: Any, *rest: Any) -> Any:
    return _watched(_original["TFE_Py_ExecuteCancelable"], ctx, device, op, inputs, rest)


def _watched(run: Callable[..., Any], ctx: Any, device: Any, op: Any, inputs: Any, rest: tuple[Any, ...]) -> Any:
    name = op.decode() if isinstance(op, bytes) else op
    if is_unwatched() or name.startswith(HOST_CALL):
        return run(ctx, device, op, inputs, *rest)
    written = _prepare(name, inputs)
    try:
        return run(ctx, device, op, inputs, *rest)
    finally:
        _mark(written)


def _prepare(op: str, inputs: Iterable[Any]) -> list[ResidentVariable]:
    """Give TensorFlow the values that an operation may read.  Returns: the variables that it may write."""
    counts[op] += 1
    residency = _residency[0]
    if not len(residency):
        return []
    written: list[ResidentVariable] = []
    read = read_by_functions.get(op, frozenset())
    for position, (handle, is_read) in enumerate(_handles(inputs, op in READING)):
        variable = residency.seen(handle)
        if variable is None:
            continue
        if op == _OVERWRITES:
            variable.is_host_old = False
        else:
            variable.to_host(residency.copies)
        variable.is_shared |= _KEEPS_HANDLES.fullmatch(op) is not None
        if not is_read and position not in read:
            written.append(variable)
    return written


def _handles(inputs: Iterable[Any], is_read: bool) -> Iterable[tuple[Any, bool]]:
    """The handles among the inputs of an operation, and whether it only reads what they lead to; lists are looked into.

    Source: a variable among the inputs of a fast operation is read by TensorFlow itself (eager/pywrap_tfe_src.cc).
    """
    for one in inputs:
        if isinstance(one, ops.EagerTensor):
            if one._datatype_enum() == types_pb2.DT_RESOURCE:
                yield one, is_read
        elif isinstance(one, BaseResourceVariable):
            yield one.handle, True
        elif type(one) in (list, tuple):
            yield from _handles(one, is_read)


def _mark(written: Iterable[ResidentVariable]) -> None:
    for variable in written:
        variable.is_device_old = True
