"""Cost of the device beside arithmetic: a small sess.run, compilation and memory of ResNet-50's training graph.

    python -m benchmarks.overhead [--as-set] [run] [compile] [memory]

run: one 8x8 matrix product by sess.run, TensorFlow's and the device's calls in turns, medians of 5,000.  compile: how long a
step of ResNet-50 b16 takes until it has its program, the first time and the second, from the cache.  memory: peak resident
memory of a process that trains ResNet-50 b16, on TensorFlow and on the device, each in a process of its own, and the arena
of the step against the largest sum of buffers alive at one time, below which no plan can go.
Each part has its own process. Settings of the environment that slow one side down are left out and named; --as-set keeps them.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
import tensorflow.compat.v1 as tf

from benchmarks.models import vision
from benchmarks.step_time import heading
from npu_runtime.trace.run_log import ProgramRecord
from tests.runtime.device import device_of, device_session

N_CALLS, N_IN_TURN = 5000, 250
N_STEPS = 6
SIDES: dict[str, Callable[[], tf.Session]] = {"tensorflow": tf.Session, "device": device_session}


def measure_run() -> None:
    """Allowed: 80 us more than TensorFlow."""
    x = tf.placeholder(tf.float32, [8, 8])
    product, feeds = tf.matmul(x, x), {x: np.ones((8, 8), np.float32)}
    seconds: dict[str, list[float]] = {side: [] for side in SIDES}
    with tf.Session() as theirs, device_session() as ours:
        sessions = dict(zip(SIDES, (theirs, ours), strict=True))
        for session in sessions.values():
            _calls(session, product, feeds, N_IN_TURN)
        for _ in range(N_CALLS // N_IN_TURN):
            for side, session in sessions.items():
                seconds[side] += [wall for wall, _ in _calls(session, product, feeds, N_IN_TURN)]
    tensorflow, device = (1e6 * statistics.median(seconds[side]) for side in SIDES)
    figures = f"TensorFlow {tensorflow:.0f} us, device {device:.0f} us, {device - tensorflow:+.0f} us"
    print(f"sess.run of one 8x8 matrix product: {figures}")


def measure_compile() -> None:
    """Allowed: 3 s. What a first step takes beyond that is the system clearing memory that it hands out."""
    model = _resnet50()
    for side, make in SIDES.items():
        with make() as session:
            ((start, _),) = _calls(session, tf.global_variables_initializer(), None, 1)
            compiling = _watch_compiling(session) if side == "device" else [0.0] * N_STEPS
            first, second, *more = (seconds for seconds, _ in _calls(session, model.train, model.feeds, N_STEPS))
        known = f", of which compiling {compiling[0]:.2f} s and {compiling[1]:.5f} s" if side == "device" else ""
        print(
            f"ResNet-50 b16, {side}: import and initialisation {start:.2f} s, first step {first:.2f} s, second {second:.2f} s"
            f"{known}, usual {statistics.median(more):.2f} s"
        )


def _watch_compiling(session: tf.Session) -> list[float]:
    """Gets the seconds that each later step spends until it has its program."""
    device, taken = device_of(session), []
    find_plan, find_runner = device._plan_for, device._runner_for

    def plan_for(request: Any) -> Any:
        start = time.perf_counter()
        plan = find_plan(request)
        taken.append(time.perf_counter() - start)
        return plan

    def runner_for(plan: Any, feeds: Any) -> Any:
        start = time.perf_counter()
        runner = find_runner(plan, feeds)
        taken[-1] += time.perf_counter() - start
        return runner

    device._plan_for, device._runner_for = plan_for, runner_for
    return taken


def measure_memory() -> None:
    """Allowed: 1.25 times TensorFlow's peak, and an arena of 1.1 times the largest live set."""
    peaks = {}
    for side in SIDES:
        command = [sys.executable, "-m", "benchmarks.overhead", "--train", side]
        said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
        peaks[side] = int(said[-1])
        print(*(line for line in said if line.startswith("arena")))
    shown = ", ".join(f"{side} {peak / 1e9:.2f} GB" for side, peak in peaks.items())
    print(f"peak memory of a process that trains ResNet-50 b16: {shown}; {peaks['device'] / peaks['tensorflow']:.2f} times")


def train(side: str) -> None:
    """A process of its own: a few steps, the arena's size, and last the peak of the resident memory in bytes."""
    model = _resnet50()
    with SIDES[side]() as session:
        session.run(tf.global_variables_initializer())
        _calls(session, model.train, model.feeds, N_STEPS)
        if side == "device":
            step = _largest(device_of(session)._state.record.programs)
            sizes = f"{step.arena_bytes / 1e9:.3f} GB, largest live set {step.live_bytes / 1e9:.3f} GB"
            print(f"arena of a step {sizes}, {step.arena_bytes / step.live_bytes:.3f} times")
    print(_peak_bytes())


def _peak_bytes() -> int:
    """Of this program; getrusage would count what its parent held when it was started."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return 1024 * int(line.split()[1])
    raise RuntimeError("this system does not tell the peak of a process' memory")


def _largest(programs: list[ProgramRecord]) -> ProgramRecord:
    return max(programs, key=lambda program: program.arena_bytes)


def _resnet50() -> Any:
    tf.set_random_seed(1)
    return vision.resnet50()


def _calls(session: tf.Session, fetches: Any, feeds: Any, n: int) -> list[tuple[float, float]]:
    """Seconds, and seconds of CPU time of all threads, of each of n runs."""
    taken = []
    for _ in range(n):
        start, start_cpu = time.perf_counter(), time.process_time()
        session.run(fetches, feeds)
        taken.append((time.perf_counter() - start, time.process_time() - start_cpu))
    return taken


PARTS = {"run": measure_run, "compile": measure_compile, "memory": measure_memory}


@click.command()
@click.option("--as-set", is_flag=True, help="Keep settings of the environment that choose the kernels of one side's library.")
@click.option(
    "--train", "side", type=click.Choice(list(SIDES)), help="Only train, on this side, and print the peak of the memory."
)
@click.option("--part", type=click.Choice(list(PARTS)), help="Only this part, in this process.")
@click.argument("names", nargs=-1, type=click.Choice(list(PARTS)))
def main(as_set: bool, side: str | None, part: str | None, names: tuple[str, ...]) -> None:
    """Measure the cost of the device beside arithmetic: NAMES of parts, or all of them."""
    if side:
        train(side)
    elif part:
        PARTS[part]()
    else:
        print(heading(1, as_set), end="\n\n", flush=True)
        for name in names or PARTS:
            subprocess.run([sys.executable, "-m", "benchmarks.overhead", "--part", name], check=True)


if __name__ == "__main__":
    main()
