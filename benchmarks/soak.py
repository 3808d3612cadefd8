"""A long run: 4 threads on 2 sessions of the simulated device. Memory must stay, no tensor may be torn, no step may be lost.

In each session one thread trains an LSTM on batches of two lengths, and one trains a large matrix. Both threads read the matrix
and both set it anew now and then. Its elements are all equal after every update, so a value that mixes two updates shows at once.

    python -m benchmarks.soak [--steps 10000]

Exit code 1 when resident memory grew by 20 MB or more from step 1,000 on, a tensor was torn or a counter is off.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tests.runtime.device import device_session

N_SESSIONS = 2
GROWTH_MB = 20.0
WARM_UP = 1000
N_ROWS = 400  # 640 KB: numpy lets other threads run while it works on that

Step = Callable[[int], None]


class Soak:
    """Two sessions, their threads and what they saw.  n_steps: of all threads together."""

    def __init__(self, n_steps: int) -> None:
        self.n_steps = n_steps
        self.faults: list[str] = []
        self.resident_mb: list[tuple[int, float]] = []
        self._done = 0
        self._lock = threading.Lock()

    def run(self) -> None:
        sessions = [self._open(number) for number in range(N_SESSIONS)]
        work = [step for _, steps, _ in sessions for step in steps]
        threads = [threading.Thread(target=self._work, args=(step, self.n_steps // len(work))) for step in work]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for session, steps, counter in sessions:
            counted, wanted = session.run(counter), len(steps) * (self.n_steps // len(work))
            if counted != wanted:
                self.faults.append(f"{counted} steps counted of {wanted}")
            session.close()

    def _open(self, number: int) -> tuple[Any, list[Step], Any]:
        """A session on a graph of its own, the steps of its two threads, and its counter of steps."""
        with tf.Graph().as_default() as graph:
            counter = tf.get_variable("steps", initializer=0, use_resource=bool(number))
            large = tf.get_variable("large", [N_ROWS] * 2, initializer=tf.ones_initializer(), use_resource=bool(number))
            replaced = tf.assign(large, tf.fill(large.shape, tf.random_uniform([])))
            session = device_session(graph)
            makers = (self._recurrent, self._large)
            steps = [self._watched(session, make(session, counter, large), large, replaced) for make in makers]
            session.run(tf.global_variables_initializer())
            graph.finalize()
        return session, steps, counter

    def _watched(self, session: Any, train: Step, large: Any, replaced: Any) -> Step:
        """The step of one thread and a look at the matrix, which every fifth step sets first."""

        def step(n: int) -> None:
            train(n)
            value = session.run([large, replaced] if n % 5 == 0 else [large])[0]
            if value.min() != value.max():
                self.faults.append(f"a torn tensor at step {n}: {np.unique(value)[:3]}")

        return step

    def _recurrent(self, session: Any, counter: Any, large: Any) -> Step:
        x = tf.placeholder(tf.float32, [None, 8, 6])
        cell = tf.nn.rnn_cell.LSTMCell(8, initializer=tf.random_uniform_initializer(-0.3, 0.3, seed=1))
        outputs, _ = tf.nn.dynamic_rnn(cell, tf.nn.dropout(x, rate=0.1), dtype=tf.float32)
        loss = tf.reduce_mean(tf.square(outputs - 0.5))
        train = tf.group(tf.train.AdamOptimizer(1e-3).minimize(loss), tf.assign_add(counter, 1))
        batches = [np.ones((n, 8, 6), np.float32) for n in (4, 7)]

        def step(n: int) -> None:
            got, _ = session.run([loss, train], {x: batches[n % 2]})
            if not 0 < got < 1:
                self.faults.append(f"loss {got} at step {n}")

        return step

    def _large(self, session: Any, counter: Any, large: Any) -> Step:
        """The gradient does not read the matrix: a ref variable may change while an op reads it, here as in TensorFlow."""
        gradient = tf.fill(large.shape, tf.random_uniform([]) - 0.5)
        train = tf.group(tf.train.AdamOptimizer(1e-2).apply_gradients([(gradient, large)]), tf.assign_add(counter, 1))
        return lambda n: session.run(train)

    def _work(self, step: Step, n_steps: int) -> None:
        for n in range(n_steps):
            try:
                step(n)
            except Exception as error:
                self.faults.append(f"step {n}: {error!r}")
                return
            with self._lock:
                self._done += 1
                if self._done % 500 == 0:
                    self.resident_mb.append((self._done, resident_mb()))


def resident_mb() -> float:
    """Resident memory of this process. Source: proc(5), statm."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def growth_mb(measured: list[tuple[int, float]]) -> float:
    """From the warm-up to the largest value after it."""
    settled = [mb for step, mb in measured if step >= WARM_UP]
    return max(settled) - settled[0] if settled else 0.0


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=10_000)
    soak = Soak(parser.parse_args(words).steps)
    start = time.perf_counter()
    soak.run()
    print(f"{soak.n_steps} steps, {2 * N_SESSIONS} threads, {N_SESSIONS} sessions, {time.perf_counter() - start:.0f} s")
    print("resident MB by step: " + ", ".join(f"{step}: {mb:.0f}" for step, mb in soak.resident_mb))
    print(f"growth from step {WARM_UP} on: {growth_mb(soak.resident_mb):.1f} MB (allowed: less than {GROWTH_MB:.0f})")
    print(f"torn tensors, lost steps, errors: {len(soak.faults)}")
    for fault in soak.faults[:10]:
        print(f"  {fault}")
    return int(bool(soak.faults) or growth_mb(soak.resident_mb) >= GROWTH_MB)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
