"""Looks for the smallest change of options with which a run agrees with the original, and tries it once more."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from npu_bridge._check.device_run import DeviceRun
from npu_bridge._check.step_graph import StepGraph
from npu_bridge._check.stored_steps import StepValues
from npu_bridge._check.verdict import RunErrors, Tolerances, Yardstick, as_json
from tensorflow.python.framework import errors_impl

from npu_runtime.analysis.fusion_choices import fusion_candidates, fusion_change
from npu_runtime.analysis.least_change import LeastChange, with_files
from npu_runtime.analysis.minimal_subset import Candidate, MinimalSubset, minimal_subset
from npu_runtime.analysis.precision_choices import (
    ReducedNode,
    precision_candidates,
    precision_change,
    reduced_nodes,
    with_precision_choice,
)
from npu_runtime.config import RuntimeConfig
from npu_runtime.errors import DeviceError
from tf2npu.files.temporary import temporary_folder


@dataclass(frozen=True)
class StepInputs:
    """What a step began with, in every run.  begins: variables, None to go on from those of the step before."""

    graph: StepGraph
    original: StepValues
    sources: Mapping[str, np.ndarray]
    begins: Mapping[str, np.ndarray] | None


@dataclass
class LeastChangeSearch:
    """device, config: of the run that is off.  steps: all of them; wrong: the first that is off."""

    device: DeviceRun
    config: RuntimeConfig
    tolerances: Tolerances
    yardstick: Yardstick
    loss: str
    original_loss: str
    steps: Sequence[StepInputs]
    wrong: int
    deadline: float

    def of_precision(self, suspects: Sequence[str]) -> dict[str, Any] | None:
        """Nodes that stay in fp32, in the record's form; None where they do not help.  suspects: nodes seen to be off."""
        nodes = self._reduced()
        found = self._searched(precision_candidates(nodes, suspects), lambda names: with_precision_choice(self.config, names))
        return self._told(found, lambda: precision_change(found, nodes, self.config, _files_of(self.config)))

    def of_fusion(self) -> dict[str, Any] | None:
        """Passes that stay off, and the folding of constants."""

        def without(names: frozenset[str]) -> RuntimeConfig:
            from dataclasses import replace

            return replace(self.config, switched_off=self.config.switched_off | names)

        found = self._searched(fusion_candidates(self.config), without)
        return self._told(found, lambda: fusion_change(found, self.config))

    def _reduced(self) -> list[ReducedNode]:
        self.device.reconfigure(self.config)
        step = self.steps[self.wrong]
        return reduced_nodes(self.device.typed_graph(step.graph, step.sources, self.loss))

    def _searched(self, candidates: Sequence[Candidate], choose: Callable[[frozenset[str]], RuntimeConfig]) -> MinimalSubset:
        return minimal_subset(candidates, lambda names: self._mends(choose(names)), lambda: time.monotonic() < self.deadline)

    def _mends(self, config: RuntimeConfig) -> bool:
        """Whether the step that is off is right: its loss first, which alone is cheap, then what it changes."""
        step = self.steps[self.wrong]
        self.device.reconfigure(config)
        try:
            loss = self.device.loss(step.graph, step.sources, step.begins, self.loss)
            errors = RunErrors()
            errors.add_step(loss, step.original, self.original_loss, {})
            if "" in errors.off(self.tolerances, self.yardstick):
                return False
            return not self._errors([step]).off(self.tolerances, self.yardstick)
        except (DeviceError, errors_impl.OpError):
            return False

    def _errors(self, steps: Sequence[StepInputs]) -> RunErrors:
        errors = RunErrors()
        for step in steps:
            made = self.device.step(step.graph, step.sources, step.begins, self.loss)
            errors.add_step(float(made.tensors[self.loss]), step.original, self.original_loss, made.after)
        return errors

    def _told(self, found: MinimalSubset, change_of: Callable[[], LeastChange]) -> dict[str, Any] | None:
        """The change as the record has it, after a run of all steps with nothing but its files."""
        if not found.names:
            return None
        change = change_of()
        with temporary_folder() as folder:
            self.device.reconfigure(with_files(self.config, change, folder))
            errors = self._errors(self.steps)
        is_proven = found.is_minimal and not errors.off(self.tolerances, self.yardstick)
        return {
            "kind": change.kind, "names": list(change.names), "loss": [as_json(value) for value in errors.loss],
            "loss_error": as_json(errors.loss_error), "is_proven": is_proven, "n_tried": found.n_tests,
            "files": dict(change.files),
        }  # fmt: skip


def _files_of(config: RuntimeConfig) -> dict[str, str]:
    """Texts of the files that the session has already, which a new one must go on from."""
    given = {"customize_dtypes.cfg": config.parameters.get("customize_dtypes"), "modify_mixlist.json": config.precision.mixlist}
    found = {}
    for name, path in given.items():
        if isinstance(path, str) and path and Path(path).is_file():
            found[name] = Path(path).read_text(encoding="utf-8")
    return found
