"""Cost of profiling for a step: LeNet, batch 64, in two sessions that take turns.   python -m benchmarks.profiling.step_overhead

Ends with 1 where the part of a step in which the profiler works is above its limit. Beside it stands the ratio of the two
sessions' steps, which on a busy machine says less.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
import tracemalloc

import tensorflow.compat.v1 as tf

from benchmarks.models import vision
from benchmarks.models.model import Model
from npu_runtime.observers.base import Observers
from npu_runtime.observers.profiler.profile_watcher import ProfileWatcher
from npu_runtime.observers.profiler.request import ProfilingRequest
from npu_runtime.observers.profiler.settings import ProfilingOptions
from npu_runtime.observers.ran_step import RanStep
from tests.runtime.device import device_of, device_session

MOST_PERCENT = 3.0
"""Percent of a step that profiling may cost: what is promised for it."""
ROUNDS, STEPS_A_ROUND = 5, 20
"""Turns of each session, and steps of a turn: some seconds in all."""
N_LONG = 10_000
"""Iterations of the run whose memory is counted."""
MOST_BYTES_A_STEP = 2_000
"""Bytes that a recorded iteration may take: its times, but not its tasks again."""


class TimedWatcher(ProfileWatcher):
    """seconds: that it has worked in all.  step: the last one."""

    seconds = 0.0
    step: RanStep | None = None

    def after(self, step: RanStep) -> None:
        began = time.perf_counter()
        super().after(step)
        self.seconds += time.perf_counter() - began
        self.step = step


def turn(session: tf.Session, model: Model) -> float:
    """Seconds of the median step of a turn."""
    steps = []
    for _ in range(STEPS_A_ROUND):
        began = time.perf_counter()
        session.run(model.train, model.feeds)
        steps.append(time.perf_counter() - began)
    return statistics.median(steps)


def bytes_a_step(watcher: TimedWatcher) -> float:
    """Memory of each of many more iterations, without computing them."""
    assert watcher.step is not None
    tracemalloc.start()
    for _ in range(N_LONG):
        watcher.after(watcher.step)
    n_bytes, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return n_bytes / N_LONG


def main() -> int:
    """Measure and print both."""
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        model = vision.lenet()
        watcher = TimedWatcher(ProfilingRequest(ProfilingOptions(output=folder), folder, False), {})
        with device_session() as plain, device_session() as profiled:
            for session in (plain, profiled):
                session.run(tf.global_variables_initializer())
            device_of(profiled)._state.observers = Observers((watcher,))
            turn(plain, model), turn(profiled, model)
            watcher.seconds = 0.0
            ratios, whole = [], 0.0
            for _ in range(ROUNDS):
                without, within = turn(plain, model), turn(profiled, model)
                ratios.append(within / without)
                whole += within * STEPS_A_ROUND
        part = 100 * watcher.seconds / whole
        n_bytes = bytes_a_step(watcher)
    print(f"profiling: {part:.2f} % of a step of {1000 * whole / ROUNDS / STEPS_A_ROUND:.1f} ms (at most {MOST_PERCENT} %)")
    print(f"steps with and without: {statistics.median(ratios):.3f}")
    print(f"{n_bytes:.0f} bytes an iteration (at most {MOST_BYTES_A_STEP})")
    return 0 if part <= MOST_PERCENT and n_bytes <= MOST_BYTES_A_STEP else 1


if __name__ == "__main__":
    sys.exit(main())
