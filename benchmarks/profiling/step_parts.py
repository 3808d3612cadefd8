"""The parts of a step's time on the simulated device: a sampling profile by kind of code, and counters.

    python -m benchmarks.profiling.step_parts [--seconds S] [NAME ...]

NAME: of an example, a drawn network (`drawn 0` to `drawn 11`), or a graph of `benchmarks.changing_shapes` (`changing recurrent`);
without one, all. Each network trains in a process of its own, which `perf` (Debian: linux-perf) samples once its programs are
compiled. A share is of the wall time from the first to the last step, on the thread that calls the session:

    products       inside BLAS
    loops          inside numpy's inner loops, which add, copy and reduce
    numpy calls    the rest of numpy: checks, broadcasting, iterators, new arrays
    Python         the interpreter: kernels' own lines, and what stands between kernels
    memory         memmove, memset, malloc, and pages that the system hands out
    other          TensorFlow's code around a session's call, and what has no symbol
    waiting        not on a processor: for another thread, or for Python's lock

Exit code 77: perf is absent or may not sample.
"""

from __future__ import annotations

import re
import resource
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

ABSENT = 77
WARM_STEPS = 40
"""Steps before sampling begins: the device compiles, and tries both ways of short steps."""
SAMPLES_A_SECOND = 997
"""A prime, so that no step of a round number of microseconds stays in tune with it."""
TOLD, N_COUNTERS = "counters:", 3
"""The beginning of the child's line of counters, and how many it has."""
KINDS = ("products", "loops", "numpy calls", "Python", "memory", "other")
INNER_LOOP = re.compile(
    r"^(FLOAT|DOUBLE|HALF|BOOL|U?(BYTE|SHORT|INT|LONG|LONGLONG))_|^simd_|_(to_)?(strided|contig)|^_(aligned|contig|strided)|pairwise_sum"
    r"|^trivial_|^mapiter_|_fasttake|argmax|^npy_(half|fast)|^(add|multiply|subtract)_"
)
MEMORY = re.compile(r"mem(move|cpy|set|cmp)|alloc|^(cfree|_int_free|free|clear_page|__handle_mm|unlink_chunk)|page")


def kind_of(library: str, symbol: str) -> str:
    """The one of KINDS that a sample in a function of a shared library is."""
    name = library.rsplit("/", 1)[-1]
    if "blas" in name:
        return "products"
    if "multiarray" in name or "libm.so" in name or "pocketfft" in name:
        return "loops" if "libm." in name or INNER_LOOP.search(symbol) else "numpy calls"
    if "kernel" in name or "libc" in name:
        return "memory" if MEMORY.search(symbol) else "other"
    return "Python" if "python" in name and "site-packages" not in library else "other"


class _Spent(BaseException):
    """The seconds are over. No script catches it by accident."""


class Clock:
    """Counts the steps of a program; tells when they are warm, and ends the program when the seconds are over."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.n_steps = seconds, 0
        self._began = self._faults = 0.0

    def tick(self) -> None:
        """Note that a step ended.  Raises: _Spent."""
        self.n_steps += 1
        if self.n_steps == WARM_STEPS:
            print("warm", flush=True)
            sys.stdin.readline()  # perf samples from here on
            self._began, self._faults = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        elif self.n_steps > WARM_STEPS and time.perf_counter() - self._began > self.seconds:
            raise _Spent

    def told(self) -> str:
        """Wall seconds, steps and page faults since the steps are warm."""
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - self._faults
        return f"{TOLD} {time.perf_counter() - self._began} {self.n_steps - WARM_STEPS} {faults}"


def _train_drawn(index: int, clock: Clock) -> None:
    import tensorflow.compat.v1 as tf

    from benchmarks.models.drawn import network
    from tests.runtime.device import device_session

    _, model = network(index)
    with device_session() as session:
        session.run(tf.global_variables_initializer())
        while True:
            session.run(model.train, model.feeds)
            clock.tick()


def _train_changing(name: str, clock: Clock) -> None:
    import numpy as np
    import tensorflow.compat.v1 as tf

    from benchmarks.changing_shapes import GRAPHS, N_LENGTHS, SHORTEST
    from tests.runtime.device import device_session

    loss, feeds = GRAPHS[name]()
    fetches = [loss, tf.train.AdamOptimizer(1e-3).minimize(loss)]
    random = np.random.default_rng(3)
    with device_session() as session:
        session.run(tf.global_variables_initializer())
        while True:
            session.run(fetches, feeds(int(random.integers(SHORTEST, SHORTEST + N_LENGTHS))))
            clock.tick()


def _train_example(name: str, clock: Clock, work: Path) -> None:
    """Run a converted example until the clock ends it. A step is what the recorder of the end-to-end tests calls one."""
    from tests.e2e.conftest import convert
    from tests.e2e.programs import EXAMPLES
    from tests.e2e.recorder import Recorder

    program, arguments = _example(name)
    script = convert(EXAMPLES, work / "out") / program.script
    sys.path.insert(0, str(script.parent))
    import npu_bridge.npu_init  # noqa: F401  the recorder wraps the shim's session

    class Ticking(Recorder):
        def _note(self, graph: Any, ops: Any, loss: Any, metadata: Any) -> None:
            clock.tick()

    Ticking(work / "step0", restore=False).install()
    sys.argv = [str(script), *arguments, f"--model_dir={work / 'model'}"]
    runpy.run_path(str(script), run_name="__main__")


def _example(name: str) -> tuple[Any, tuple[str, ...]]:
    from tests.e2e.programs import PROGRAMS

    program = next(one for one in PROGRAMS if one.name == name)
    return program, tuple(re.sub(r"=\d+", "=100000", argument) for argument in program.arguments[:1])


def _programs() -> dict[str, Callable[[Clock, Path], None]]:
    from benchmarks.changing_shapes import GRAPHS
    from benchmarks.models.drawn import N_NETWORKS
    from tests.e2e.programs import PROGRAMS

    examples = {p.name: lambda clock, work, n=p.name: _train_example(n, clock, work) for p in PROGRAMS}
    drawn = {f"drawn {i}": lambda clock, work, i=i: _train_drawn(i, clock) for i in range(N_NETWORKS)}
    changing = {n: lambda clock, work, n=n: _train_changing(n, clock) for n in GRAPHS}
    return {**examples, **drawn, **{f"changing {n}": train for n, train in changing.items()}}


def _train(name: str, seconds: float) -> None:
    """The child: trains one network, and prints its counters as the last line."""
    clock = Clock(seconds)
    with tempfile.TemporaryDirectory() as work:
        try:
            _programs()[name](clock, Path(work))
        except _Spent:
            print(clock.told(), flush=True)
            sys.stdin.readline()  # perf has stopped


def sampled(name: str, seconds: float, data: Path) -> tuple[Counter[str], float, int, int]:
    """Train a network under perf.  Returns: samples of the calling thread by kind, wall seconds, steps, page faults."""
    command = [sys.executable, "-m", "benchmarks.profiling.step_parts", "--one", name, "--seconds", str(seconds)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert child.stdin and child.stdout
    while (line := child.stdout.readline()) and line.strip() != "warm":
        pass
    record = ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(SAMPLES_A_SECOND), "-p", str(child.pid), "-o", str(data)]
    perf = subprocess.Popen(record, stderr=subprocess.DEVNULL)
    time.sleep(0.5)  # perf has attached to all threads
    print(file=child.stdin, flush=True)
    counters = _last_line(child)
    perf.send_signal(signal.SIGINT)
    perf.wait()
    print(file=child.stdin, flush=True)
    child.wait()
    if len(counters) != N_COUNTERS:
        raise SystemExit(f"{name} ended with {child.returncode} before its {seconds} s were over: {' '.join(command)}")
    wall, n_steps, n_faults = counters
    return _by_kind(data, child.pid), wall, int(n_steps), int(n_faults)


def _last_line(child: subprocess.Popen[str]) -> list[float]:
    """The counters, which follow whatever else a script prints; empty where the child ended without them."""
    assert child.stdout
    for line in child.stdout:
        if line.startswith(TOLD):
            return [float(word) for word in line.removeprefix(TOLD).split()]
    return []


def _by_kind(data: Path, thread: int) -> Counter[str]:
    fields = ["perf", "script", "-i", str(data), "-F", "tid,ip,sym,dso"]
    printed = subprocess.run(fields, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
    kinds: Counter[str] = Counter()
    for line in printed.splitlines():
        if match := re.match(r"\s*(\d+)\s+[0-9a-f]+\s+(.+) \((.+)\)\s*$", line):
            is_caller = int(match[1]) == thread
            kinds[kind_of(match[3], match[2]) if is_caller else "workers"] += 1
    return kinds


def row(name: str, seconds: float) -> str:
    """A line of the table."""
    with tempfile.TemporaryDirectory() as folder:
        kinds, wall, n_steps, n_faults = sampled(name, seconds, Path(folder) / "perf.data")
    of_wall = {kind: kinds[kind] / SAMPLES_A_SECOND / wall for kind in (*KINDS, "workers")}
    waiting = max(0.0, 1 - sum(of_wall[kind] for kind in KINDS))
    shares = " | ".join(f"{100 * share:.0f}" for share in (*(of_wall[kind] for kind in KINDS), waiting, of_wall["workers"]))
    return f"| {name} | {1000 * wall / n_steps:.2f} | {shares} | {n_faults / n_steps:.0f} |"


@click.command(help="The parts of a step's time.")
@click.argument("names", nargs=-1)
@click.option("--seconds", default=6.0, show_default=True, help="Sampled seconds of each network.")
@click.option("--one", help="Train one network in this process, as the child that is sampled.")
def main(names: tuple[str, ...], seconds: float, one: str | None) -> None:
    if one:
        return _train(one, seconds)
    if shutil.which("perf") is None:
        print("perf is absent: install linux-perf")
        raise SystemExit(ABSENT)
    from benchmarks.step_time import heading

    print(heading(1), end="\n\n")
    print(f"| network | ms a step | {' | '.join(KINDS)} | waiting | workers busy | page faults a step |")
    print("|---" * (len(KINDS) + 5) + "|", flush=True)
    for name in names or _programs():
        print(row(name, seconds), flush=True)


if __name__ == "__main__":
    main()
