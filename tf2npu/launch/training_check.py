"""`tf2npu check` where each process writes its training steps down: PyTorch and MindSpore."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from npu_formats.documents.check_record import Failure, Framework, Record
from npu_formats.documents.training_steps import Ending, Steps, steps_in
from tf2npu.accuracy_check.training_record import MadeRun, record
from tf2npu.launch.check_places import users_place
from tf2npu.launch.check_processes import CheckedScript
from tf2npu.launch.check_request import say
from tf2npu.launch.program_check import ProgramCheck
from tf2npu.launch.temporary_conversion import TemporaryConversion

ORIGINAL = "original"
_LATE = "out of time"


@dataclass
class TrainingCheck(ProgramCheck):
    """framework: of the scripts.  kernels: whose the original runs on.  others: what the other runs are, in a message.

    roles: the role of each other run's process, which is the name of its file, too.
    """

    framework: ClassVar[Framework]
    kernels: ClassVar[str]
    others: ClassVar[str]
    roles: ClassVar[Mapping[str, str]]

    def record(self) -> Record | None:
        """The record of the check; None, after a message with the reason, where there is nothing to compare."""
        say(f"runs {self.script} on {self.kernels}")
        process = self.start_original()
        code = self.ended(process)
        original = self.steps(ORIGINAL)
        if not original.steps:
            self.refuse(self._why_no_step(process, code, original.ending))
            return None
        is_whole = len(original.steps) >= self.wanted.steps or not (code or process.is_late)
        self.say_what_is_left(original)
        failure = None if is_whole else failure_of(process, code, original, self.wanted.steps)
        runs, is_interrupted = self._runs(original)
        found = record(self.framework, original, runs, failure)
        if not is_interrupted:
            self.find_rules(found, original)
        late = is_interrupted or any(run.failure is not None and run.failure.type == _LATE for run in runs)
        found["is_complete"], found["stopped"] = not late, "interrupted" if is_interrupted else "budget" if late else ""
        return self.whole(found)

    @abstractmethod
    def start_original(self) -> CheckedScript:
        """Begin the run that the others are compared with."""

    @abstractmethod
    def start(self, name: str, converted: TemporaryConversion | None) -> CheckedScript:
        """Begin another run."""

    @abstractmethod
    def why_untrained(self, ending: Ending) -> str:
        """The reason that a script made no step which did not fail, in a line that follows its name."""

    def say_what_is_left(self, original: Steps) -> None:
        """Tell the user what the check does not look at."""

    def find_rules(self, found: dict[str, Any], original: Steps) -> None:
        """Put the rules that make a run differ into the record, where a conversion was made."""

    def steps(self, role: str) -> Steps:
        """The steps that a process has written."""
        return steps_in(self.processes.steps_file(role))

    def made(self, name: str, process: CheckedScript, code: int, original: Steps) -> MadeRun:
        """A run that is over."""
        found, n_wanted = self.steps(self.roles[name]), len(original.steps)
        short = len(found.steps) < n_wanted
        return MadeRun(name, found, failure_of(process, code, found, n_wanted) if short else None)

    def _why_no_step(self, process: CheckedScript, code: int, ending: Ending | None) -> str:
        if process.is_late:
            return f"made no training step in half of the budget: give more time than --budget {self.wanted.budget}"
        if ending is not None and ending.failure is not None:
            failed = ending.failure
            file, line = users_place(failed.file, failed.line, None)
            return f"failed before its first training step: {failed.type}: {failed.text}{f' ({file}:{line})' if file else ''}"
        if code:
            return f"ended with exit code {code} before its first training step: {process.last_line()}"
        return self.why_untrained(ending or Ending())

    def _runs(self, original: Steps) -> tuple[list[MadeRun], bool]:
        """The other runs, side by side, and whether the user stopped them."""
        say(f"runs {self.others}")
        started = [(name, self.start(name, self.converted)) for name in self.roles]
        is_interrupted = False
        codes: dict[str, int] = {}
        try:
            for name, process in started:
                codes[name] = process.wait(self.processes.deadline)
        except KeyboardInterrupt:
            is_interrupted = True
        finally:
            for _, process in started:
                process.stop()
        return [self.made(name, process, codes[name], original) for name, process in started if name in codes], is_interrupted


def failure_of(process: CheckedScript, code: int, steps: Steps, n_wanted: int) -> Failure:
    """The reason that a run made fewer steps than wanted."""
    made = f"made {len(steps.steps)} of {n_wanted} training steps"
    if process.is_late:
        return Failure(_LATE, made)
    if steps.ending is not None and steps.ending.failure is not None:
        return steps.ending.failure
    return Failure(f"exit code {code}", process.last_line() if code else made)
