"""Tunes the operators of a program while it is compiled for the chip, once in a process, by the rules of the bank."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from threading import RLock
from typing import Any

from npu_formats.device.chip import Chip
from npu_runtime.cost.choice import Choice, as_stored, choice_of, cost_with, default_choice, record_of
from npu_runtime.cost.core_task import CoreWork
from npu_runtime.errors import DeviceError, InvalidArgument
from npu_runtime.lowering.lower import LoweredTask
from npu_runtime.observers.tuning.bank.document import Damaged, canonical
from npu_runtime.observers.tuning.bank.operator_bank import OperatorBank
from npu_runtime.observers.tuning.bank.operator_entry import OperatorEntry
from npu_runtime.observers.tuning.programs.operator_key import describe, works_of
from npu_runtime.observers.tuning.programs.outcome import Found, Outcome, Search, is_shown
from npu_runtime.observers.tuning.programs.rules import BANK, TUNED, decide
from npu_runtime.observers.tuning.programs.tuning_request import BOTH, TuningRequest
from npu_runtime.observers.tuning.search.parallel import GA, RL


@dataclass(frozen=True)
class Operator:
    """An operator to tune.  task: the first with this key.  value, key: as the bank has it.  default, default_us: its choice and
    time when nobody tunes it."""

    task: LoweredTask
    work: CoreWork
    value: dict[str, Any]
    key: str
    default: Choice
    default_us: float


@dataclass(frozen=True)
class TunedProgram:
    """name: of the program.  outcomes: one for each operator of the AI cores, those with one key together.  seconds: that tuning
    took.  ended: when."""

    name: str
    outcomes: Sequence[Outcome]
    seconds: float
    ended: datetime

    def us(self) -> tuple[float, float]:
        """Microseconds of all its operators of the AI cores, untuned and as compiled."""
        pairs = [(len(one.operators) * one.default_us, len(one.operators) * one.after_us) for one in self.outcomes]
        return sum(default for default, _ in pairs), sum(after for _, after in pairs)

    @property
    def n_better(self) -> int:
        """Operators that are tuned and gain as much as a figure shows; a search may also find what is faster by less."""
        return sum(one.decision.compiled_with == TUNED and is_shown(one.default_us, one.after_us) for one in self.outcomes)

    @property
    def n_late(self) -> int:
        """Operators that time did not suffice for."""
        return sum(one.is_late for one in self.outcomes)

    def count(self, kind: str) -> int:
        """The number of different operators that are compiled with DEFAULT, BANK or TUNED."""
        return sum(one.decision.compiled_with == kind for one in self.outcomes)


class ProgramTuner:
    """request: how.  chip: for which.  search: finds choices.  tell: takes warnings of the bank."""

    def __init__(self, request: TuningRequest, chip: Chip, search: Search, tell: Callable[[str], None]) -> None:
        self.request, self.chip, self.search, self.tell = request, chip, search, tell
        self.bank = OperatorBank(chip.name, request.folder, tell)
        self._choices: dict[str, Choice | None] = {}
        self._late: set[str] = set()
        self._lock = RLock()

    def choice(self, task: LoweredTask, chip: Chip) -> Choice | None:
        """The choice that a task is compiled with on a chip; None for the default."""
        if task.work is None or chip.name != self.chip.name or not self._choices:
            return None
        return self._choices.get(canonical(describe(task, task.work)))

    def tune(self, name: str, tasks: Sequence[LoweredTask]) -> TunedProgram:
        """Tune a program's operators that this process has not met, and say what all of them are compiled with."""
        with self._lock:
            began = time.monotonic()
            outcomes: dict[str, Outcome] = {}
            first: dict[str, Operator] = {}
            for task, work in works_of(tasks):
                self._sort(task, work, first, outcomes)
            self._decide(list(first.values()), outcomes)
            return TunedProgram(name, list(outcomes.values()), time.monotonic() - began, datetime.now())

    def _sort(self, task: LoweredTask, work: CoreWork, first: dict[str, Operator], outcomes: dict[str, Outcome]) -> None:
        """Put a task to those of its key; operators that are new and tunable go into `first`."""
        value = describe(task, work)
        key = canonical(value)
        if key not in outcomes:
            default = default_choice(work, self.chip)
            op = Operator(task, work, value, key, default, cost_with(work, self.chip, None).us)
            outcomes[key] = self._unchanged(op)
            if key not in self._choices and self._is_tunable(op):
                first[key] = op
        outcomes[key].add(task)

    def _unchanged(self, op: Operator) -> Outcome:
        """An operator of no tunable kind, or one that an earlier program of this process has tuned."""
        choice = self._choices.get(op.key)
        us = op.default_us if choice is None else cost_with(op.work, self.chip, choice).us
        decision = decide(op.key in self._choices and op.key not in self._late, False)
        return Outcome(op.task.name, op.task.head.op_type, decision, choice, op.default_us, us, us)

    def _is_tunable(self, op: Operator) -> bool:
        """Whether the mode has a search for it, nothing excludes it, and its shapes are known."""
        if any(member.is_dynamic for member in op.task.ops) or not self.request.narrowing.takes(op.task):
            return False
        return self.request.mode in (RL if op.work.product is None else GA, BOTH)

    def _decide(self, operators: Sequence[Operator], outcomes: dict[str, Outcome]) -> None:
        banked = {op.key: self._banked(op) for op in operators}
        wanted = [op for op in operators if self.request.searches and (banked[op.key] is None or self.request.repeats)]
        found = dict(zip([op.key for op in wanted], self._searched(wanted), strict=True))
        ended = f"{datetime.now():%Y-%m-%d %H:%M:%S}"
        stored = []
        for op in operators:
            made = self._outcome(op, banked[op.key], found.get(op.key), ended)
            made.is_late = op.key in found and found[op.key] is None
            made.operators = outcomes[op.key].operators
            outcomes[op.key] = made
            self._choices[op.key] = made.choice
            if banked[op.key] is None and found.get(op.key) is None:
                self._late.add(op.key)
            stored += self._entries(op, made)
        self._store(stored)

    def _banked(self, op: Operator) -> Choice | None:
        """The choice that a bank has for an operator, if the chip can do it and it is not worse than the default; else None."""
        entry = self.bank.get(op.key) if self.request.reads_bank else None
        if entry is None:
            return None
        try:
            made = choice_of(entry.record, op.work, self.chip)
        except InvalidArgument as problem:
            self._refuse(op, problem.message)
            return None
        if cost_with(op.work, self.chip, made).us > op.default_us:
            self._refuse(op, "it is slower than the default")
            return None
        return made

    def _refuse(self, op: Operator, reason: str) -> None:
        self.tell(f"{self.bank.custom.path}: the entry of a {op.task.head.op_type} is not used: {reason}")

    def _searched(self, operators: Sequence[Operator]) -> Sequence[Found | None]:
        if not operators:
            return []
        request, works = self.request, [op.work for op in operators]
        try:
            return self.search(works, self.chip, request.mode, request.workers, request.seconds, request.narrowing.effort)
        except DeviceError as problem:
            self.tell(f"tuning: {problem.message}; the operators of this program keep what they had")
            return [None] * len(works)

    def _outcome(self, op: Operator, banked: Choice | None, found: Found | None, ended: str) -> Outcome:
        """The outcome by the rules of the bank: no time is believed that this process has not computed itself."""
        before_us = op.default_us if banked is None else cost_with(op.work, self.chip, banked).us
        tuned = None if found is None else as_stored(found.choice, op.work, self.chip)
        tuned_us = before_us if tuned is None else cost_with(op.work, self.chip, tuned).us
        decision = decide(banked is not None, found is not None, tuned_us < before_us)
        choice = {TUNED: tuned, BANK: banked}.get(decision.compiled_with)
        if choice == self._stored_default(op):
            choice = None  # so that all figures are those of the default
        after_us = tuned_us if decision.compiled_with == TUNED else before_us
        rounds = () if found is None else tuple((max(after_us, min(us, before_us)), ended) for us in found.rounds)
        return Outcome(op.task.name, op.task.head.op_type, decision, choice, op.default_us, before_us, after_us, rounds)

    def _entries(self, op: Operator, made: Outcome) -> list[OperatorEntry]:
        """The entries that the custom bank gets: one for an outcome that is stored, else none."""
        choice = made.choice or self._stored_default(op)
        if not made.decision.stores or choice is None:
            return []
        return [OperatorEntry(op.value, record_of(choice, op.work, self.chip), made.after_us)]

    def _stored_default(self, op: Operator) -> Choice | None:
        return as_stored(op.default, op.work, self.chip)

    def _store(self, entries: Sequence[OperatorEntry]) -> None:
        try:
            if entries:
                self.bank.put(entries, lambda new, stored: new.us <= stored.us)
        except Damaged as problem:
            self.tell(f"{self.bank.custom.path}: what was tuned cannot be kept: {problem}")
