"""Host calls bound to TensorFlow: what each is fed, what it gives back, and the function that runs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from npu_runtime.analysis.host_values import variable_shown
from npu_runtime.executor.build import HostBinding
from npu_runtime.executor.watch import timeout_ms
from npu_runtime.graph.ir import Graph, Value
from npu_runtime.graph.ops import HostCall
from npu_runtime.importers.tensorflow.graphdef import GraphImporter
from npu_runtime.importers.tensorflow.host import HostSide
from npu_runtime.importers.tensorflow.host_boundary import can_cross, read_outside, with_handle_sources
from npu_runtime.observers.base import Observers
from npu_runtime.passes.place.placement import Placement


class HostCalls:
    """Binds the calls of one session.  importer: has the user's graph.  host: runs the calls.  observers: of the session."""

    def __init__(self, importer: GraphImporter, host: HostSide, observers: Observers) -> None:
        self._importer, self._host, self._observers = importer, host, observers

    def bind(self, graph: Graph, calls: Sequence[HostCall], placement: Placement) -> Mapping[HostCall, HostBinding]:
        """The binding of each host call of a program's graph; the nodes of the calls are added to the host side first."""
        names = [name for call in calls for name in with_handle_sources(graph, call.nodes)]
        self._host.add_nodes(self._importer.graph, names, placement.groups)
        return {call: self._bind(graph, call, placement) for call in calls}

    def _bind(self, graph: Graph, call: HostCall, placement: Placement) -> HostBinding:
        inside, loops = set(call.nodes), placement.loops
        feeds: dict[str, Value] = {}
        waits: dict[Value, None] = {}
        for name in with_handle_sources(graph, call.nodes):
            for tensor, value in zip(self._host.inputs_of(name), graph[name].inputs, strict=True):
                if value.node in inside:
                    continue
                if tensor == str(variable_shown(graph, graph[name], value)):
                    waits[value] = None
                elif self._host.is_fed(tensor) or can_cross(graph, name, value):
                    feeds.setdefault(tensor, value)
        fetches = read_outside(graph, inside)
        targets = [name for name in call.nodes if name not in loops or graph[name].op == "Exit"]
        names = [f"{value.node}:{value.output}" for value in fetches]
        ops = [graph[name].op for name in call.nodes]
        function = self._observers.host_call(self._host.function(list(feeds), names, targets, timeout_ms, ops), ops)
        return HostBinding(function, tuple(feeds.values()), tuple(fetches), tuple(waits))
