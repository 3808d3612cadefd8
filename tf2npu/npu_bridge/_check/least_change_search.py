"""Looks for the smallest change of options with which a run agrees with the original, and tries it once more."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from npu_bridge._check.device_run import DeviceRun
from npu_bridge._check.step_graph import StepGraph
from npu_bridge._check.stored_steps import StepValues, loss_in
from npu_bridge._check.verdict import RunErrors, Tolerances, Yardstick, as_json
from tensorflow.python.framework import errors_impl

from npu_formats.delta_debugging import Candidate, MinimalSubset, minimal_subset
from npu_formats.files.temporary import temporary_folder
from npu_runtime.analysis.fusion_choices import fusion_candidates, fusion_change
from npu_runtime.analysis.fusion_switches import without_passes
from npu_runtime.analysis.minimal_settings import LeastChange, with_files
from npu_runtime.analysis.precision_choices import (
    ReducedNode,
    precision_candidates,
    precision_change,
    reduced_nodes,
    with_precision_choice,
)
from npu_runtime.config import RuntimeConfig
from npu_runtime.errors import DeviceError

Choose = Callable[[RuntimeConfig, Collection[str]], RuntimeConfig]
"""Options with some choices made."""
_MOST_ROUNDS = 4
"""Searches for one run: each is for a step that is off, and most runs are off in each step for the same reason."""


@dataclass(frozen=True)
class StepInputs:
    """The inputs of a step, the same in every run.  begins: variables, None to go on from those of the step before.

    loss: name of its tensor.
    """

    graph: StepGraph
    original: StepValues
    sources: Mapping[str, np.ndarray]
    begins: Mapping[str, np.ndarray] | None
    loss: str


@dataclass
class LeastChangeSearch:
    """device, config: of the run that is off.  steps: all of them; wrong: the first that is off."""

    device: DeviceRun
    config: RuntimeConfig
    tolerances: Tolerances
    yardstick: Yardstick
    steps: Sequence[StepInputs]
    wrong: int
    deadline: float

    def of_precision(self, suspects: Sequence[str]) -> dict[str, Any] | None:
        """Nodes that stay in fp32, in the record's form; None where they do not help.  suspects: nodes seen to be off."""
        nodes = self._reduced()
        candidates = precision_candidates(nodes, suspects)
        return self._rounds(
            candidates, with_precision_choice, lambda found: precision_change(found, nodes, self.config, _files_of(self.config))
        )

    def of_fusion(self) -> dict[str, Any] | None:
        """Passes that stay off, and the folding of constants."""
        return self._rounds(fusion_candidates(self.config), without_passes, lambda found: fusion_change(found, self.config))

    def _rounds(
        self, candidates: Sequence[Candidate], choose: Choose, change_of: Callable[[MinimalSubset], LeastChange]
    ) -> dict[str, Any] | None:  # fmt: skip
        """Search for the first step that is off; where what mends it leaves a later one off, search for that one, too."""
        names: tuple[str, ...] = ()
        n_tried, told = 0, None
        for _ in range(_MOST_ROUNDS):
            kept = choose(self.config, names)
            left = [candidate for candidate in candidates if candidate.name not in names]
            found = self._searched(left, partial(choose, kept))
            n_tried += found.n_tests
            if not found.names:
                break
            names += found.names
            groups = found.groups if told is None else ()
            told, wrong = self._told(change_of(found._replace(names=names, groups=groups)), found.is_minimal, n_tried)
            if told["is_proven"] or found.stopped:
                break
            self.wrong = wrong
        return told

    def _reduced(self) -> list[ReducedNode]:
        self.device.reconfigure(self.config)
        step = self.steps[self.wrong]
        return reduced_nodes(self.device.typed_graph(step.graph, step.sources, step.loss))

    def _searched(self, candidates: Sequence[Candidate], choose: Callable[[Collection[str]], RuntimeConfig]) -> MinimalSubset:
        return minimal_subset(candidates, lambda names: self._mends(choose(names)), lambda: time.monotonic() < self.deadline)

    def _mends(self, config: RuntimeConfig) -> bool:
        """Whether the step that is off is right: its loss first, which alone is cheap, then what it changes."""
        step = self.steps[self.wrong]
        self.device.reconfigure(config)
        try:
            if step.loss and not self._has_right_loss(step):
                return False
            return not self._errors([step]).off(self.tolerances, self.yardstick)
        except (DeviceError, errors_impl.OpError):
            return False

    def _has_right_loss(self, step: StepInputs) -> bool:
        errors = RunErrors()
        errors.add_step(self.device.loss(step.graph, step.sources, step.begins, step.loss), step.original, {})
        return "" not in errors.off(self.tolerances, self.yardstick)

    def _errors(self, steps: Sequence[StepInputs]) -> RunErrors:
        errors = RunErrors()
        for step in steps:
            made = self.device.step(step.graph, step.sources, step.begins, step.loss)
            errors.add_step(loss_in(made.tensors, step.loss), step.original, made.after)
        return errors

    def _told(self, change: LeastChange, is_minimal: bool, n_tried: int) -> tuple[dict[str, Any], int]:
        """The change as the record has it, after a run of all steps with nothing but its files; and the first that is off."""
        with temporary_folder() as folder:
            self.device.reconfigure(with_files(self.config, change, folder))
            errors = self._errors(self.steps)
        is_proven = is_minimal and not errors.off(self.tolerances, self.yardstick)
        told = {
            "kind": change.kind, "names": list(change.names), "loss": [as_json(value) for value in errors.loss],
            "loss_error": as_json(errors.loss_error), "is_proven": is_proven, "n_tried": n_tried, "files": dict(change.files),
        }  # fmt: skip
        return told, errors.first_wrong(self.tolerances, self.yardstick)


def _files_of(config: RuntimeConfig) -> dict[str, str]:
    """Texts of the files that the session has already, which a new one must go on from."""
    given = {"customize_dtypes.cfg": config.parameters.get("customize_dtypes"), "modify_mixlist.json": config.precision.mixlist}
    found = {}
    for name, path in given.items():
        if isinstance(path, str) and path and Path(path).is_file():
            found[name] = Path(path).read_text(encoding="utf-8")
    return found
