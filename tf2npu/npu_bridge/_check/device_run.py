"""A step on the simulated device with one choice of options, from given variables and sources."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from npu_bridge._check.plain_step import RanStep
from npu_bridge._check.step_graph import StepGraph
from npu_bridge._check.variable_values import assignments

from npu_runtime.config import ORIGIN, Precision, RuntimeConfig
from npu_runtime.device.memory import ArenaPool
from npu_runtime.graph.ir import Graph
from npu_runtime.observers.dump.tensor_recorder import TensorRecorder
from npu_runtime.session import DeviceSession, Request

_OF_TYPES = frozenset(("precision_mode", "precision_mode_v2", "modify_mixlist", "customize_dtypes"))
_TOOLS = (
    "enable_dump", "enable_dump_debug", "dump_", "profiling", "auto_tune", "mstune", "aoe_", "enable_exception_dump", "tuning",
)  # fmt: skip
"""Beginnings of options that write files and change no number."""


class DeviceRun:
    """users_config: the ConfigProto of the session, for the host side.  config: the choice.

    Steps may be of several graphs, as functions are; each has a session.

    arenas, recorded: memory of steps, and where their tensors are put; runs that take turns share them.  is_free: steps go on
    from the variables of the step before.
    """

    def __init__(
        self, users_config: Any, config: RuntimeConfig, arenas: ArenaPool, recorded: MutableMapping[str, np.ndarray],
        *, is_free: bool,
    ) -> None:  # fmt: skip
        self._recorder, self._recorded = TensorRecorder(recorded), recorded
        self._arenas, self._is_free = arenas, is_free
        self._users_config, self._config = users_config, config
        self._sessions: dict[Any, DeviceSession] = {}
        self._latest: Any = None
        self._variables: dict[str, np.ndarray] = {}

    def _session(self, graph: StepGraph) -> DeviceSession:
        made = self._sessions.get(graph.graph)
        if made is None:
            made = self._sessions[graph.graph] = DeviceSession(
                graph.graph, self._users_config, self._config, self._recorder, arenas=self._arenas
            )
            tables = [operation.name for operation in graph.graph.get_collection("table_initializer")]
            if tables:
                made.run(Request((), tuple(tables), ()), [])
        return made

    def step(
        self, graph: StepGraph, sources: Mapping[str, np.ndarray], variables: Mapping[str, np.ndarray] | None, loss: str
    ) -> RanStep:  # fmt: skip
        """One step.  variables: to begin with, None to go on from those of the step before.

        Raises: npu_runtime.errors.DeviceError; TensorFlow's own errors from the host.
        """
        self._begin(graph, variables)
        self._recorded.clear()
        self._recorder.is_recording = True
        asked = graph.asked
        fetches = (*asked.fetches, *([loss] if loss else []))
        feeds = _fed(sources, fetches)
        results = self._session(graph).run(Request(fetches, asked.targets, tuple(feeds)), list(feeds.values()))
        made = RanStep(results[: len(asked.fetches)], self._recorded)
        if loss:
            made.tensors[loss] = np.asarray(results[-1])
        self._recorder.is_recording = False
        made.after = self._after(graph)
        if self._is_free:
            self._variables = made.after
        else:  # the next step begins with given values
            self._session(graph).forget_values({variable.name for variable in graph.variables if variable.sets})
        return made

    def loss(
        self, graph: StepGraph, sources: Mapping[str, np.ndarray], variables: Mapping[str, np.ndarray] | None, loss: str
    ) -> float:  # fmt: skip
        """The loss of a step that changes nothing."""
        self._begin(graph, variables)
        feeds = _fed(sources, (loss,))
        return float(np.mean(self._session(graph).run(Request((loss,), (), tuple(feeds)), list(feeds.values()))[0]))

    def reconfigure(self, config: RuntimeConfig) -> None:
        """Make later steps with other options."""
        self._config = config
        for session in self._sessions.values():
            session.reconfigure(config)

    def typed_graph(self, graph: StepGraph, sources: Mapping[str, np.ndarray], loss: str) -> Graph:
        """The graph of a step in which each node has the type that it runs in."""
        fetches = (*graph.asked.fetches, *([loss] if loss else []))
        return self._session(graph).typed_graph(Request(fetches, graph.asked.targets, tuple(_fed(sources, fetches))))

    def _begin(self, graph: StepGraph, variables: Mapping[str, np.ndarray] | None) -> None:
        if variables is None and self._latest is not graph.graph:
            variables = self._variables
        self._latest = graph.graph
        if variables is not None:
            for targets, feeds in assignments(graph.variables, variables):
                self._session(graph).run(Request((), tuple(targets), tuple(feeds)), list(feeds.values()))

    def _after(self, graph: StepGraph) -> dict[str, np.ndarray]:
        reads = tuple(variable.reads for variable in graph.variables)
        values = self._session(graph).run(Request(reads, (), ()), []) if reads else []
        return {variable.name: np.asarray(value) for variable, value in zip(graph.variables, values, strict=True)}


def _fed(sources: Mapping[str, np.ndarray], fetches: Sequence[str]) -> dict[str, np.ndarray]:
    return {name: value for name, value in sources.items() if name not in fetches}


def in_graph_types(config: RuntimeConfig) -> RuntimeConfig:
    """The script's and the launcher's options, but for types, overflow and tools that write files."""
    kept = {
        name: value for name, value in config.parameters.items()
        if name not in _OF_TYPES and not name.startswith(_TOOLS)
    }  # fmt: skip
    return replace(config, precision=Precision(ORIGIN), device_defaults=False, overflow="infinity", parameters=kept)


def in_mode(config: RuntimeConfig, asked: RuntimeConfig, mode: str) -> RuntimeConfig:
    """`config` in a precision mode, with the lists of types that the script or the launcher asks for."""
    lists = {name: asked.parameters[name] for name in ("modify_mixlist", "customize_dtypes") if name in asked.parameters}
    return replace(config, precision=Precision(mode, asked.precision.mixlist), parameters={**config.parameters, **lists})
