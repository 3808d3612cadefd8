"""What happened: one record for every program of a session, and the log that collects them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from threading import Lock


@dataclass
class ProgramRecord:
    """One compiled run. Floating-point operations are of one step, counted as TensorFlow's profiler counts them.

    fetches: what was asked for.  device_nodes: names.  host_nodes: reason by name.  n_runs: steps so far.
    n_compilations: one for every new combination of shapes.
    """

    fetches: tuple[str, ...]
    device_nodes: tuple[str, ...] = ()
    host_nodes: dict[str, str] = field(default_factory=dict)
    device_flops: float = 0.0
    host_flops: float = 0.0
    arena_bytes: int = 0
    n_runs: int = 0
    n_compilations: int = 0

    @property
    def device_share(self) -> float:
        """Share of the floating-point work done on the device, 0..1; 1 when there is none."""
        total = self.device_flops + self.host_flops
        return self.device_flops / total if total else 1.0


@dataclass
class SessionRecord:
    """Programs of one session, in the order of their first run."""

    name: str
    programs: list[ProgramRecord] = field(default_factory=list)


class RunLog:
    """All device sessions of the process."""

    def __init__(self) -> None:
        self.sessions: list[SessionRecord] = []
        self._lock = Lock()

    def open_session(self) -> SessionRecord:
        with self._lock:
            record = SessionRecord(f"session {len(self.sessions) + 1}")
            self.sessions.append(record)
            return record

    def clear(self) -> None:
        with self._lock:
            self.sessions.clear()

    def summary(self) -> list[str]:
        """Lines for a person: what ran where, and why not on the device."""
        lines = []
        for session in self.sessions:
            if any(program.n_runs for program in session.programs):
                lines.append(f"{session.name}:")
                lines += [line for program in session.programs if program.n_runs for line in _program_lines(program)]
        return lines


def _program_lines(program: ProgramRecord) -> list[str]:
    shown = ", ".join(program.fetches[:3]) + (", ..." if len(program.fetches) > 3 else "")
    recompiled = f", compiled {program.n_compilations} times for new shapes" if program.n_compilations > 1 else ""
    lines = [
        f"  run of [{shown}]: {program.n_runs} steps, {len(program.device_nodes)} nodes on the device with "
        f"{100 * program.device_share:.2f} % of {program.device_flops + program.host_flops:.4g} floating-point operations, "
        f"{len(program.host_nodes)} on the host{recompiled}"
    ]
    reasons = Counter(program.host_nodes.values())
    for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
        example = next(name for name, why in program.host_nodes.items() if why == reason)
        others = f" and {count - 1} more" if count > 1 else ""
        lines.append(f"    host: {example}{others}: {reason}")
    return lines
