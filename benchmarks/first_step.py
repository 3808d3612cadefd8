"""Time to the first step of the examples: from `python train.py` to the end of the first training step.

The original on TensorFlow's CPU and the converted script on the simulated device take turns, each in a process of its own that
imports all it needs. In the time are the imports, the script's own work, and compiling.

    python -m benchmarks.first_step [TURNS]
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.step_time import heading
from tests.e2e.conftest import convert
from tests.e2e.programs import EXAMPLES, PROGRAMS, ROOT, ProgramUnderTest

CHILD = ROOT / "tests" / "e2e" / "first_step_run.py"
SIDES = ("plain", "shim")


def seconds(program: ProgramUnderTest, side: str, source: Path, work: Path) -> float:
    """Seconds from the start of the process to the end of the first step."""
    with tempfile.TemporaryDirectory(dir=work) as model:
        words = [side, str(source / program.script), *program.arguments, f"--model_dir={model}"]
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
        begun = time.monotonic()
        done = subprocess.run([sys.executable, str(CHILD), *words], capture_output=True, text=True, env=environment, check=False)
    ended = [line for line in done.stdout.splitlines() if line.startswith("first step ")]
    if not ended:
        raise SystemExit(f"{program.script} made no step:\n{done.stderr[-3000:]}")
    return float(ended[-1].split()[-1]) - begun


def main(turns: int = 3) -> None:
    print(heading(turns), end="\n\n")
    print("| example | TensorFlow CPU, s | simulated device, s | ratio |")
    print("|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        converted = convert(EXAMPLES, work / "out")
        for program in PROGRAMS:
            sources = dict(zip(SIDES, (program.source, converted), strict=True))
            for side, source in sources.items():
                seconds(program, side, source, work)  # files of the modules come into the system's memory
            taken = [[seconds(program, side, source, work) for side, source in sources.items()] for _ in range(turns)]
            theirs, ours = (statistics.median(side) for side in zip(*taken, strict=True))
            print(f"| {program.name} | {theirs:.2f} | {ours:.2f} | {ours / theirs:.2f} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
