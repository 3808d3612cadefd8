"""`tf2npu compare` beside the vendor's program on the same files: time and memory.

    python -m benchmarks.compare_speed --package DIR --python PYTHON [--files 1000] [--elements 100000]

DIR is the unpacked wheel of mindstudio-probe, a folder with `msprobe/msaccucmp`; PYTHON has what it needs (numpy, protobuf,
psutil).  Asked for: at least five times as fast, and at most three times the largest tensor in memory (one of 256 MB, beside
a process that compares a small one).  Without --package only our figures are printed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.vendor_comparison import command_of
from benchmarks.vendor_program import VendorProgram
from tests.comparison.hand_made import Sample

LARGE_BYTES = 256 << 20
"""Bytes of the tensor whose memory is measured: far above what Python and numpy take."""


def chain(folder: Path, n_files: int, n_elements: int) -> Sample:
    """A dump of operators in a row, each with an input and an output; from 1 to n_elements, each power of ten as often."""
    made = Sample(folder)
    rng = np.random.default_rng(1)
    sizes = np.exp(rng.uniform(0, np.log(n_elements), n_files + 1)).astype(int)
    before = rng.normal(size=sizes[0]).astype(np.float32)
    made.operator("layer0", "Data")
    made.tensor("layer0", before)
    for n in range(1, n_files + 1):
        after = rng.normal(size=sizes[n]).astype(np.float32)
        made.operator(f"layer{n}", "Relu", [f"layer{n - 1}:0"])
        made.tensor(f"layer{n}", after)
        made.dump("Relu", f"layer{n}", [before], [after + np.float32(1e-6)])
        before = after
    made.write_graph()
    return made


def one_large(folder: Path) -> Sample:
    """A dump of one operator with one large tensor as its input and as its output."""
    made = Sample(folder)
    values = np.random.default_rng(1).normal(size=LARGE_BYTES // 4).astype(np.float32)
    made.operator("large", "Relu", ["large:0"])
    made.tensor("large", values)
    made.dump("Relu", "large", [values], [values + np.float32(1e-6)])
    made.write_graph()
    return made


_MEASURE = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_maxrss, used.ru_utime + used.ru_stime)
"""


@dataclass(frozen=True)
class Measured:
    """Of a process with its children: on the clock, on the processors (which tells more beside other work), at most."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int


def measured(command: list[str]) -> Measured:
    """Runs a command; its exit code is not looked at, as each program has its own."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", _MEASURE, *command], capture_output=True, text=True, check=True)
    peak, cpu = done.stdout.split()
    return Measured(time.perf_counter() - start, float(cpu), int(peak) * 1024)


def ours(made: Sample, out: Path) -> list[str]:
    return [
        sys.executable,
        "-m",
        "tf2npu",
        "compare",
        str(made.step),
        str(made.reference),
        "--graph",
        str(made.graph),
        "--out",
        str(out),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--elements", type=int, default=100_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = chain(folder / "many", given.files, given.elements)
        own = measured(ours(made, folder / "out"))
        print(f"{given.files} dump files of up to 2 x {given.elements} elements: tf2npu {_told(own)}", end="")
        if given.package:
            (folder / "theirs").mkdir()
            other = measured(command_of(VendorProgram(given.package, given.python), made, folder / "theirs"))
            ratios = f"{other.seconds / own.seconds:.1f} x as fast, {other.cpu_seconds / own.cpu_seconds:.1f} x on the processors"
            print(f", msaccucmp {_told(other)}: {ratios}", end="")
        print()
        small = measured(ours(chain(folder / "small", 1, 10), folder / "out1"))
        large = measured(ours(one_large(folder / "large"), folder / "out2"))
        share = (large.peak_bytes - small.peak_bytes) / LARGE_BYTES
        print(f"one tensor of {LARGE_BYTES >> 20} MB, as input and output: {_told(large)}, {share:.2f} x its size in memory")


def _told(one: Measured) -> str:
    return f"{one.seconds:.1f} s ({one.cpu_seconds:.1f} s on the processors)"


if __name__ == "__main__":
    main()
