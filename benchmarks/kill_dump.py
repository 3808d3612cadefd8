"""SIGKILL at random moments of trainings that dump: no file under a final name may be torn, and no draft may pass for one.

    python -m benchmarks.kill_dump --kills 200 [--package DIR --python PYTHON | --ours-alone]

By turns the dump has tensors, statistics, and tensors of operators whose names are too long for a file.  TensorFlow is imported
once, and each training is a forked process.  Afterwards our reader and the parser of the vendor's program (that of
benchmarks/vendor_program.py; where it is not to be had, which is said, ours alone) read each file under a final name whole, and
graph files are read, too.  A killed process may leave one draft, which is counted; neither program may take it for a dump file.
Exit code 1 for any fault.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tensorflow.compat.v1 as tf

from benchmarks.vendor_program import Absent, Reader, add_options, brought
from npu_runtime.observers.dump.statistics import HEADER
from tests.dump.networks import lenet, train
from tf2npu.comparison.graph.text import read_graph_text
from tf2npu.comparison.tensors.folder import MAPPING, read_folder
from tf2npu.comparison.tensors.stored_tensor import read_dump_file
from tf2npu.comparison.unreadable import Unreadable

DRAFTS = (".draft-", ".tf2npu-draft-")
"""Begins the names of files that are not whole yet."""
_FOREVER = 1_000_000
"""Steps of a training that is to be killed."""
_PATIENCE_SECONDS = 120.0
"""Until the first file of a training must be there: an undisturbed one takes some two seconds."""


def long_names() -> tuple[tf.Tensor, tf.Operation]:
    """A network whose operators have names that no file system takes."""
    with tf.name_scope("/".join(["deep"] * 60)):
        return lenet()


@dataclass(frozen=True)
class Kind:
    """A way to dump.  options: of the session."""

    name: str
    make: Callable[[], Any] = lenet
    options: dict[str, str] = field(default_factory=dict)


KINDS = (Kind("tensors"), Kind("statistics", options={"dump_data": "stats"}), Kind("long names", long_names))


@dataclass
class Tally:
    """Counts over all kills."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def start(kind: Kind, folder: Path) -> int:
    """A training in a process of its own, whose dump and graph files go into a folder; returns its id."""
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()
        os.chdir(folder)
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        train(_FOREVER, kind.make, enable_dump=True, dump_path=folder / "dump", dump_mode="all", **kind.options)
    finally:
        os._exit(70)


def kill(child: int) -> None:
    """End a training with all that it has started."""
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:  # before its setsid
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def seconds_to_first_file(kind: Kind, folder: Path) -> float:
    """Seconds until a training has dumped something."""
    began = time.perf_counter()
    child = start(kind, folder)
    while not any(folder.glob("dump/*/*/*/*/*/*")) and time.perf_counter() - began < _PATIENCE_SECONDS:
        time.sleep(0.01)
    kill(child)
    return time.perf_counter() - began


def faults_of(folder: Path, tally: Tally, reader: Reader | None) -> list[str]:
    """The faults of the files that a killed process has left."""
    steps = sorted(folder.glob("dump/*/*/*/*/*"))
    drafts = [path for path in folder.rglob("*") if path.name.startswith(DRAFTS)]
    tally.counts["drafts"] += len(drafts)
    found = [f"{len(drafts)} drafts of one process"] if len(drafts) > 1 else []
    for path in folder.glob("ge_proto_*"):
        tally.counts["graph files"] += 1
        found += _fault(read_graph_text, path)
    for step in steps:
        found += _faults_of_step(step, tally)
    if reader is not None:
        steps = [step for step in steps if not read_folder(step).n_statistics]  # which its parser has no form for
        taken, faults = reader.read(steps)
        found += [f"the vendor's program: {path}: {why}" for path, why in faults.items()]
        known = {path for step in steps for path in _dump_files(step)}
        found += [f"only one program takes it for a dump file: {path.name}" for path in sorted(taken ^ known)]
    return found


def _dump_files(step: Path) -> list[Path]:
    return [file.path for files in read_folder(step).files.values() for file in files]


def _faults_of_step(step: Path, tally: Tally) -> list[str]:
    """Each file under a final name is a whole dump file, a whole table, or the list of long names."""
    found, dumped = [], set(_dump_files(step))
    for path in step.iterdir():
        if path.name.startswith(DRAFTS):
            found += [f"a draft is taken for a dump file: {path}"] if path in dumped else []
        elif path.suffix == ".csv":
            tally.counts["tables"] += 1
            found += _fault(_read_names if path.name == MAPPING else _read_table, path)
        else:
            tally.counts["dump files"] += 1
            found += _fault(_read_whole, path) if path in dumped else [f"nobody takes it for a dump file: {path}"]
    return found


def _fault(read: Callable[[Path], Any], path: Path) -> list[str]:
    try:
        read(path)
    except (Unreadable, ValueError) as error:
        return [f"{path.name}: {error}"]
    return []


def _read_whole(path: Path) -> None:
    """Raises: Unreadable."""
    operator = read_dump_file(path)
    for tensor in (*operator.inputs, *operator.outputs):
        tensor.load()


def _read_table(path: Path) -> None:
    """Raises: ValueError where a statistics table is cut."""
    text = path.read_text()
    widths = {len(row) for row in csv.reader(text.splitlines())}
    if not text.startswith(f"{HEADER}\n") or not text.endswith("\n") or len(widths) != 1:
        raise ValueError("the table is torn")


def _read_names(path: Path) -> None:
    """Raises: ValueError where a row of mapping.csv is cut."""
    text = path.read_text()
    if not text.endswith("\n") or any(len(row) != 2 or len(row[1]) < 255 for row in csv.reader(text.splitlines())):
        raise ValueError("the list of long names is torn")


def run(kills: int, seed: int, above: Path, reader: Reader | None) -> Tally:
    """Kill so many trainings."""
    chance, tally = random.Random(seed), Tally()
    seconds = {}
    for number in range(-len(KINDS), kills):
        kind = KINDS[number % len(KINDS)]
        folder = above / f"kill_{number}"
        (folder / "dump").mkdir(parents=True)
        if number < 0:
            seconds[kind.name] = seconds_to_first_file(kind, folder)
        else:
            child = start(kind, folder)
            time.sleep(seconds[kind.name] * chance.uniform(0.5, 2.5))
            kill(child)
            before = tally.counts["dump files"] + tally.counts["tables"]
            tally.faults += [f"kill {number} ({kind.name}): {fault}" for fault in faults_of(folder, tally, reader)]
            is_early = before == tally.counts["dump files"] + tally.counts["tables"]
            tally.counts["kills before the first file" if is_early else "kills of one that wrote"] += 1
        shutil.rmtree(folder)
    return tally


def _vendors_reader(asked: argparse.Namespace, folder: Path) -> Reader | None:
    try:
        return brought(asked, folder).reader()
    except Absent as absent:
        print(f"{absent}: only our reader reads the files")
        return None


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--kills", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--ours-alone", action="store_true", help="without the vendor's program")
    add_options(options)
    asked = options.parse_args()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        reader = None if asked.ours_alone else _vendors_reader(asked, folder)
        tally = run(asked.kills, asked.seed, folder, reader)
        if reader is not None:
            reader.close()
    seen = ", ".join(f"{count} {what}" for what, count in sorted(tally.counts.items()))
    print(f"kills of trainings that dump in {time.perf_counter() - began:.0f} s: {seen}; faults: {len(tally.faults)}")
    for fault in tally.faults[:20]:
        print(" ", fault)
    return int(bool(tally.faults))


if __name__ == "__main__":
    sys.exit(main())
