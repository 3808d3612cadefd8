"""One function of eager code, called with one set of variables, as a program of the device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from npu_runtime.graph.ir import Graph
from npu_runtime.graph.ops import FEED, HANDLES, HOST_RESOURCE, SOURCES, STRUCTURAL, VARIABLES
from npu_runtime.importers.tensorflow.eager_host import EagerHost
from npu_runtime.importers.tensorflow.eager_values import eager_tensor, fed_array, written_inputs
from npu_runtime.importers.tensorflow.function_graph import FunctionImporter
from npu_runtime.importers.tensorflow.residency import Residency, ResidentVariable
from npu_runtime.session.observed_session import ObservedSession
from npu_runtime.session.plan import Request
from npu_runtime.session.session_state import SessionState

_MOVES_ONLY = SOURCES | VARIABLES | STRUCTURAL | {FEED, HOST_RESOURCE, "ReadVariableOp", "Identity", "IdentityN"}
"""Ops that compute nothing."""
NOTHING_TO_COMPUTE = "nothing to compute"


class FunctionProgram(ObservedSession):
    """Runs one function on the device.

    func_graph: its FuncGraph.  variables: the variable behind each of its inputs, None for what is none.  residency: of the
    session.  state: of the session.  why_not: why it runs on TensorFlow as a whole, "" where it does not.
    """

    def __init__(
        self, func_graph: Any, variables: Sequence[ResidentVariable | None], residency: Residency, state: SessionState
    ) -> None:
        inputs = func_graph.inputs
        bound = {t.op.name: v.handle for t, v in zip(inputs, variables, strict=True) if v is not None}
        importer = FunctionImporter(func_graph, bound)
        self._function_host = EagerHost(func_graph, importer.definition, self._renew)
        super().__init__(importer, self._function_host, state)
        self._copies = residency.copies
        self._types = [tensor.dtype for tensor in func_graph.outputs]
        self._fed = [i for i, tensor in enumerate(inputs) if tensor.dtype.base_dtype.name not in HANDLES]
        self._handles = {tensor.op.name: i for i, tensor in enumerate(inputs) if tensor.dtype.base_dtype.name in HANDLES}
        self._request = Request(
            tuple(tensor.name for tensor in func_graph.outputs),
            tuple(operation.name for operation in func_graph.control_outputs),
            tuple(inputs[i].name for i in self._fed),
        )
        self.why_not = self._refusal()
        if not self.why_not:
            self._part(func_graph, variables)

    def _refusal(self) -> str:
        handles = [dtype.name for dtype in self._types if dtype.base_dtype.name in HANDLES]
        if handles:
            return f"it returns a {handles[0]}, which cannot leave the device"
        with self._state.lock:
            plan = self._current_plan(self._request)
        return "" if _computes(plan.main) else NOTHING_TO_COMPUTE

    def _part(self, func_graph: Any, variables: Sequence[ResidentVariable | None]) -> None:
        """Tell the variables that the device has from those that its host calls use."""
        written = written_inputs(func_graph)
        on_host = self._placement.reasons
        self._read, self._looked_at, self._written, self._changed_by_host = [], [], [], []
        for position, (tensor, variable) in enumerate(zip(func_graph.inputs, variables, strict=True)):
            if variable is None:
                continue
            is_host = tensor.op.name in on_host
            (self._looked_at if is_host else self._read).append(variable)
            if position in written:
                (self._changed_by_host if is_host else self._written).append(variable)

    def call(self, arguments: Sequence[Any]) -> list[Any]:
        """One call.  arguments: eager tensors, those of captures last.  Returns: eager tensors.

        Raises: npu_runtime.errors.DeviceError with the node; TensorFlow's own errors from the host side.
        """
        self._before()
        try:
            with self._function_host.given({name: arguments[i] for name, i in self._handles.items()}):
                results = self.run(self._request, [fed_array(arguments[i]) for i in self._fed])
        finally:
            self._behind()
        return [eager_tensor(value, dtype) for value, dtype in zip(results, self._types, strict=True)]

    def _renew(self) -> None:
        """Bring what TensorFlow has newer to the device."""
        for variable in self._read:
            if variable.is_device_old:
                variable.to_device(self._copies)

    def _before(self) -> None:
        self._renew()
        for variable in self._looked_at:
            variable.to_host(self._copies)
        for variable in self._written:
            variable.is_host_old = True

    def _behind(self) -> None:
        for variable in self._written:
            variable.is_host_old = True
            if variable.is_shared:
                variable.to_host(self._copies)
        for variable in self._changed_by_host:
            variable.is_device_old = True

    def close(self) -> None:
        """Give back what belongs to this function alone."""
        self._is_closed = True
        self._host.close()
        self._plans.clear()


def _computes(graph: Graph) -> bool:
    return any(node.host_reason is None and node.op not in _MOVES_ONLY for node in graph)
