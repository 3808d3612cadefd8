"""The migrated script's first training steps, each in every run: on TensorFlow's CPU, and on the device with each choice.

All begin with the original's variables and batches, so that a run differs by what it computes and by nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from npu_bridge._check import variable_values
from npu_bridge._check.checked_run import CheckedRun, Context
from npu_bridge._check.conclusion import Conclusion
from npu_bridge._check.corresponding_tensors import SAME
from npu_bridge._check.device_run import DeviceRun, in_graph_types, in_mode
from npu_bridge._check.distances import distance, is_alike
from npu_bridge._check.least_change_search import StepInputs
from npu_bridge._check.original import AGAIN, end
from npu_bridge._check.plain_step import sources_of
from npu_bridge._check.session_hooks import USERS_CONFIG
from npu_bridge._check.step_graph import Asked, StepGraph, StepGraphs
from npu_bridge._check.stored_steps import PartlyHeld, StepValues, StoredSteps
from npu_bridge._check.verdict import OF_16_BITS, OF_GRAPH_TYPES, Yardstick, as_json

from npu_formats.device.chip import load_chip
from npu_runtime.analysis.precision_policy import load_policy
from npu_runtime.config import ORIGIN, RuntimeConfig, load_config
from npu_runtime.device.memory import ArenaPool

RECORD = "record.json"
DEFAULT_MODE = "allow_mix_precision"
_PAUSE = 0.05
"""Seconds between two looks for the other process's file."""


@dataclass
class Settings:
    """modes: to look at, () for the script's own and allow_mix_precision.  is_free: variables are copied in the first step only.
    is_whole: not on TensorFlow's CPU alone.  deadline: of time.monotonic.
    """

    modes: tuple[str, ...] = ()
    is_free: bool = False
    is_whole: bool = True
    deadline: float = field(default_factory=lambda: time.monotonic() + 600)


class Again(NamedTuple):
    """The results of the second run of the original."""

    losses: list[float | None]
    yardstick: Yardstick


class MigratedSteps:
    """Takes the migrated script's training steps.  options_of: gives what the script asks of the device for a session."""

    def __init__(self, steps: StoredSteps, settings: Settings, options_of: Callable[[Any], Mapping[str, Any]]) -> None:
        self._steps, self._settings, self._options_of = steps, settings, options_of
        self._facts = steps.facts()
        self._graphs = StepGraphs()
        self._runs: list[CheckedRun] = []
        self._unlike: list[str] = []
        self._settings_off: dict[str, float] = {}
        self._context: Context | None = None
        self._inputs: list[StepInputs] = []
        self._step = 0
        self._stopped = ""
        self._is_closed = False

    def step(self, session: Any, asked: Asked, feeds: Mapping[str, np.ndarray]) -> list[Any]:
        """Make the step in every run; the script gets what TensorFlow's CPU gave."""
        original = self._steps.get(self._step)
        graph = self._graphs.of(session.graph, asked)
        if self._context is None:
            self._open(session, graph)
        assert self._context is not None
        loss = original.loss if original.loss.rpartition(":")[0] in graph.by_name else graph.loss
        self._context.follow(graph, loss)
        own = sources_of(session, graph, feeds)
        self._note_data(own, original)
        sources = {name: _same_shape(original.sources.get(name), value) for name, value in own.items()}
        found = variable_values.read(session, graph.variables)
        if not self._step:
            kept = {name: value for name, value in found.items() if not graph.overwrites(name)}
            self._settings_off = _unlike_settings(kept, original.before)
        more = {name: value for name, value in found.items() if name not in original.before}
        before = PartlyHeld(more, original.before, original.before)
        begins = before if self._step == 0 or not self._settings.is_free else None
        self._inputs.append(StepInputs(graph, original, sources, begins, loss))
        result: list[Any] = []
        try:
            for run in self._runs:
                made = run.step(session, self._step, original, sources, begins)
                result = result or made
                self._stopped = "budget" if time.monotonic() > self._settings.deadline else ""
                if self._stopped:
                    break
        except KeyboardInterrupt:
            self._stopped, self._settings.deadline = "interrupted", 0.0
        self._step += 1
        if self._stopped or self._step == self._facts.steps:
            self.close()
            end()
        return result

    def _open(self, session: Any, graph: StepGraph) -> None:
        config = load_config(self._options_of(session))
        self._context = Context(graph, "", self._facts)
        kept = self._steps.tensor_file("reference")
        self._runs = [CheckedRun("B", "", None, OF_GRAPH_TYPES, self._context, tensors=kept)]
        if not self._settings.is_whole:
            return
        plain = in_graph_types(config)
        users = getattr(session, USERS_CONFIG, None)
        arenas, recorded = ArenaPool(), self._steps.tensor_file("recorded")
        for name, mode, chosen in _choices(config, plain, self._settings.modes):
            tolerances = OF_16_BITS if mode or graph.has_16_bits else OF_GRAPH_TYPES
            made = DeviceRun(users, chosen, arenas, recorded, is_free=self._settings.is_free)
            self._runs.append(CheckedRun(name, mode, made, tolerances, self._context, chosen))

    def _note_data(self, own: Mapping[str, np.ndarray], original: StepValues) -> None:
        """Batches that are not the original's, though TensorFlow gives the original the same ones twice."""
        for name, value in own.items():
            theirs = original.sources.get(name)
            if theirs is not None and name not in self._unlike and not is_alike(value, theirs):
                self._unlike.append(name)

    def close(self) -> None:
        """Write what was found."""
        context = self._context
        if context is None or self._is_closed:
            return  # where the script made no step, the command says so
        self._is_closed = True
        if self._step < self._facts.steps and not self._stopped:
            self._stopped = f"the migrated script ended after {self._step} of {self._facts.steps} training steps"
        again = self._again()
        context.yardstick = again.yardstick
        unlike = [name for name in self._unlike if name not in context.yardstick.unlike]
        found = Conclusion(context, self._inputs, unlike, self._settings_off, self._settings.deadline).documents(self._runs)
        runs = [_original_run("A", self._facts.losses, _not_finite(context))]
        runs += [_original_run("A'", again.losses)] if again.losses else []
        document = {
            "format": 1, "steps": self._step, "loss": self._facts.loss, "self_distance": as_json(context.yardstick.loss),
            "randomness": [context.randomness(name) for name in sorted(context.yardstick.unlike)],
            "is_complete": not self._stopped, "stopped": self._stopped, "runs": [*runs, *found],
            "nodes": context.node_rows(self._runs), "unmatched": context.n_unmatched,
        }  # fmt: skip
        self._steps.put_document(RECORD, document)

    def _again(self) -> Again:
        """The results of the second run of the original, which may still be running; empty where the deadline comes first."""
        while (found := self._steps.document(AGAIN)) is None and time.monotonic() < self._settings.deadline:
            time.sleep(_PAUSE)
        found = found or {}
        losses = found.get("losses", [])
        pairs = zip(losses, self._facts.losses, strict=False)
        apart = [abs(one - other) / abs(other) for one, other in pairs if one is not None and other]
        yardstick = Yardstick(
            max(apart, default=0.0), found.get("updates", {}), found.get("updates_16", {}), frozenset(found.get("unlike", ()))
        )
        return Again(losses, yardstick)


def _original_run(name: str, loss: list[float | None], failure: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"run": name, "mode": "", "loss": [as_json(value) for value in loss], "agrees": True, "failure": failure}


def _not_finite(context: Context) -> dict[str, Any] | None:
    """The entry of the first tensor with a NaN or an infinity, where the original's own loss is no number; else None."""
    if not context.facts.not_finite:
        return None
    tensor, step = context.facts.not_finite
    node = tensor.rpartition(":")[0] or tensor
    op, file, line = context.place(node)
    text = f"the original's loss is no number: the first NaN or infinity is in {node} ({op}), step {step}"
    return {"type": "NaN", "text": text, "node": node, "file": file, "line": line}


def _choices(asked: RuntimeConfig, plain: RuntimeConfig, modes: tuple[str, ...]) -> list[tuple[str, str, RuntimeConfig]]:
    """Name, mode and options of each run on the device; neighbours differ in one thing."""
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


def _unlike_settings(ours: Mapping[str, np.ndarray], theirs: Mapping[str, np.ndarray]) -> dict[str, float]:
    """Variables of one number that do not begin as the original's, such as a learning rate of Keras, and how far they are off.

    All runs begin with the original's values, so no step shows it.
    """
    apart = {name: distance(value, theirs[name]) for name, value in ours.items() if name in theirs and value.size == 1}
    return {name: error for name, error in apart.items() if error > SAME}


def _same_shape(theirs: np.ndarray | None, own: np.ndarray) -> np.ndarray:
    return theirs if theirs is not None and theirs.shape == own.shape else own
