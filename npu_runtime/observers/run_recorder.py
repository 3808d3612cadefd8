"""Keeps of a run what a report shows beside the run log: when who worked, and the lines of the script that made the nodes."""

from __future__ import annotations

from contextlib import AbstractContextManager

from npu_runtime.executor.program import Program, Task
from npu_runtime.observers.base import HostFunction, SessionObserver
from npu_runtime.observers.loaded_program import LoadedProgram, Loading
from npu_runtime.trace.run_log import KeptOfProgram, ProgramRecord
from npu_runtime.trace.timeline import COMPILE, Recording, recording


class RunRecorder(SessionObserver):
    """time_line: that of the process."""

    def __init__(self, time_line: Recording) -> None:
        self._time_line = time_line

    def host_call(self, function: HostFunction, ops: list[str]) -> HostFunction:
        """Keep the times of a call."""
        return self._time_line.host_call(function, ops)

    def around_step(self) -> AbstractContextManager[None]:
        """Keep the times of a step."""
        return self._time_line.step()

    def around_compilation(self) -> AbstractContextManager[None]:
        """Keep the times of the graph compiler."""
        return self._time_line.span(COMPILE)

    def planned(self, record: ProgramRecord) -> None:
        """Have the record keep facts for the report."""
        record.kept = KeptOfProgram()

    def compiled(self, loading: Loading, program: Program) -> None:
        """Keep what its operators do in a step, unless only a run tells their shapes."""
        if loading.record.kept is not None and not program.is_open:
            loading.record.kept.work = _work_by_op(program)

    def loaded(self, loading: Loading, loaded: LoadedProgram) -> None:
        """Keep the lines of the user's that made the nodes and the inputs."""
        record, kept = loading.record, loading.record.kept
        if kept is None:
            return
        source_of, on_host = loading.users.source_of, loaded.program.host_nodes
        kept.device_lines.update((node.name, source_of(node.name)) for node in loading.asked if node.name not in on_host)
        kept.host_lines.update((name, source_of(name)) for name in record.host_nodes | on_host)
        kept.input_lines.update((name, loading.users.lines_of_input(name)) for name in loading.inputs)


def run_recorder() -> RunRecorder | None:
    """The recorder of a session, None where nobody asked for a report when the process began."""
    time_line = recording()
    return None if time_line is None else RunRecorder(time_line)


def _work_by_op(program: Program) -> dict[str, float]:
    """Floating-point operations of a step on the device by operator; of loops, a turn's."""
    work: dict[str, float] = {}
    for step in program.steps:
        if isinstance(step, Task) and step.flops:
            work[step.op] = work.get(step.op, 0.0) + step.flops
    return work
