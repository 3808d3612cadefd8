"""A loop of eager code that is run turn by turn, as its body asks an iterator or the script for something."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from npu_runtime.analysis.host_values import is_free_constant
from npu_runtime.graph.ir import Value
from npu_runtime.graph.ops import HANDLES
from npu_runtime.importers.tensorflow.function_graph import ARGUMENTS, IS_VALUE, FunctionImporter
from npu_runtime.importers.tensorflow.residency import ResidentVariable


class Program(Protocol):
    """A function as a program, see FunctionProgram."""

    def compute(self, values: Sequence[Any], handles: Mapping[str, Any]) -> list[Any]: ...

    def restart_generators(self) -> None: ...

    def close(self) -> None: ...


Make = Callable[[Any, Sequence[ResidentVariable | None], frozenset[int]], Program]
"""make(func_graph, variables, lists): a program, see FunctionProgram."""


class DrivenLoop:
    """One loop of one function.

    importer: of the function.  name: of the loop's node.  variables: of the function, by the names of its inputs.
    """

    def __init__(
        self, importer: FunctionImporter, name: str, variables: Mapping[str, ResidentVariable], make: Make
    ) -> None:  # fmt: skip
        node = importer.graph[name]
        arguments: Sequence[Value] = node.attrs[ARGUMENTS]
        is_handle = [not one for one in node.attrs[IS_VALUE]]
        self._lists = frozenset(i for i, spec in enumerate(node.outputs) if spec.dtype in HANDLES and not is_handle[i])
        self._values = [str(value) for value, one in zip(arguments, is_handle, strict=True) if not one]
        self._constants = {
            str(value): importer.graph.spec(value).value for value in arguments if is_free_constant(importer.graph[value.node])
        }
        self._results = [str(Value(name, i)) for i, one in enumerate(is_handle) if not one]
        given = [value.node if one else "" for value, one in zip(arguments, is_handle, strict=True)]
        bound = [variables.get(one) for one in given]
        self._condition, self._condition_handles = self._program(importer.function(node.attrs["cond"]), given, bound, make)
        self._body, self._body_handles = self._program(importer.function(node.attrs["body"]), given, bound, make)

    def _program(
        self, func_graph: Any, given: Sequence[str], bound: Sequence[ResidentVariable | None], make: Make
    ) -> tuple[Program, dict[str, str]]:
        """A function of the loop, and for each of its handles the input of the outer function that it is."""
        handles = {t.op.name: name for t, name in zip(func_graph.inputs, given, strict=True) if name}
        return make(func_graph, bound, self._lists), handles

    def run(self, known: Mapping[str, Any], handles: Mapping[str, Any]) -> dict[str, Any]:
        """All turns.  known: values of the outer function by name.  handles: eager ones by the names of its inputs."""
        known = {**self._constants, **known}
        state = [_array(known[name]) for name in self._values]
        for_condition = {inner: handles[outer] for inner, outer in self._condition_handles.items()}
        for_body = {inner: handles[outer] for inner, outer in self._body_handles.items()}
        while bool(self._condition.compute(state, for_condition)[0]):
            state = [_array(value) for value in self._body.compute(state, for_body)]
        return dict(zip(self._results, state, strict=True))

    def restart_generators(self) -> None:
        """Let stateful random operations begin anew."""
        self._condition.restart_generators()
        self._body.restart_generators()

    def close(self) -> None:
        """Give back what belongs to this loop alone."""
        self._condition.close()
        self._body.close()


def _array(value: Any) -> Any:
    """A fetched value to be fed again: a number as an array, a list of the device as it is."""
    return np.asarray(value) if isinstance(value, np.generic) else value
