"""A simulated device: its clock, the models that it has loaded, and what it did."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import overload

from npu_formats.device.chip import Chip
from npu_runtime.cost.fitted import load_fitted
from npu_runtime.cost.host import get_next_cost
from npu_runtime.simulation.clock import run_step
from npu_runtime.simulation.compiled_model import CompiledModel, tasks_of
from npu_runtime.simulation.run_record import DeviceRun, Iteration, ModelRun, TaskRun

MOST_KEPT = 200_000
"""Runs of tasks that a record keeps, the latest ones: a profile of them takes about 200 MB, and they are ten steps at least."""


@dataclass(frozen=True)
class ShiftedRuns(Sequence[TaskRun]):
    """The runs of a step that went as an earlier one did, so many microseconds later."""

    runs: Sequence[TaskRun]
    offset: float

    def __len__(self) -> int:
        return len(self.runs)

    @overload
    def __getitem__(self, index: int) -> TaskRun: ...
    @overload
    def __getitem__(self, index: slice) -> list[TaskRun]: ...
    def __getitem__(self, index: int | slice) -> TaskRun | list[TaskRun]:
        if isinstance(index, slice):
            return [self._shifted(run) for run in self.runs[index]]
        return self._shifted(self.runs[index])

    def _shifted(self, run: TaskRun) -> TaskRun:
        return TaskRun(run.task, run.start + self.offset, run.end + self.offset, run.count)


@dataclass(frozen=True)
class Issue:
    """The issue of a step by the host.  is_issued: whether it does so at all: inside of a sunk loop only the first step is.
    copies_inputs: whether the batch is copied from the host before the step; else it lies in a queue of the device, which the
    host fills beside the steps before.
    """

    is_issued: bool = True
    copies_inputs: bool = True


class SimulatedDevice:
    """One device.  now: microseconds since it was opened."""

    def __init__(self, chip: Chip, device_id: int = 0, rank_id: int = -1, n_ranks: int = 1) -> None:
        self.chip = chip
        self.record = DeviceRun(chip.name, device_id, rank_id, n_ranks=n_ranks)
        self.now = 0.0
        self._first: dict[tuple[int, Issue, tuple[tuple[str, int], ...]], Iteration] = {}
        self._kept: deque[tuple[ModelRun, int]] = deque()
        self._n_kept = 0

    def load(self, model: CompiledModel) -> ModelRun:
        """A model that the device has from now on."""
        begins, self.now = self.now, self.now + load_fitted().issue_us
        made = ModelRun(len(self.record.models) + 1, model.name, tasks_of(model.launches), (begins, self.now))
        self.record.models.append(made)
        return made

    def step(self, loaded: ModelRun, model: CompiledModel, issue: Issue, turns: Mapping[str, int] | None = None) -> Iteration:
        """Run a step, and let the clock go on to its end.  turns: of loops, by name of the task."""
        key = loaded.model_id, issue, tuple(sorted((turns or {}).items()))
        issued = self.now, self.now + (load_fitted().issue_us if issue.is_issued else 0.0)
        copied = self._copied(model, issue, issued[1])
        number, before = len(loaded.iterations) + 1, loaded.iterations[-1].end if loaded.iterations else None
        first = self._first.get(key)
        if first is None:
            made = run_step(model, number, issued, copied[1], before, turns, copied)
            self._remember(key, made)
        else:
            made = _repeated(first, number, self.now, before)
        loaded.iterations.append(made)
        self._forget_oldest(loaded)
        self.now = made.end
        return made

    def _remember(self, key: tuple[int, Issue, tuple[tuple[str, int], ...]], made: Iteration) -> None:
        """A step that others may repeat.  Loops whose turns change make many of them: the oldest are worked out anew."""
        self._first[key] = made
        while len(self._first) > 1 and sum(len(one.runs) for one in self._first.values()) > MOST_KEPT:
            del self._first[next(iter(self._first))]

    def _forget_oldest(self, loaded: ModelRun) -> None:
        """Count the latest step of a model, and drop the runs of the oldest steps when there are too many."""
        self._kept.append((loaded, len(loaded.iterations) - 1))
        self._n_kept += len(loaded.iterations[-1].runs)
        while self._n_kept > MOST_KEPT and len(self._kept) > 1:
            model, at = self._kept.popleft()
            self._n_kept -= len(model.iterations[at].runs)
            model.iterations[at] = replace(model.iterations[at], runs=(), is_kept=False)

    def _copied(self, model: CompiledModel, issue: Issue, begins: float) -> tuple[float, float]:
        """Start and end of taking the batch, in microseconds."""
        n_bytes = model.input_bytes
        return begins, begins + (get_next_cost(n_bytes, not issue.copies_inputs, self.chip).us if n_bytes else 0.0)


def _repeated(first: Iteration, number: int, now: float, before: float | None) -> Iteration:
    """The same step, issued now; nothing of it is earlier, whatever the sums round to."""
    offset = now - first.issued[0]

    def later(time: float | None) -> float | None:
        return None if time is None else max(now, time + offset)

    def both(span: tuple[float, float]) -> tuple[float, float]:
        return max(now, span[0] + offset), max(now, span[1] + offset)

    start = before if before is not None else first.start + offset
    get_next = None if first.get_next is None else both(first.get_next)
    return Iteration(
        number, start, first.end + offset, ShiftedRuns(first.runs, offset), both(first.issued), later(first.fp_start),
        later(first.bp_end), get_next, tuple(both(span) for span in first.reduces),
    )  # fmt: skip
