"""A device that carries out PyTorch's operators one by one: steps on the simulated clock, each operator a task of its own.

Steps follow each other without a gap, as the host's part is not known: what a profile shows is the device alone.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from npu_formats.device.chip import Chip
from npu_runtime.cost.fitted import load_fitted
from npu_runtime.cost.task_cost import AI_CPU, COLLECTIVE, COPY, RUNTIME, VECTOR
from npu_runtime.importers.pytorch.operator_call import OperatorCall, TensorUse
from npu_runtime.simulation.cost_of_task import Ranks
from npu_runtime.simulation.device import MOST_KEPT, ShiftedRuns
from npu_runtime.simulation.operator_bounds import TaskTime, operators_bound
from npu_runtime.simulation.run_record import DeviceRun, DeviceTask, Iteration, ModelRun, TaskRun

MOST_TASKS = 60_000
"""Different tasks that a record keeps: their numbers in raw records have two bytes."""
_TYPES = {AI_CPU: "AI_CPU", RUNTIME: "AI_CPU", COLLECTIVE: "COMMUNICATION", COPY: "MEMCPY_ASYNC"}
_GAP_US = 0.02
"""Microseconds between two steps, so that none begins in the tick in which another ends: the vendor's parser looks for the end of
the step before in an earlier tick."""
MOST_MEMORY = 1_000_000
"""Calls, the latest ones, whose memory is kept: eight bytes each."""
_OTHER_FLOAT = 0.5
"""Stands for every number with a fraction but 0 and 1: learning rates change from step to step, and no cost with them."""


@dataclass(frozen=True)
class HostCall:
    """An operator as the host called it.

    stack: frames of the script, the innermost first; "" where they were not asked for.  n_bytes: in use on its device behind the
    call; -1 where that was not asked for.
    """

    operator: OperatorCall
    stack: str = ""
    n_bytes: int = -1


@dataclass(frozen=True)
class _Form:
    """Parts that equal steps share.  calls: of the first.  tasks: in order.  us: from the first start to the last end."""

    calls: Sequence[HostCall]
    tasks: Sequence[TaskTime]
    us: float
    n_before_update: int | None


@dataclass(frozen=True)
class _Step:
    """A step as it ran.  form: key of what it is equal to.  start: microseconds.  us: that it took."""

    form: bytes
    start: float
    us: float


@dataclass(frozen=True)
class EagerRecord:
    """run: for the files of a profile.  calls: of each step that has its tasks, by its number.  calls_of: positions of a task's
    operators among the calls of its step, by the task's number.  memory: bytes in use behind each call of a step, by its number.
    """

    run: DeviceRun
    calls: Mapping[int, Sequence[HostCall]]
    calls_of: Mapping[int, tuple[int, ...]]
    memory: Mapping[int, Sequence[int]]


class EagerDevice:
    """One device.  now: microseconds since it was opened.  Equal steps are worked out once, and the oldest forms give way."""

    def __init__(self, chip: Chip, device_id: int = 0, rank_id: int = -1, n_ranks: int = 1) -> None:
        self.chip = chip
        self.now = self._opened = load_fitted().issue_us
        self._numbers = device_id, rank_id, n_ranks
        self._forms: dict[bytes, _Form] = {}
        self._steps: list[_Step] = []
        self._memory: dict[int, array[int]] = {}

    def step(self, calls: Sequence[HostCall], n_before_update: int | None = None) -> None:
        """Run the calls of a step of this device.  n_before_update: of them, before the optimizer; None for a step without."""
        operators = [call.operator for call in calls]
        key = signature(operators, n_before_update)
        form = self._forms.pop(key, None)
        if form is None:
            bound = operators_bound(operators, self.chip, Ranks(self._numbers[2]))
            form = _Form(tuple(calls), bound.tasks, bound.us, n_before_update)
        self._forms[key] = form  # the latest is behind all others
        self._forget_oldest()
        self._steps.append(_Step(key, self.now, form.us))
        self._keep_memory(calls)
        self.now += form.us + _GAP_US

    def _forget_oldest(self) -> None:
        while len(self._forms) > 1 and sum(len(form.tasks) for form in self._forms.values()) > MOST_TASKS:
            del self._forms[next(iter(self._forms))]

    def _keep_memory(self, calls: Sequence[HostCall]) -> None:
        """Equal steps may find more in use than those before, as where a script keeps its losses."""
        if calls and calls[0].n_bytes >= 0:
            self._memory[len(self._steps)] = array("q", (call.n_bytes for call in calls))
        while len(self._memory) > 1 and sum(map(len, self._memory.values())) > MOST_MEMORY:
            del self._memory[next(iter(self._memory))]

    def record(self) -> EagerRecord:
        """The run as one model whose iterations are the steps: the latest with their tasks, all with their times."""
        device_id, rank_id, n_ranks = self._numbers
        run = DeviceRun(self.chip.name, device_id, rank_id, n_ranks=n_ranks)
        made, calls_of = _numbered(self._forms, self.chip)
        first_kept = self._first_kept()
        iterations: list[Iteration] = []
        calls: dict[int, Sequence[HostCall]] = {}
        for number, step in enumerate(self._steps, start=1):
            form = self._forms.get(step.form) if number > first_kept else None
            if form is not None:
                calls[number] = form.calls
            iterations.append(_iteration(number, step, form, made.get(step.form, ())))
        tasks = [run.task for runs in made.values() for run in runs]
        run.models.append(ModelRun(1, "eager", tasks, (0.0, self._opened), iterations))
        return EagerRecord(run, calls, calls_of, dict(self._memory))

    def _first_kept(self) -> int:
        """The number of steps that are told without their tasks, as the latest have as many as a record keeps."""
        n_left = MOST_KEPT
        for position in range(len(self._steps) - 1, -1, -1):
            form = self._forms.get(self._steps[position].form)
            n_left -= len(form.tasks) if form else 0
            if n_left < 0 and position < len(self._steps) - 1:
                return position + 1
        return 0


def signature(calls: Sequence[OperatorCall], n_before_update: int | None) -> bytes:
    """The same bytes for steps that take the same time: equal but for values, and for which memory their tensors lie in."""
    numbers: dict[int, int] = {}
    digest = hashlib.blake2b(repr(n_before_update).encode(), digest_size=16)
    for call in calls:
        digest.update(repr(_plain(tuple(call), numbers)).encode())
    return digest.digest()


def _plain(value: Any, numbers: dict[int, int]) -> Any:
    if isinstance(value, TensorUse):
        return (numbers.setdefault(value.storage, len(numbers)), *value[1:])
    if isinstance(value, tuple):
        return tuple(_plain(one, numbers) for one in value)
    if isinstance(value, dict):
        return tuple((key, _plain(one, numbers)) for key, one in value.items())
    return value if not isinstance(value, float) or value in (0.0, 1.0) else _OTHER_FLOAT


def _numbered(forms: Mapping[bytes, _Form], chip: Chip) -> tuple[dict[bytes, list[TaskRun]], dict[int, tuple[int, ...]]]:
    """The tasks of all forms as runs of a step that begins at 0, numbered through, and the calls of each."""
    made: dict[bytes, list[TaskRun]] = {}
    calls_of: dict[int, tuple[int, ...]] = {}
    for key, form in forms.items():
        runs = made[key] = []
        for position, time in enumerate(form.tasks):
            task = _device_task(time, position, len(calls_of), chip)
            calls_of[task.task_id] = time.calls
            runs.append(TaskRun(task, time.start_us, time.start_us + time.us))
    return made, calls_of


def _device_task(time: TaskTime, position: int, number: int, chip: Chip) -> DeviceTask:
    name = f"{time.operators[0] if time.operators else time.device_operator}_{position}"
    source = f"{time.file}:{time.line}" if time.file else ""
    core = "AI_VECTOR_CORE" if chip.is_split and time.engine == VECTOR else "AI_CORE"
    return DeviceTask(
        name, time.device_operator, _TYPES.get(time.engine, core), time.stream, number, time.cost, time.operators, source,
        time.inputs, time.outputs,
    )  # fmt: skip


def _iteration(number: int, step: _Step, form: _Form | None, runs: Sequence[TaskRun]) -> Iteration:
    start, end = step.start, step.start + step.us
    begins = start if number == 1 else start - _GAP_US  # where the step before has ended
    if form is None:
        return Iteration(number, begins, end, (), (start, start), is_kept=False)
    first, last = _passes(form)
    reduces = [(run.start + start, run.end + start) for run in runs if run.task.task_type == "COMMUNICATION"]
    return Iteration(
        number, begins, end, ShiftedRuns(runs, start), (start, start), None if first is None else first + start,
        None if last is None else last + start, None, tuple(reduces),
    )  # fmt: skip


def _passes(form: _Form) -> tuple[float | None, float | None]:
    """Start of the first task that is no copy, and end of the last one before the optimizer's: the passes of a training step.

    Formats of gradients that only the optimizer needs are changed behind its begin, though they are of calls before it.
    """
    n_before = form.n_before_update
    if n_before is None:
        return None, None
    first = min((time.start_us for time in form.tasks if time.engine != COPY), default=None)
    passed = takewhile(lambda time: not time.calls or time.calls[0] < n_before, form.tasks)
    computing = [time.start_us + time.us for time in passed if time.engine not in (COPY, COLLECTIVE)]
    return first, max(computing, default=None)
