"""The migrated script's first training steps, each in every run: on TensorFlow's CPU, and on the device with each choice.

All begin with the original's variables and batches, so that a run differs by what it computes and by nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from npu_bridge import _options
from npu_bridge._check import variable_values
from npu_bridge._check.checked_run import CheckedRun, Context
from npu_bridge._check.device_run import DeviceRun, in_graph_types, in_mode
from npu_bridge._check.distances import is_equal
from npu_bridge._check.original import AGAIN, end
from npu_bridge._check.plain_step import sources_of
from npu_bridge._check.session_hooks import USERS_CONFIG
from npu_bridge._check.step_graph import Asked, StepGraph
from npu_bridge._check.stored_steps import StepValues, StoredSteps
from npu_bridge._check.verdict import OF_16_BITS, OF_GRAPH_TYPES, Yardstick, as_json
from npu_bridge._session_hooks import parameters_of

from npu_runtime.analysis.precision_policy import load_policy
from npu_runtime.config import ORIGIN, RuntimeConfig, load_config
from npu_runtime.device.chip import load_chip

RECORD = "record.json"
DEFAULT_MODE = "allow_mix_precision"


@dataclass
class Settings:
    """modes: to look at, () for the script's own and allow_mix_precision.  is_free: variables are copied in the first step only.
    deadline: of time.monotonic.
    """

    modes: tuple[str, ...] = ()
    is_free: bool = False
    deadline: float = field(default_factory=lambda: time.monotonic() + 600)


class MigratedSteps:
    """Takes the migrated script's training steps."""

    def __init__(self, steps: StoredSteps, settings: Settings) -> None:
        self._steps, self._settings = steps, settings
        self._facts = steps.facts()
        again = steps.document(AGAIN) or {"losses": [], "updates": {}, "updates_16": {}, "unlike": []}
        self._again = again["losses"]
        self._yardstick = Yardstick(self._self_distance(), again["updates"], again["updates_16"], frozenset(again["unlike"]))
        self._runs: list[CheckedRun] = []
        self._unlike: list[str] = []
        self._context: Context | None = None
        self._step = 0

    def _self_distance(self) -> float:
        ours = [float(self._steps.get(i).tensors[self._facts.loss]) for i in range(len(self._again))] if self._facts.loss else []
        pairs = [(one, other) for one, other in zip(self._again, ours, strict=False) if one is not None and other]
        return max((abs(one - other) / abs(other) for one, other in pairs), default=0.0)

    def step(self, session: Any, asked: Asked, feeds: Mapping[str, np.ndarray]) -> list[Any]:
        """Make the step in every run; the script gets what TensorFlow's CPU gave."""
        original = self._steps.get(self._step)
        graph = StepGraph(session.graph, asked)
        if self._context is None:
            self._open(session, graph)
        assert self._context is not None
        self._context.follow(graph)
        own = sources_of(session, graph, feeds)
        self._note_data(own, original)
        sources = {name: _same_shape(original.sources.get(name), value) for name, value in own.items()}
        before = {**variable_values.read(session, graph.variables), **original.before}
        begins = before if self._step == 0 or not self._settings.is_free else None
        result: list[Any] = []
        for run in self._runs:
            made = run.step(session, self._step, original, sources, begins)
            result = made if run.name == "B" else result
        self._step += 1
        if self._step == self._facts.steps:
            self.close()
            end()
        return result

    def _open(self, session: Any, graph: StepGraph) -> None:
        config = load_config({**_options.of_process, **(parameters_of(getattr(session, USERS_CONFIG, None)) or {})})
        loss = self._facts.loss if self._facts.loss.rpartition(":")[0] in graph.by_name else graph.loss
        self._context = Context(graph, loss, self._facts, self._yardstick)
        self._runs = [CheckedRun("B", "", None, OF_GRAPH_TYPES, self._context)]
        plain = in_graph_types(config)
        users = getattr(session, USERS_CONFIG, None)
        for name, mode, chosen in _choices(config, plain, self._settings.modes):
            tolerances = OF_16_BITS if mode else OF_GRAPH_TYPES
            made = DeviceRun(session.graph, users, chosen)
            self._runs.append(CheckedRun(name, mode, made, tolerances, self._context, chosen))

    def _note_data(self, own: Mapping[str, np.ndarray], original: StepValues) -> None:
        """Batches that are not the original's, though TensorFlow gives the original the same ones twice."""
        for name, value in own.items():
            theirs = original.sources.get(name)
            if theirs is not None and name not in self._yardstick.unlike and not is_equal(value, theirs):
                self._unlike.append(name)

    def close(self) -> None:
        """Write what was found."""
        assert self._context is not None
        runs = [
            self._original_run("A", [self._loss_of(i) for i in range(self._facts.steps)]),
            self._original_run("A'", self._again),
        ]
        runs += [run.conclude(self._unlike) for run in self._runs]
        document = {
            "format": 1, "steps": self._step, "loss": self._facts.loss, "self_distance": as_json(self._yardstick.loss),
            "randomness": [self._context.randomness(name) for name in sorted(self._yardstick.unlike)],
            "is_complete": True, "stopped": "", "runs": runs, "nodes": self._context.node_rows(self._runs),
            "unmatched": self._context.n_unmatched,
        }  # fmt: skip
        self._steps.put_document(RECORD, document)

    def _loss_of(self, step: int) -> float | None:
        value = self._steps.get(step).tensors.get(self._facts.loss)
        return None if value is None else float(value)

    def _original_run(self, name: str, loss: list[float | None]) -> dict[str, Any]:
        return {"run": name, "mode": "", "loss": [as_json(value) for value in loss], "agrees": True, "failure": None}


def _choices(asked: RuntimeConfig, plain: RuntimeConfig, modes: tuple[str, ...]) -> list[tuple[str, str, RuntimeConfig]]:
    """Name, mode and options of each run on the device; neighbours differ in one thing."""
    from dataclasses import replace

    own = [asked.precision.mode] if asked.precision.mode not in ("", ORIGIN) else []
    wanted = list(dict.fromkeys(mode for mode in modes or (*own, DEFAULT_MODE) if mode != ORIGIN))
    fused = replace(plain, fusion=asked.fusion, switched_off=asked.switched_off)
    found = [("C", "", replace(plain, fusion=False)), ("D", "", fused)]
    chip = load_chip(asked.soc)
    for mode in wanted:
        chosen = in_mode(fused, asked, mode)
        found.append(("E", mode, chosen))
        if chip.saturates and load_policy(chosen, chip).uses_float16:
            found.append(("F", mode, replace(chosen, overflow="saturation")))
    return found


def _same_shape(theirs: np.ndarray | None, own: np.ndarray) -> np.ndarray:
    return theirs if theirs is not None and theirs.shape == own.shape else own
