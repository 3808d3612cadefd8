"""Step time of the examples: the converted script on the simulated device, the original on TensorFlow's CPU.

Both sides run by turns on the same machine in the same run, and the medians over all turns are compared. What is timed
is the session call of a training step, as the script makes it, from outside.

    make bench        or        python -m benchmarks.step_time [ROUNDS]
"""

from __future__ import annotations

import os
import platform
import statistics
import sys
import tempfile
from dataclasses import dataclass, field, replace
from datetime import date
from importlib.metadata import version
from pathlib import Path

from benchmarks.one_sided import without_one_sided
from tests.e2e.conftest import convert
from tests.e2e.programs import EXAMPLES, PROGRAMS, ProgramUnderTest, record
from tests.e2e.record_spreads import processor

WARM_UP_STEPS = 20  # compilation, first touches of memory, caches
LONGER = {  # the examples as shipped, dropout on
    "lenet_estimator": ("--steps=120",),
    "alexnet_session": ("--steps=120",),
    "keras_cnn": ("--epochs=4",),
    "transformer": ("--steps=120",),
}


@dataclass
class Timing:
    """Step times of one example in milliseconds."""

    name: str
    tensorflow_ms: list[float] = field(default_factory=list)
    device_ms: list[float] = field(default_factory=list)

    def row(self) -> str:
        """One line of the table: both medians and their ratio."""
        theirs, ours = statistics.median(self.tensorflow_ms), statistics.median(self.device_ms)
        return f"| {self.name} | {theirs:.2f} | {ours:.2f} | {ours / theirs:.2f} |"


def step_ms(program: ProgramUnderTest, side: str, source: Path, work: Path) -> list[float]:
    """Milliseconds of every step after the warm-up."""
    seconds = record(program, side, "save", source, work)["step_seconds"]
    return [1000 * second for second in seconds[WARM_UP_STEPS:]]


def measure(program: ProgramUnderTest, converted: Path, work: Path, rounds: int) -> Timing:
    """Alternates the two sides `rounds` times."""
    program, timing = replace(program, arguments=LONGER[program.name]), Timing(program.name)
    for _ in range(rounds):
        timing.tensorflow_ms += step_ms(program, "plain", program.source, work)
        timing.device_ms += step_ms(program, "shim", converted, work)
    return timing


def machine(rounds: int) -> str:
    """The machine that the figures were taken on; a busy one shows in the load."""
    software = f"Python {platform.python_version()}, TensorFlow {version('tensorflow-cpu')}, numpy {version('numpy')}"
    load = f"load {os.getloadavg()[0]:.1f} at the start"
    return f"{date.today()}, {processor()}, {os.cpu_count()} cores, {load}, {software}; medians over {rounds} turns a side"


def heading(rounds: int, is_as_set: bool = False) -> str:
    """`machine`, and which settings of the environment do not reach the processes that begin now, unless they are kept."""
    return "\n".join(filter(None, [machine(rounds), without_one_sided(os.environ, is_kept=is_as_set)]))


def main(rounds: int = 3) -> None:
    print(heading(rounds), end="\n\n")
    print("| example | TensorFlow CPU, ms a step | simulated device, ms a step | ratio |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as work:
        converted = convert(EXAMPLES, Path(work) / "out")
        for program in PROGRAMS:
            print(measure(program, converted, Path(work) / program.name, rounds).row(), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
