"""The tasks of a profile, out of op_summary, else task_time, else the trace of the timeline."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from npu_formats.documents.prediction import Shapes, Task, Words
from npu_formats.documents.step_shares import busiest_pipe
from tf2npu.profiles.csv_reader import MOST_AMOUNT, MOST_ROWS, Clock, NoProfile, TableRow, column_names, number_in, plain, rows
from tf2npu.profiles.tree import ProfileTree

PIPES = {"mac": "cube", "vec": "vector", "scalar": "scalar", "mte1": "mte1", "mte2": "mte2", "mte3": "mte3", "fixpipe": "fixpipe"}
"""The profiler's word for a pipe and ours. Source: the vendor's profiling guide, metric PipeUtilization."""
_PREFIXES = ("", "aic", "aiv", "ai")
"""Before a counter's name: none on chips whose cores have both units, else the core's; `ai*` where one column is for both."""
_CORE_TIMES = ("aicoretime", "aictime", "aivtime")
"""Columns with the time between the first and the last cycle. Source: the vendor's guides, of all releases."""
CONTROL_FLOW = re.compile(
    r"_?(While|(Ref)?(Switch|Merge|Enter|Exit|NextIteration)|LoopCond|Stream(Switch|Merge|Active)|Label\w+)\Z"
)
"""Types of operators by which the runtime goes from one task to another. Source: the vendor's graph engine."""
_CUBE_TYPES = re.compile(r"Conv|MatMul|Gemm|Dense|FullyConnection", re.IGNORECASE)
_START = ("Task Start Time", "Task Start", "Start Time")
_DURATION = ("Task Duration", "Duration")
"""Columns of op_summary by release. Source: the vendor's guides, and its viewer, which knows the shorter names too."""
_START_CELLS, _DURATION_CELLS = tuple(map(plain, _START)), tuple(map(plain, _DURATION))
_NEEDED = {"op_summary": (_START, _DURATION), "task_time": (("task_start",), ("task_time",))}
"""The columns without which a table has no tasks, each by its names."""
_MOST_TENSORS = 64
"""Tensors of a task that are kept; fused optimizers have hundreds."""
_MOST_DIMENSIONS = 16
"""Dimensions of a shape; the device's formats have 8 at most."""
_MOST_NAME = 2000
"""Characters of a name; those of large fused operators have some hundred."""


@dataclass
class Measured:
    """A task as it ran: on which device, and of which model and number it is.

    core_us: of its time, between the first and the last cycle of a core; None where the profile does not say.
    """

    task: Task
    device: str
    model: str
    number: str
    core_us: float | None = None

    @property
    def launch_us(self) -> float:
        """Microseconds of its time before the first cycle, 0 where the profile does not say."""
        return 0.0 if self.core_us is None else max(0.0, self.task.duration_us - self.core_us)

    @property
    def key(self) -> tuple[str, str, str]:
        """The same for the same task of every step."""
        return self.model, self.number, self.task.name


def read(tree: ProfileTree) -> tuple[list[Measured], list[str]]:
    """The tasks by their start, and the files that they come from.  Raises: NoProfile where there are none."""
    for kind, of_row in (("op_summary", _of_summary), ("task_time", _of_task_time)):
        found = [m for path in tree.files[kind] for m in _of_table(tree, path, of_row)]
        if found:
            return _by_start(found), tree.files[kind]
    found = [m for path in tree.files["trace"] for m in _of_trace(tree, path)]
    if not found:
        raise NoProfile(_why_none(tree))
    return _by_start(found), tree.files["trace"]


def _why_none(tree: ProfileTree) -> str:
    """The reason that there is no task: a column that is not there, else rows without times."""
    path = next(path for kind in ("op_summary", "task_time", "trace") for path in tree.files[kind])
    needed = next((columns for kind, columns in _NEEDED.items() if path in tree.files[kind]), ())
    present = column_names(tree.read(path), path) if needed else []
    missing = [columns[0] for columns in needed if not {plain(name) for name in columns} & set(present)]
    named = f" It has no column {' and no column '.join(missing)}." if missing else ""
    return f"{tree.folder.path / path}: holds no task with a time: was task_time switched off?{named}"


def _of_table(tree: ProfileTree, path: str, of_row: Callable[[TableRow, Clock, str], Measured | None]) -> Iterator[Measured]:
    device = device_of(path)
    for row in rows(tree.read(path), path):
        measured = of_row(row, tree.clock, row.text("deviceid") or device)
        if measured is not None:
            yield measured


def device_of(path: str) -> str:
    """The number of the device that a file is about, "" where its path does not say: a folder, or the first of two numbers."""
    found = re.search(r"(?:^|/)device_(\d{1,6})/", path) or re.search(r"_(\d{1,3})_\d{1,6}(?:_\d+)*\.\w+\Z", path)
    return found.group(1) if found else ""


def _by_start(found: list[Measured]) -> list[Measured]:
    if len(found) > MOST_ROWS:
        raise NoProfile(f"the files hold more than {MOST_ROWS} tasks: name one PROF_* folder, or profile fewer steps")
    return sorted(found, key=lambda m: (m.task.start_us, m.task.stream, m.task.name))


def _of_summary(row: TableRow, clock: Clock, device: str) -> Measured | None:
    duration, start = row.amount(*_DURATION_CELLS), row.moment(clock, *_START_CELLS)
    if duration is None or start is None or duration < 0:
        return None
    op_type, cycles, core_us = row.text("optype"), _cycles(row), _core_us(row)
    task = Task(
        name=row.text("opname")[:_MOST_NAME],
        op_type=op_type[:_MOST_NAME],
        engine=_engine(row.text("tasktype", "coretype"), op_type, cycles),
        stream=_stream(row),
        start_us=start,
        duration_us=duration,
        bound=_bound(duration, core_us, cycles),
        shapes=Shapes(_shapes(row.text("inputshapes")), _shapes(row.text("outputshapes"))),
        formats=Words(_words(row.text("inputformats")), _words(row.text("outputformats"))),
        dtypes=Words(_words(row.text("inputdatatypes")), _words(row.text("outputdatatypes"))),
        n_blocks=_not_negative(row.whole("blockdim", "blocknum", "blocknums")),
        cycles=cycles,
        total_cycles=_total_cycles(row),
    )
    return Measured(task, device, row.text("modelid", "modelname"), row.text("taskid"), core_us)


def _of_task_time(row: TableRow, clock: Clock, device: str) -> Measured | None:
    duration, start = row.amount("tasktime"), row.moment(clock, "taskstart")
    if duration is None or start is None or duration < 0:
        return None
    name, kind = row.text("kernelname", "opname")[:_MOST_NAME], row.text("kerneltype", "type")
    task = Task(name=name, engine=_engine(kind, name, {}), stream=_stream(row), start_us=start, duration_us=duration)
    return Measured(task, device, "", row.text("taskid"))


def _of_trace(tree: ProfileTree, path: str) -> Iterator[Measured]:
    for event in _events(tree.read(path), path):
        arguments = event.get("args")
        if event.get("ph") != "X" or not isinstance(arguments, dict) or "Task Type" not in arguments:
            continue
        start, duration = tree.clock.us(str(event.get("ts"))), number_in(str(event.get("dur")))
        if start is None or duration is None or duration < 0:
            continue
        name, stream = str(event.get("name"))[:_MOST_NAME], arguments.get("Physic Stream Id", arguments.get("Stream Id"))
        lane = _lane(number_in(str(stream)))
        engine = _engine(str(arguments["Task Type"]), name, {})
        task = Task(name=name, engine=engine, stream=lane, start_us=start, duration_us=duration)
        yield Measured(task, device_of(path), str(arguments.get("Model Id", "")), str(arguments.get("Task Id", "")))


def _events(data: bytes, shown: str) -> list[dict[str, object]]:
    try:
        found = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError) as error:
        raise NoProfile(f"{shown}: is no JSON: {str(error)[:100]}") from None
    events = found.get("traceEvents") if isinstance(found, dict) else found
    return [event for event in events if isinstance(event, dict)] if isinstance(events, list) else []


def _stream(row: TableRow) -> int:
    return _lane(row.amount("streamid"))


def _lane(number: float | None) -> int:
    return int(number) if number is not None and abs(number) < 2**31 else 0


def _engine(kind: str, op_type: str, cycles: dict[str, float]) -> str:
    """The engine of a task: by its type, and on cores that have both units by what its cycles or its operator say.

    "runtime" are the runtime's own tasks: its control flow, and whatever has no kernel, such as a wait for an event.
    """
    if CONTROL_FLOW.match(op_type):
        return "runtime"
    kind = kind.upper().replace("-", "_")
    if "AI_CPU" in kind or "AICPU" in kind:
        return "AI CPU"
    if "COMMUNICATION" in kind or "HCCL" in kind:
        return "HCCL"
    if "MEMCPY" in kind or "SDMA" in kind:
        return "copy"
    if "VECTOR" in kind or kind == "MIX_AIV":
        return "vector"
    if "AI_CORE" in kind or "AICORE" in kind or kind == "MIX_AIC" or (not kind and cycles):
        uses_cube = cycles["cube"] > 0 if "cube" in cycles else _CUBE_TYPES.search(op_type) is not None
        return "cube" if uses_cube else "vector"
    return "runtime"


def _cycles(row: TableRow) -> dict[str, float]:
    """Busy cycles by pipe, out of their shares of all cycles."""
    found: dict[str, float] = {}
    for prefix in _PREFIXES:
        total = row.amount(f"{prefix}totalcycles") if prefix != "ai" else row.amount("totalcycles")
        for theirs, ours in PIPES.items():
            share = row.amount(f"{prefix}{theirs}ratio")
            if total and share is not None and share >= 0:
                found[ours] = min(found.get(ours, 0.0) + share * total, MOST_AMOUNT)
    return found


def _total_cycles(row: TableRow) -> float | None:
    found = [cycles for prefix in _PREFIXES if (cycles := row.amount(f"{prefix}totalcycles")) is not None and cycles >= 0]
    return min(sum(found), MOST_AMOUNT) if found else None


def _core_us(row: TableRow) -> float | None:
    """The time of the slower kind of core: the other one of a mixed task works beside it."""
    found = [us for name in _CORE_TIMES if (us := row.amount(name)) is not None and us >= 0]
    return max(found, default=None)


def _bound(duration: float, core_us: float | None, cycles: dict[str, float]) -> str:
    """The busiest pipe, or "start" where the cores work for less than half of the time, as a prediction has it."""
    pipe = busiest_pipe(cycles)
    return "start" if core_us is not None and duration > 2 * core_us else pipe


def _shapes(cell: str) -> list[list[int]]:
    """Shapes such as `"32,14;16"` or `[32,14]`; what is no number is -1."""
    parts = re.sub(r'["\[\]]', "", cell).split(";")[:_MOST_TENSORS] if cell else []
    return [[_extent(size) for size in part.split(",")[:_MOST_DIMENSIONS] if size.strip()] for part in parts]


def _extent(size: str) -> int:
    size = size.strip()
    return int(size) if re.fullmatch(r"[0-9]{1,15}", size) else -1


def _words(cell: str) -> list[str]:
    return [word.strip()[:40] for word in cell.strip('"').split(";")[:_MOST_TENSORS]] if cell else []


def _not_negative(value: int | None) -> int | None:
    return value if value is not None and value >= 0 else None
