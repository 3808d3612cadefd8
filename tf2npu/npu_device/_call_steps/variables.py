"""The variables of eager code that functions are called with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from npu_device._call_steps.call_graph import EagerVariable
from tensorflow.python.ops import resource_variable_ops

from npu_formats.user_frames import calling_line
from npu_runtime.importers.tensorflow.eager_values import is_resource
from npu_runtime.importers.tensorflow.handles import read_handle

_PLACE = "_npu_place"
"""Attribute of a variable: the "file:line" of the script that made it."""


class _Frame(NamedTuple):
    filename: str
    lineno: int


@dataclass(frozen=True)
class _Origin:
    """An object of the kind that a tf.Operation has as its original: its line is that of a variable."""

    name: str
    traceback: Sequence[_Frame]
    _original_op: None = None


def note_places() -> None:
    """Note from now on where the script makes its variables."""
    original = resource_variable_ops.BaseResourceVariable.__init__

    def noted(self: Any, *arguments: Any, **named: Any) -> None:
        original(self, *arguments, **named)
        setattr(self, _PLACE, calling_line())

    resource_variable_ops.BaseResourceVariable.__init__ = noted


class EagerVariables:
    """All that functions were called with so far: inner graphs, as loops have, know handles alone."""

    def __init__(self) -> None:
        self._known: dict[str, EagerVariable] = {}

    def of(self, func_graph: Any, arguments: Sequence[Any]) -> list[EagerVariable | None]:
        """The variable that each argument of a call leads to, None for what is none."""
        self._meet(func_graph)
        return [self._variable(tensor, one.op.name) for tensor, one in zip(arguments, func_graph.inputs, strict=True)]

    def _meet(self, func_graph: Any) -> None:
        for reference in func_graph._weak_variables:
            variable = reference()
            handle = read_handle(variable.handle) if variable is not None and is_resource(variable.handle) else None
            if handle is not None and handle.name not in self._known:
                name = variable.name.partition(":")[0]
                self._known[handle.name] = EagerVariable(handle, name, bool(variable.trainable), _origin(variable))

    def _variable(self, tensor: Any, name: str) -> EagerVariable | None:
        handle = read_handle(tensor) if is_resource(tensor) else None
        if handle is None:
            return None
        return self._known.setdefault(handle.name, EagerVariable(handle, name, is_trainable=False))


def _origin(variable: Any) -> _Origin | None:
    file, _, line = getattr(variable, _PLACE, "").rpartition(":")
    return _Origin(variable.name, (_Frame(file, int(line)),)) if file else None
