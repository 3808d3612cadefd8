"""One function of eager code, called with one set of variables, as programs of the device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from npu_runtime.analysis.loop_segments import Segment, loop_segments
from npu_runtime.graph.ir import Graph, Value
from npu_runtime.graph.ops import DRIVEN_LOOP, FEED, HOST_RESOURCE, SOURCES, STRUCTURAL, VARIABLES
from npu_runtime.importers.tensorflow.eager_host import EagerHost
from npu_runtime.importers.tensorflow.eager_values import eager_tensor, fed_array, is_handle, written_inputs
from npu_runtime.importers.tensorflow.function_graph import FunctionImporter
from npu_runtime.importers.tensorflow.residency import Residency, ResidentVariable
from npu_runtime.session.driven_loop import DrivenLoop
from npu_runtime.session.observed_session import ObservedSession
from npu_runtime.session.plan import Request
from npu_runtime.session.session_state import SessionState

_MOVES_ONLY = SOURCES | VARIABLES | STRUCTURAL | {FEED, HOST_RESOURCE, "ReadVariableOp", "Identity", "IdentityN"}
"""Ops that compute nothing."""


class FunctionProgram(ObservedSession):
    """Runs one function on the device.

    func_graph: its FuncGraph.  variables: the variable behind each of its inputs, None for what is none.  residency: of the
    session.  state: of the session.  label: what the run log calls it.  place: "file:line" of its first call.
    lists: positions of inputs, and of outputs, that are lists of tensors on the device.
    """

    def __init__(
        self,
        func_graph: Any,
        variables: Sequence[ResidentVariable | None],
        residency: Residency,
        state: SessionState,
        label: str,
        place: str = "",
        lists: frozenset[int] = frozenset(),
    ) -> None:
        self._inputs, self._outputs = list(func_graph.inputs), list(func_graph.outputs)
        self._variables = {t.op.name: v for t, v in zip(self._inputs, variables, strict=True) if v is not None}
        names = frozenset(self._inputs[i].op.name for i in lists)
        self._function_importer = FunctionImporter(
            func_graph, {name: v.handle for name, v in self._variables.items()}, place, names
        )
        self._function_host = EagerHost(func_graph, self._function_importer.definition, self._renew)
        super().__init__(self._function_importer, self._function_host, state, label)
        self._residency, self._called_at = residency, place
        self._fed = [i for i, tensor in enumerate(self._inputs) if i in lists or not is_handle(tensor)]
        self._handles = {t.op.name: i for i, t in enumerate(self._inputs) if is_handle(t) and i not in lists}
        self._results = [tensor for i, tensor in enumerate(self._outputs) if i in lists or not is_handle(tensor)]
        with state.lock:
            if self._importer.update():
                self._place()
        self._leave_out_unread()
        self._segments = self._requests(func_graph)
        self._loops: dict[str, DrivenLoop] = {}
        self._part(written_inputs(func_graph))

    def computes(self) -> bool:
        """Whether the device has anything to do for the function."""
        if len(self._segments) > 1:
            return True
        with self._state.lock:
            plan = self._current_plan(self._segments[0][1])
        return _computes(plan.main)

    def restart_generators(self) -> None:
        """Let stateful random operations begin anew."""
        for state in self._generators.values():
            state.clear()
        for loop in self._loops.values():
            loop.restart_generators()

    def _leave_out_unread(self) -> None:
        """Feed only what is read: the shapes of the rest must not make another program."""
        graph, resolve = self._importer.graph, self._importer.resolve
        read = {value for node in graph for value in node.inputs} | {resolve(tensor.name) for tensor in self._results}
        self._used = [k for k, i in enumerate(self._fed) if resolve(self._inputs[i].name) in read]
        self._fed = [self._fed[k] for k in self._used]

    def _requests(self, func_graph: Any) -> list[tuple[Segment, Request]]:
        """The parts of a call and what each asks for."""
        graph, resolve = self._importer.graph, self._importer.resolve
        fetches = [resolve(tensor.name) for tensor in self._results]
        targets = [operation.name for operation in func_graph.control_outputs]
        known = [resolve(self._inputs[i].name) for i in self._fed]
        made = []
        segments = loop_segments(graph, fetches, targets)
        for segment in segments:
            read = {value for node in graph if node.name not in segment.ran for value in node.inputs} | set(segment.fetches)
            feeds = tuple(str(value) for value in dict.fromkeys(known) if len(segments) == 1 or value in read)
            request = Request(tuple(map(str, segment.fetches)), segment.targets, feeds, ran=segment.ran)
            made.append((segment, request))
            known += segment.fetches
            if segment.loop is not None:
                known += [Value(segment.loop, i) for i in range(len(graph[segment.loop].outputs))]
        return made

    def _part(self, written: frozenset[int]) -> None:
        """Tell the variables that the device has from those that its host calls use."""
        on_host = self._placement.reasons
        self._read: list[ResidentVariable] = []
        self._looked_at: list[ResidentVariable] = []
        self._written: list[ResidentVariable] = []
        self._changed_by_host: list[ResidentVariable] = []
        for position, tensor in enumerate(self._inputs):
            variable = self._variables.get(tensor.op.name)
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
        values = [fed_array(arguments[i]) for i in self._fed]
        results = self._compute(values, {name: arguments[i] for name, i in self._handles.items()})
        return [eager_tensor(value, tensor.dtype) for value, tensor in zip(results, self._outputs, strict=True)]

    def compute(self, values: Sequence[np.ndarray], handles: Mapping[str, Any]) -> list[Any]:
        """The results that are no handles.  values: of the inputs that are none.  handles: eager ones by the input's name."""
        return self._compute([values[i] for i in self._used], handles)

    def _compute(self, values: Sequence[np.ndarray], handles: Mapping[str, Any]) -> list[Any]:
        """The same, of the values that are read."""
        self._before()
        try:
            with self._function_host.given(handles):
                if len(self._segments) == 1:
                    return self.run(self._segments[0][1], values)
                return self._run_parts(values, handles)
        finally:
            self._behind()

    def _run_parts(self, values: Sequence[np.ndarray], handles: Mapping[str, Any]) -> list[Any]:
        known: dict[str, Any] = {str(Value(self._inputs[i].op.name)): value for i, value in zip(self._fed, values, strict=True)}
        results: list[Any] = []
        for segment, request in self._segments:
            results = self.run(request, [known[name] for name in request.feeds])
            known.update(zip(request.fetches, results, strict=True))
            if segment.loop is not None:
                known.update(self._loop(segment.loop, handles).run(known, handles))
        return results

    def _loop(self, name: str, handles: Mapping[str, Any]) -> DrivenLoop:
        if name not in self._loops:
            self._loops[name] = DrivenLoop(self._function_importer, name, self._variables, self._make)
        return self._loops[name]

    def _make(
        self, func_graph: Any, variables: Sequence[ResidentVariable | None], lists: frozenset[int]
    ) -> FunctionProgram:  # fmt: skip
        label = f"{self.function}, loop: {func_graph.name}"
        return FunctionProgram(func_graph, variables, self._residency, self._state, label, self._called_at, lists)

    def _renew(self) -> None:
        """Bring what TensorFlow has newer to the device."""
        for variable in self._read:
            if variable.is_device_old:
                variable.to_device(self._residency.copies)

    def _before(self) -> None:
        self._renew()
        for variable in self._looked_at:
            variable.to_host(self._residency.copies)
        for variable in self._written:
            variable.is_host_old = True

    def _behind(self) -> None:
        for variable in self._written:
            variable.is_host_old = True
            if variable.is_shared:
                variable.to_host(self._residency.copies)
        for variable in self._changed_by_host:
            variable.is_device_old = True

    def close(self) -> None:
        """Give back what belongs to this function alone."""
        self._is_closed = True
        self._host.close()
        self._plans.clear()
        for loop in self._loops.values():
            loop.close()


def _computes(graph: Graph) -> bool:
    return any(node.host_reason is None and node.op not in _MOVES_ONLY and node.op != DRIVEN_LOOP for node in graph)
