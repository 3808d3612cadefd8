"""Time and memory to write the profile of 100,000 tasks.   python -m benchmarks.profiling.large_run"""

from __future__ import annotations

import resource
import tempfile
import time
from pathlib import Path

from npu_runtime.observers.profiler.collection import write_profile
from npu_runtime.observers.profiler.settings import ProfilingOptions
from tests.profiler import runs

N_TASKS = 100_000
"""Tasks of the run: about a day's loop of a small network between two evaluations, and what our limits are stated for."""
_BEGAN_NS = 1_700_000_000_123_456_789
"""Time of day of the profile: any."""


def main() -> None:
    """Print seconds of the writing, the size of the folder, and the most memory of the whole process."""
    run = runs.lenet_run(-(-N_TASKS // len(runs.lenet_tasks())))
    n_tasks = sum(len(step.runs) for step in run.models[0].iterations)
    options = ProfilingOptions(training_trace=True, aicpu=True, hccl=True)
    with tempfile.TemporaryDirectory() as scratch:
        began = time.perf_counter()
        folder = write_profile(run, options, Path(scratch), _BEGAN_NS).folder
        seconds = time.perf_counter() - began
        megabytes = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{n_tasks} tasks: {seconds:.1f} s, {megabytes:.0f} MB on disk, {most:.0f} MB of memory at most")


if __name__ == "__main__":
    main()
