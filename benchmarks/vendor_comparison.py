"""The vendor's program beside ours, on the same files: comparisons cell by cell, tensors bit by bit, overflows line by line.

    python -m benchmarks.vendor_comparison [--package DIR --python PYTHON] [DUMP_STEP REFERENCE_STEP GRAPH ...]

The program is that of benchmarks/vendor_program.py; where it is not to be had, this says so and ends with 77.  Compared are the
sample of the tests, with npy files and as two dumps, random networks, the four examples (benchmarks/example_dumps.py), steps of
functions of TensorFlow 2 (benchmarks/function_dumps.py), and the folders that are named.  Every cell of the vendor's columns has
the same text, or a number within 1e-6 of it.  The vendor's `convert` gives the arrays of `tf2npu dump npy`, and its `overflow`
what our readers see in overflow dumps, of both families of chips.

The examples' references are compared without the list of their nodes: by names alone, as the vendor's program pairs.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np

from benchmarks.example_dumps import dumped_examples, tool
from benchmarks.function_dumps import dumped_functions
from benchmarks.vendor_overflows import overflow_differences
from benchmarks.vendor_program import NOT_BROUGHT, Absent, VendorProgram, add_options, brought
from tests.comparison.hand_made import Sample, whole

TOLERANCE = 1e-6
"""Between two numbers, and relative to them: a sum of float32 in another order is that far off."""


def command_of(program: VendorProgram, made: Sample, out: Path, reference: Path | None = None) -> list[str]:
    """The command that compares a sample with npy files, or with another dump where one is named."""
    asked = ["-m", str(made.step), "-g", str(reference or made.reference), "-out", str(out)]
    return program.command("compare", *asked, *([] if reference else ["-f", str(made.graph)]))


def table(folder: Path) -> list[list[str]]:
    """The one result table in a folder."""
    (path,) = folder.glob("result_*.csv")
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.reader(stream))


def differences(theirs: list[list[str]], ours: list[list[str]]) -> list[str]:
    """The vendor's cells that are not ours."""
    found = [] if len(theirs) == len(ours) else [f"{len(theirs)} rows, ours has {len(ours)}"]
    for one, other in zip(theirs, ours, strict=False):
        found += [
            f"{one[0]} {name}: {a!r}, ours {b!r}" for name, a, b in zip(theirs[0], one, other, strict=False) if not same(a, b)
        ]
    return found


def same(one: str, other: str) -> bool:
    """Whether two cells have one text, or numbers within the tolerance."""
    if one == other:
        return True
    try:
        return math.isclose(float(one), float(other), rel_tol=TOLERANCE, abs_tol=1.01 * TOLERANCE)  # six decimals each
    except ValueError:
        return False


def compared(program: VendorProgram, made: Sample, folder: Path, reference: Path | None = None) -> list[str]:
    """The differences of both programs' tables for a sample."""
    for name in ("theirs", "ours"):
        (folder / name).mkdir(parents=True)
    graph = [] if reference else ["--graph", str(made.graph)]
    own = ["compare", str(made.step), str(reference or made.reference), "--out", str(folder / "ours"), *graph]
    theirs = command_of(program, made, folder / "theirs", reference)
    for name, command in (("theirs", theirs), ("ours", [sys.executable, "-m", "tf2npu", *own])):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if not list((folder / name).glob("result_*.csv")):
            raise SystemExit(f"{command[0]} wrote no table:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return differences(table(folder / "theirs"), table(folder / "ours"))


def converted(program: VendorProgram, step: Path, folder: Path) -> list[str]:
    """The arrays of a step's dump files that the vendor's `convert` and `tf2npu dump npy` make differently."""
    theirs, ours = folder / "theirs", folder / "ours"
    folder.mkdir()
    subprocess.run(program.command("convert", "-d", step, "-out", theirs), capture_output=True, check=False)
    tool("dump", "npy", step, ours, folder=folder)
    names = {path.name for above in (theirs, ours) for path in above.glob("*.npy")}
    return [name for name in sorted(names) or ["no file"] if not _same_array(theirs / name, ours / name)]


def _same_array(one: Path, other: Path) -> bool:
    """Whether both are there, with one shape, the same bytes and one type, which the program does not keep of no elements."""
    if not one.exists() or not other.exists():
        return False
    a, b = np.load(one), np.load(other)
    return a.shape == b.shape and (not a.size or a.dtype == b.dtype) and a.tobytes() == b.tobytes()


def random_network(folder: Path, seed: int) -> Sample:
    """Operators in a row with tensors of random shapes, types and errors."""
    made = Sample(folder)
    rng = np.random.default_rng(seed)
    made.operator("n0", "Data")
    for n in range(1, 60):
        shape = tuple(int(extent) for extent in rng.integers(1, 40, rng.integers(0, 4)))
        value = (rng.normal(size=shape) * 10.0 ** rng.integers(-6, 6)).astype(np.float32)
        error = rng.normal(size=shape) * np.abs(value).max(initial=0) * 10.0 ** -float(rng.integers(1, 9))
        dtype = rng.choice(["float32", "float16", "float64", "int32"])
        with np.errstate(over="ignore", invalid="ignore"):
            device = (value + error).astype(dtype)
        made.operator(f"scope/n{n}", "Add", [f"scope/n{n - 1}:0"])
        made.tensor(f"scope/n{n}", value)
        made.dump("Add", f"scope/n{n}", [], [device])
    made.write_graph()
    return made


def named(step: Path, reference: Path, graph: Path) -> Sample:
    """A sample whose folders are the user's."""
    made = Sample.__new__(Sample)
    made.__class__ = type("Named", (Sample,), {"step": step, "reference": reference, "graph": graph})
    return made


def samples(program: VendorProgram, folder: Path) -> Iterator[tuple[str, list[str]]]:
    """The differences for dumps made by hand and by chance."""
    first = whole(folder / "sample")
    yield "the sample of the tests", compared(program, first, folder / "a")
    yield "the sample beside itself", compared(program, first, folder / "b", whole(folder / "other").step)
    for seed in range(5):
        yield f"random network {seed}", compared(program, random_network(folder / f"r{seed}", seed), folder / f"c{seed}")


def examples(program: VendorProgram, folder: Path) -> Iterator[tuple[str, list[str]]]:
    """The differences for the dumps of the examples, and of functions of TensorFlow 2."""
    folder.mkdir()
    for made in chain(dumped_examples(folder), dumped_functions(folder / "functions")):
        step, reference, graph = made.first_step()
        tool("dump", "graph", graph, made.folder / "graph.json", folder=made.folder)
        named_alone = made.folder / "by_name" / reference.name
        shutil.copytree(reference, named_alone)
        sample = named(step, named_alone, made.folder / "graph.json")
        yield made.name, compared(program, sample, made.folder / "compared")
        yield f"{made.name}, arrays", converted(program, step, made.folder / "converted")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    parser.add_argument("folders", nargs="*", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            program = brought(given, folder)
        except Absent as absent:
            print(absent)
            return NOT_BROUGHT
        found = dict(samples(program, folder))
        found |= overflow_differences(program, folder / "overflows")
        found |= dict(examples(program, folder / "examples"))
        for n in range(0, len(given.folders), 3):
            made = named(*given.folders[n : n + 3])
            found[str(made.step)] = compared(program, made, folder / f"d{n}")
    for what, cells in found.items():
        print(f"{what}: {len(cells)} differ{': ' + json.dumps(cells[:5]) if cells else ''}")
    return int(any(found.values()))


if __name__ == "__main__":
    sys.exit(main())
