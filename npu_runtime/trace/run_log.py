"""The run log: one record for every program of a session."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from npu_runtime.trace import shapes
from npu_runtime.trace.scalars import Curve, keep
from npu_runtime.trace.shapes import MetShapes, Shape


@dataclass
class KeptOfProgram:
    """The facts about a program that are kept where a report is to be written.

    numbers: curve of each floating-point number that was fetched.  work: operations of a step on the device by operator.
    device_lines, host_lines: "file:line" of the user's by node, "" where none made it; input_lines: those by input.
    """

    numbers: dict[str, Curve] = field(default_factory=dict)
    work: dict[str, float] = field(default_factory=dict)
    device_lines: dict[str, str] = field(default_factory=dict)
    host_lines: dict[str, str] = field(default_factory=dict)
    input_lines: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(eq=False)
class ProgramRecord:
    """One compiled run. Floating-point operations are of one step, counted as TensorFlow's profiler counts them.

    fetches: what was asked for.  device_nodes: names.  host_nodes: reason by name.  n_runs: steps so far.
    n_shapes: combinations of shapes met; a device compiles for each.  inputs: their shapes, by the name of what is fed.
    n_compilations: of programs for them, where one may serve many.  n_dropped: programs among them that had to go, as there
    were too many.  unread_flops: of nodes of the graph that are not computed, as nobody reads them or others compute the
    same.  arena_bytes: memory of a step.  live_bytes: the largest sum of its buffers alive at one time.
    n_uncounted: nodes whose operations are in none of these, as only a run tells their shapes.
    device_types: device nodes by the float type that they run in, where a precision mode chose it.
    streams: nodes by engine, and how many subgraphs, streams and events there are.  nan_origins: nodes that made the first
    NaN out of numbers, where that is tracked.  variable_bytes: of the session's variables.  kept: for a report, or None.
    trains: whether a step changes trainable variables as an optimizer does.  function: of eager code that it is or belongs to,
    as "name (file:line)", "" for a run of a session.
    first_end, last_end: when the first and the last step were over, by `time.perf_counter`.
    """

    fetches: tuple[str, ...]
    device_nodes: tuple[str, ...] = ()
    host_nodes: dict[str, str] = field(default_factory=dict)
    device_flops: float = 0.0
    host_flops: float = 0.0
    unread_flops: float = 0.0
    n_uncounted: int = 0
    arena_bytes: int = 0
    live_bytes: int = 0
    device_types: Counter[str] = field(default_factory=Counter)
    streams: dict[str, Any] = field(default_factory=dict)
    nan_origins: list[str] = field(default_factory=list)
    n_runs: int = 0
    n_shapes: int = 0
    inputs: dict[str, MetShapes] = field(default_factory=dict)
    n_compilations: int = 0
    n_dropped: int = 0
    variable_bytes: int = 0
    kept: KeptOfProgram | None = None
    trains: bool = False
    function: str = ""
    first_end: float = 0.0
    last_end: float = 0.0
    _lock: Any = field(default_factory=Lock, repr=False)

    def count_run(self, values: Sequence[Any] = ()) -> None:
        """One step more; threads may share a program.  values: what was fetched, in the order of `fetches`."""
        with self._lock:
            self.n_runs += 1
            self.last_end = time.perf_counter()
            self.first_end = self.first_end or self.last_end
            if self.kept is not None:
                self._keep_numbers(self.kept, values)

    def meet(self, inputs: Sequence[str], shapes: Sequence[Shape], place: str) -> None:
        """Shapes of these inputs that no step had before.  place: the line of the user's, "file:line"."""
        self.n_shapes += 1
        for name, shape in zip(inputs, shapes, strict=True):
            self.inputs.setdefault(name, MetShapes()).meet(shape, place)

    def _keep_numbers(self, kept: KeptOfProgram, values: Sequence[Any]) -> None:
        for name, value in zip(self.fetches, values, strict=False):
            if getattr(value, "ndim", 1) == 0 and value.dtype.kind == "f":
                keep(kept.numbers, name, self.n_runs, float(value))

    @property
    def step_seconds(self) -> float:
        """Wall time of a step with what the script does beside it, without the first one, which compiles; 0 for one step."""
        return (self.last_end - self.first_end) / (self.n_runs - 1) if self.n_runs > 1 else 0.0

    @property
    def device_share(self) -> float:
        """Share of the floating-point work done on the device, 0..1; 1 when there is none."""
        total = self.device_flops + self.host_flops
        return self.device_flops / total if total else 1.0


@dataclass
class SessionRecord:
    """Programs of one session, in the order of their first run.  place: "file:line" of the script that made it, or "".

    precision: the mode it runs in, "" for the graph's own types.  notes: what else its options mean here.  saturates: whether
    runs of it cut fp16 results that are too large.
    """

    name: str
    precision: str = ""
    notes: tuple[str, ...] = ()
    saturates: bool = False
    place: str = ""
    programs: list[ProgramRecord] = field(default_factory=list)


_LED_BACK = re.compile(r"(shares a variable or handle with|cannot be parted from) \S+ \(")
_CUT = (
    "fp16: results that are too large are cut at 65504 and set the float status, which loss-scale optimizers read "
    "(--option overflow=infinity gives infinities)"
)


class RunLog:
    """All device sessions of the process."""

    def __init__(self) -> None:
        self.device = "simulated NPU"
        self.default_precision = ""
        self.chip_saturates = False
        self.memory_bytes = 0
        """Memory of the device."""
        self.overflows: Counter[str] = Counter()
        self.reshaped: dict[str, tuple[tuple[int | None, ...], tuple[int, ...]]] = {}
        self.sessions: list[SessionRecord] = []
        self.tuning: Callable[[], list[str]] = list
        """Lines on what was tuned."""
        self._lock = Lock()

    def open_session(self, place: str = "") -> SessionRecord:
        with self._lock:
            record = SessionRecord(f"session {len(self.sessions) + 1}", place=place)
            self.sessions.append(record)
            return record

    def clear(self) -> None:
        with self._lock:
            self.sessions.clear()
            self.overflows.clear()
            self.reshaped.clear()

    def summary(self) -> list[str]:
        """Lines for a person who looks closely: every program, what ran where, and why not on the device."""
        lines = []
        for session in self.sessions:
            if any(program.n_runs for program in session.programs):
                lines.append(f"{session.name}:")
                lines += [line for program in session.programs if program.n_runs for line in _program_lines(program)]
        return lines

    def document(self) -> dict[str, Any]:
        """The same as data, for a report: totals, host nodes by reason, and every session that ran something."""
        ran = [session for session in self.sessions if any(program.n_runs for program in session.programs)]
        programs = [program for session in ran for program in session.programs if program.n_runs]
        on_device = sum(program.device_flops * program.n_runs for program in programs)
        total = on_device + sum(program.host_flops * program.n_runs for program in programs)
        return {
            "device": self.device,
            "steps": sum(program.n_runs for program in programs),
            "training_steps": sum(program.n_runs for program in programs if program.trains),
            "device_share": on_device / total if total else 1.0,
            "uncounted_nodes": max((program.n_uncounted for program in programs), default=0),
            "recompilations": sum(max(0, program.n_compilations - 1) for program in programs),
            "new_shapes": sum(max(0, program.n_shapes - 1) for program in programs),
            "shape_changes": shapes.document(_inputs(programs)),
            "precision": self._precision_lines(ran),
            "tuning": self.tuning(),
            "host_nodes": [
                {"reason": why, "count": count, "example": example} for example, why, count in _by_frequency(self._host_reasons())
            ],
            "memory_bytes": self.memory_bytes,
            "sessions": [
                {"name": s.name, "place": s.place, "runs": [_program_document(p) for p in s.programs if p.n_runs]} for s in ran
            ],
        }

    def training(self) -> dict[str, Any]:
        """The program that ran most often, of those that train, if any: its steps, the seconds of one, and its kept numbers.

        The numbers are texts, since JSON has no NaN.
        """
        programs = [program for session in self.sessions for program in session.programs]
        most = max(programs, key=lambda program: (program.trains, program.n_runs), default=ProgramRecord(()))
        return {
            "steps": most.n_runs,
            "step_seconds": most.step_seconds,
            "scalars": [_curve_document(name, curve) for name, curve in most.kept.numbers.items()] if most.kept else [],
        }

    def digest(self) -> list[str]:
        """A few lines for everybody: sessions, steps, the device's share, and the reasons of all host nodes."""
        programs = [program for session in self.sessions for program in session.programs if program.n_runs]
        if not programs:
            return []
        n_sessions = sum(any(program.n_runs for program in session.programs) for session in self.sessions)
        on_device = sum(program.device_flops * program.n_runs for program in programs)
        total = on_device + sum(program.host_flops * program.n_runs for program in programs)
        lines = [
            f"{self.device}: {_count(n_sessions, 'session')}, {_count(sum(p.n_runs for p in programs), 'run')}, "
            f"{100 * on_device / total if total else 100:.2f} % of {total:.3g} floating-point operations on the device"
            + _not_counted(max(program.n_uncounted for program in programs))
            + _recompiled(programs)
        ]
        lines += [f"  {line}" for line in shapes.lines(_inputs(programs))]
        ran = [session for session in self.sessions if any(program.n_runs for program in session.programs)]
        lines += [f"  {line}" for line in self._precision_lines(ran)]
        lines += [f"  NaN first comes from {line}" for program in programs for line in program.nan_origins]
        lines += [f"  {line}" for line in (*self._reshaped_lines(), *self.tuning())]
        return lines + _reason_lines(self._host_reasons())

    def _host_reasons(self) -> dict[str, str]:
        """The reason that each node ran on the host; also for nodes of a program whose first run failed, maybe there."""
        programs = [program for session in self.sessions for program in session.programs]
        return {name: why for program in programs for name, why in program.host_nodes.items()}

    def _precision_lines(self, sessions: list[SessionRecord]) -> list[str]:
        """Lines on the types of nodes by precision mode, on what the chip itself would do, and on results that were too large."""
        lines = []
        for mode in dict.fromkeys(session.precision for session in sessions):
            types: Counter[str] = Counter()
            for program in (p for s in sessions if s.precision == mode for p in s.programs if p.n_runs):
                types += program.device_types
            found = ", ".join(f"{_count(n, 'node')} in {name}" for name, n in sorted(types.items()))
            lines.append(f"precision: {mode}: {found or 'no floating-point node'}" if mode else self._origin_line())
        if any(session.saturates for session in sessions):
            lines.append(_CUT)
        lines += dict.fromkeys(note for session in sessions for note in session.notes)
        if self.overflows:
            first, times = next(iter(self.overflows.items()))
            is_other = self.chip_saturates and any(session.precision and not session.saturates for session in sessions)
            way_out = "; the chip itself cuts them at 65504 (--option overflow=saturation)" if is_other else ""
            lines.append(
                f"overflow: results of {_count(len(self.overflows), 'node')} were too large for 16 bits, first of {first} "
                f"({_count(times, 'time')}); steps of a loss-scale optimizer are skipped then, others go on with such numbers"
                + way_out
            )
        return lines

    def _reshaped_lines(self) -> list[str]:
        """A line on variables that were given another shape than they declare; TensorFlow says nothing of it."""
        if not self.reshaped:
            return []
        name, (declared, given) = next(iter(self.reshaped.items()))
        others = f" and {_count(len(self.reshaped) - 1, 'more variable')}" if len(self.reshaped) > 1 else ""
        was, became = (f"[{','.join('?' if n is None else str(n) for n in shape)}]" for shape in (declared, given))
        return [
            f"shapes: {name} is declared {was} and was given {became}{others}: TensorFlow lets a resource variable do so and "
            "says nothing; if this is not meant, look whether the checkpoint belongs to this model"
        ]

    def _origin_line(self) -> str:
        line = "precision: the types of the graph, as TensorFlow computes"
        own = self.default_precision
        return line + (f"; the chip's own mode is {own} (--option device_defaults=on)" if own else "")


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _inputs(programs: Sequence[ProgramRecord]) -> list[tuple[str, MetShapes]]:
    return [item for program in programs for item in program.inputs.items()]


def _recompiled(programs: Sequence[ProgramRecord]) -> str:
    """The recompilations for new shapes here and on an NPU, and the programs dropped for others, as text; "" for none."""
    n_recompiled = sum(max(0, program.n_compilations - 1) for program in programs)
    n_new = sum(max(0, program.n_shapes - 1) for program in programs)
    new = f"{_count(n_recompiled, 'recompilation')} for {_count(n_new, 'new shape')}, for each of which an NPU compiles"
    told = f", {new} (pad what is fed to fewer shapes)" if n_new else ""
    n_dropped = sum(program.n_dropped for program in programs)
    return told + (f", {_count(n_dropped, 'program')} dropped for others" if n_dropped else "")


def _by_frequency(reasons: dict[str, str]) -> list[tuple[str, str, int]]:
    """The first node of each kind of reason, its reason, and how many nodes have one of that kind; the most frequent first."""
    kinds: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        kinds.setdefault(kind_of_reason(reason), []).append(name)
    made = [(names[0], reasons[names[0]], len(names)) for names in kinds.values()]
    return sorted(made, key=lambda item: (-item[2], item[1]))


def kind_of_reason(reason: str) -> str:
    """A reason without the name of the node that it leads back to: each variable has one that others share."""
    return _LED_BACK.sub(r"\1 another (", reason)


def _program_document(program: ProgramRecord) -> dict[str, Any]:
    return {
        "fetches": list(program.fetches),
        "steps": program.n_runs,
        "recompilations": max(0, program.n_compilations - 1),
        "device_nodes": len(program.device_nodes),
        "host_nodes": len(program.host_nodes),
        "device_share": program.device_share,
        "step_seconds": program.step_seconds,
        "arena_bytes": program.arena_bytes,
        "live_bytes": program.live_bytes,
        "variable_bytes": program.variable_bytes,
        "device_types": dict(sorted(program.device_types.items())),
        **({"function": program.function} if program.function else {}),
    }


def _curve_document(name: str, curve: Curve) -> dict[str, Any]:
    """Numbers as texts, since JSON has no NaN."""
    points = [[step, f"{value:.7g}"] for step, value in curve.points]
    return {"name": name, "first": f"{curve.first:.7g}", "last": f"{curve.last:.7g}", "points": points}


def _reason_lines(reasons: dict[str, str]) -> list[str]:
    """One line a reason, the most frequent first, with the first node as an example."""
    lines = []
    for example, reason, count in _by_frequency(reasons):
        others = f" and {count - 1} more" if count > 1 else ""
        lines.append(f"  on the host: {example}{others}: {reason}")
    return lines


def _not_counted(n_nodes: int) -> str:
    return f" (those of {_count(n_nodes, 'node')} are not counted: only a run tells their shapes)" if n_nodes else ""


def _program_lines(program: ProgramRecord) -> list[str]:
    shown = ", ".join(program.fetches[:3]) + (", ..." if len(program.fetches) > 3 else "")
    new = f"{program.n_compilations} times for {program.n_shapes} different shapes"
    recompiled = f", compiled {new}" if program.n_compilations > 1 else ""
    unread = f", {program.unread_flops:.4g} more not computed: not read, or known already" if program.unread_flops else ""
    what = program.function or f"run of [{shown}]"
    head = (
        f"  {what}: {_count(program.n_runs, 'step')}, {len(program.device_nodes)} nodes on the device with "
        f"{100 * program.device_share:.2f} % of {program.device_flops + program.host_flops:.4g} floating-point operations"
        f"{_not_counted(program.n_uncounted)}, {len(program.host_nodes)} on the host{unread}{recompiled}"
    )
    memory = f"    memory: arena of {program.arena_bytes / 1e6:.1f} MB, largest live set {program.live_bytes / 1e6:.1f} MB"
    return [head, memory, *_stream_lines(program.streams), *(f"  {line}" for line in _reason_lines(program.host_nodes))]


def _stream_lines(streams: dict[str, Any]) -> list[str]:
    """A line with the numbers of nodes by engine, and of the subgraphs, streams and events; none where they are not known."""
    if not streams:
        return []
    nodes = ", ".join(f"{engine} {count}" for engine, count in streams["nodes"].items())
    parts = [_count(streams[f"{noun}s"], noun) for noun in ("subgraph", "stream", "event")]
    return [f"    nodes by engine: {nodes}; {', '.join(parts)}"]
