"""Exports the raw part of our profiles with the vendor's public parser, and compares its tables with ours cell by cell.

    python -m benchmarks.profiling.vendor_parser --msprof DIR [PROF_...]

DIR is a checkout of github.com/Ascend/msprof, a folder with `analysis/msprof/msprof.py`; without one the program says so and ends
with 77. The parser runs on copies, as it leaves files of its own beside what it reads. Compared are runs that are made by hand,
and those of real scripts; or the named profiles alone.
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any

from benchmarks.profiling.real_runs import all_profiles
from npu_runtime.observers.profiler.aic_metrics import GROUPS
from npu_runtime.observers.profiler.clocks import LEAD_NS
from npu_runtime.observers.profiler.collection import write_profile
from npu_runtime.observers.profiler.settings import ProfilingOptions
from npu_runtime.simulation.run_record import DeviceRun
from tests.profiler import eager_runs, runs

NOT_BROUGHT = 77
"""Exit code that says that something to check against is missing."""
COMPARED = ("op_summary", "op_statistic", "step_trace", "task_time", "api_statistic", "communication_statistic")
"""Tables that both write."""
STARTS = {"op_summary": "Task Start Time(us)", "task_time": "task_start(us)"}
"""Tables by start, and its column. The parser goes through a set of tasks before it sorts them by start, so those that start at
the same time come in any order."""
DROPPED = {"Memory": ("l2_read_bw(GB/s)", "l2_write_bw(GB/s)")}
"""Columns that the vendor documents for a group and that this parser leaves out."""
_BEGAN_NS = 1_700_000_000_123_456_789
"""Time of day of the profiles: any."""
Table = list[list[str]]


def raw_copy(profile: Path, folder: Path) -> Path:
    """A copy of the raw part of a profile below a folder, under the same name."""
    copy = folder / profile.name
    shutil.copytree(profile, copy, ignore=shutil.ignore_patterns("mindstudio_profiler_output"))
    return copy


def export(msprof: Path, copy: Path, what: str) -> Path:
    """Let the parser export "summary" or "timeline" of a copy.  Returns: the folder of its files."""
    program = msprof / "analysis" / "msprof" / "msprof.py"
    done = subprocess.run([sys.executable, program, "export", what, "-dir", copy], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"the vendor's parser fails on {copy}:\n{done.stdout}{done.stderr}")
    return copy / "mindstudio_profiler_output"


def read_table(folder: Path, name: str) -> Table:
    """The rows of a table, header first; none where it was not written."""
    found = sorted(folder.glob(f"{name}_*.csv"))
    if not found:
        return []
    with found[0].open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def differences(ours: Table, theirs: Table, ignored: Sequence[str] = ()) -> Iterator[str]:
    """The differences of two tables, a line each. ignored: columns of ours that the other side need not have."""
    if ours and ignored:
        kept = [at for at, name in enumerate(ours[0]) if name not in ignored]
        ours = [[cells[at] for at in kept] for cells in ours]
    for number, (mine, other) in enumerate(zip_longest(ours, theirs, fillvalue=[])):
        for at, (cell, expected) in enumerate(zip_longest(mine, other, fillvalue="N/A")):
            if cell != expected:
                column = ours[0][at] if ours and at < len(ours[0]) else str(at)
                yield f"row {number}, {column}: ours {cell!r}, the parser's {expected!r}"


def compared(msprof: Path, run: DeviceRun, options: ProfilingOptions) -> dict[str, list[str]]:
    """The differences of each table and of the timeline for a run."""
    with tempfile.TemporaryDirectory() as scratch:
        output = Path(scratch) / "ours"
        output.mkdir()
        profile = write_profile(run, options, output, _BEGAN_NS).folder
        found = compared_tables(msprof, profile, Path(scratch), DROPPED.get(options.aic_metrics, ()))
        mine = profile / "mindstudio_profiler_output"
        timeline = export(msprof, raw_copy(profile, Path(scratch) / "second"), "timeline")
        return found | {"msprof.json": timeline_differences(mine, timeline, run)}


def compared_tables(msprof: Path, profile: Path, scratch: Path, ignored: Sequence[str] = ()) -> dict[str, list[str]]:
    """The differences of each table of a profile that lies there.  scratch: a folder for the copy."""
    exported = export(msprof, raw_copy(profile, scratch / "copy"), "summary")
    mine = profile / "mindstudio_profiler_output"

    def ordered(folder: Path, name: str) -> Table:
        return _ordered(name, read_table(folder, name))

    return {name: list(differences(ordered(mine, name), ordered(exported, name), ignored)) for name in COMPARED}


def _ordered(name: str, table: Table) -> Table:
    """Rows that follow each other and start at the same time in one order; all others stay where they are."""
    if name not in STARTS or not table:
        return table
    at = table[0].index(STARTS[name])
    return [row for _, rows in groupby(table, key=lambda row: row[at]) for row in sorted(rows)]


def timeline_differences(ours: Path, theirs: Path, run: DeviceRun) -> list[str]:
    """Tasks and steps that only one timeline has: by name, start since the begin of the collection, and duration."""
    mine, other = _slices(ours, 0) - _first_batches(run), _slices(theirs, (_BEGAN_NS - LEAD_NS) // 1000)
    return [f"only ours: {found}" for found in (mine - other)] + [f"only the parser's: {found}" for found in (other - mine)]


def _slices(folder: Path, begin_us: int) -> Counter[tuple[str, Decimal, Decimal]]:
    """Slices of the device's streams and steps.  begin_us: what times count from."""
    (path,) = folder.glob("msprof_*.json")
    events = json.loads(path.read_text(encoding="utf-8"))
    (hardware,) = {event["pid"] for event in events if event.get("args") == {"name": "Ascend Hardware"}}
    slices = [event for event in events if event["ph"] == "X" and event["pid"] == hardware]
    return Counter(
        (_name(event), Decimal(event["ts"]) - begin_us, Decimal(str(event["dur"])).quantize(Decimal("0.001"))) for event in slices
    )


def _name(event: dict[str, Any]) -> str:
    """The parser does not know the names of copies and of collectives' tasks; collectives have a track of their own for them."""
    kind = event.get("args", {}).get("Task Type")
    return kind if kind in ("COMMUNICATION", "MEMCPY_ASYNC") else event["name"]


def _first_batches(run: DeviceRun) -> Counter[tuple[str, Decimal, Decimal]]:
    """Batches that the parser drops: that of each model's first step, which for it begins with the forward pass only."""
    first = [model.iterations[0] for model in run.models if model.iterations]
    taken = [step.get_next for step in first if step.fp_start is not None]
    rounded = [tuple(round(us * 100) for us in times) for times in taken if times]
    lead = Decimal(LEAD_NS) / 1000
    return Counter(
        ("GetNext", Decimal(start) / 100 + lead, (Decimal(end - start) / 100).quantize(Decimal("0.001")))
        for start, end in rounded
    )


def cases() -> Iterator[tuple[str, DeviceRun, ProfilingOptions]]:
    """The runs to compare: a loop of 100 iterations, each group of counters, level 0, steps alone, three graphs, eager steps."""
    all_on = ProfilingOptions(training_trace=True)
    yield "100 iterations", runs.lenet_run(100), all_on
    for group in GROUPS:
        yield group, runs.lenet_run(2), ProfilingOptions(training_trace=True, aic_metrics=group)
    yield "level 0", runs.lenet_run(2), ProfilingOptions(training_trace=True, task_trace="l0")
    yield "steps alone", runs.lenet_run(5), ProfilingOptions(training_trace=True, task_trace="off")
    yield "three graphs", runs.three_graphs(), all_on
    for rank, run in enumerate(runs.two_ranks()):
        yield f"rank {rank} of 2", run, ProfilingOptions(training_trace=True, hccl=True)
        yield f"rank {rank} of 2 without hccl", run, all_on
    yield "odd tasks", runs.odd_tasks(), all_on
    yield "planted operators", runs.planted(), all_on
    for name in ("gpt", "resnet18"):
        run = eager_runs.run_steps(name, 5).record().run
        yield f"PyTorch's operators, {name}", run, ProfilingOptions(training_trace=True, aicpu=True, hccl=True)


def main() -> int:
    """Compare all cases, and say how many cells differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--msprof", type=Path, metavar="DIR", help="checkout of github.com/Ascend/msprof")
    parser.add_argument("profiles", type=Path, nargs="*", metavar="PROF_...", help="profiles of runs, instead of those made here")
    asked = parser.parse_args()
    msprof = asked.msprof
    if msprof is None or not (msprof / "analysis" / "msprof" / "msprof.py").is_file():
        print("no checkout of github.com/Ascend/msprof with analysis/msprof/msprof.py: name one with --msprof DIR")
        return NOT_BROUGHT
    n_different = 0
    for name, tables in _of_profiles(msprof, asked.profiles) if asked.profiles else _of_all(msprof):
        for table, found in tables.items():
            n_different += len(found)
            print(f"{name}, {table}: {'the same' if not found else f'{len(found)} differences'}")
            print("".join(f"    {line}\n" for line in found[:3]), end="")
    return 1 if n_different else 0


def _of_all(msprof: Path) -> Iterator[tuple[str, dict[str, list[str]]]]:
    yield from _of_cases(msprof)
    with tempfile.TemporaryDirectory() as scratch:
        for number, (name, profile) in enumerate(all_profiles(Path(scratch))):
            yield name, compared_tables(msprof, profile, Path(scratch) / str(number))


def _of_cases(msprof: Path) -> Iterator[tuple[str, dict[str, list[str]]]]:
    for name, run, options in cases():
        yield name, compared(msprof, run, options)


def _of_profiles(msprof: Path, profiles: Sequence[Path]) -> Iterator[tuple[str, dict[str, list[str]]]]:
    for profile in profiles:
        with tempfile.TemporaryDirectory() as scratch:
            yield profile.name, compared_tables(msprof, profile, Path(scratch))


if __name__ == "__main__":
    sys.exit(main())
