"""Cost of dumps: a step that is not dumped, one that is, and one of which only statistics are written.

    python -m benchmarks.dump_overhead --folder DIR       (a folder on the disk to be measured)

The network is a small AlexNet without fusion, so that each node is an operator. Ratios are of steps of one process on one
machine, which take turns; each is the median over the turns. A plain loop writes files of the sizes of a step's dump in each.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from npu_runtime.observers.dump.writer import WRITER
from tests.runtime.device import device_session

N_TIMES = 9
BATCH = 64


def network() -> tuple[dict[str, np.ndarray], list[Any]]:
    """The feeds, and the fetches: the loss with the training step."""
    draw = np.random.RandomState(0)
    x, y = tf.placeholder(tf.float32, [None, 32, 32, 3], "x"), tf.placeholder(tf.int32, [None], "y")
    hidden = x
    for number, filters in enumerate((64, 128, 192)):
        hidden = tf.layers.conv2d(hidden, filters, 5, padding="same", activation=tf.nn.relu, name=f"conv{number}")
        hidden = tf.layers.max_pooling2d(hidden, 2, 2)
    hidden = tf.layers.dense(tf.layers.flatten(hidden), 512, tf.nn.relu)
    loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(hidden, 10))
    feeds = {"x:0": draw.rand(BATCH, 32, 32, 3).astype(np.float32), "y:0": draw.randint(0, 10, BATCH)}
    return feeds, [loss, tf.train.MomentumOptimizer(1e-3, 0.9).minimize(loss)]


class Training:
    """A session with a dump or without."""

    def __init__(self, **options: Any) -> None:
        self.graph = tf.Graph()
        with self.graph.as_default():
            tf.set_random_seed(1)
            self.feeds, self.fetched = network()
            initialise = tf.global_variables_initializer()
            self.session = device_session(self.graph, fusion="off", **options)
            self.session.run(initialise)

    def step(self) -> float:
        """Seconds of a step, its files included."""
        begin = time.perf_counter()
        self.session.run(self.fetched, self.feeds)
        WRITER.flush()
        return time.perf_counter() - begin


def files_of_a_step(folder: Path) -> list[int]:
    """Bytes of each file of the step that was dumped last."""
    step = max((path for path in folder.glob("*/*/*/*/*")), key=lambda path: (path.stat().st_mtime, path.name))
    return [path.stat().st_size for path in step.iterdir()]


def plain_loop(folder: Path, sizes: list[int]) -> float:
    """Seconds to write files of these sizes, one after another."""
    data = memoryview(np.random.RandomState(0).bytes(max(sizes)))
    begin = time.perf_counter()
    for number, size in enumerate(sizes):
        with (folder / str(number)).open("wb") as stream:
            stream.write(data[:size])
    return time.perf_counter() - begin


def in_new_folder(above: Path, measure: Callable[[Path], float]) -> float:
    """A measurement in a folder that is there for its time only."""
    folder = Path(tempfile.mkdtemp(dir=above))
    try:
        return measure(folder)
    finally:
        shutil.rmtree(folder)


def turns(*measures: Callable[[], float]) -> np.ndarray:
    """Seconds of measurements that take turns, (turns, measures): a slow minute of the machine is one of all."""
    return np.array([[measure() for measure in measures] for _ in range(N_TIMES)])


def main() -> int:
    """Print the three ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    root = Path(tempfile.mkdtemp(dir=parser.parse_args().folder))
    try:
        report(root)
    finally:
        shutil.rmtree(root)
    return 0


def report(root: Path) -> None:
    """Measure and print."""
    for name in ("never", "each", "table"):
        (root / name).mkdir()
    plain = Training()
    never = Training(enable_dump=True, dump_path=root / "never", dump_step="1000000000")
    each = Training(enable_dump=True, dump_path=root / "each", dump_mode="all")
    table = Training(enable_dump=True, dump_path=root / "table", dump_mode="all", dump_data="stats")
    for training in (plain, never, each, table):
        for _ in range(3):  # compilation, trials of algorithms, and first touches of memory
            training.step()
    sizes = files_of_a_step(root / "each")
    gigabytes = sum(sizes) / 1e9

    def dumped() -> float:
        seconds = each.step()
        for step in (root / "each").glob("*/*/*/*/*"):
            shutil.rmtree(step)
        return seconds

    def looped() -> float:
        return in_new_folder(root, lambda folder: plain_loop(folder, sizes))

    seconds, not_dumped, of_dump, of_loop, of_table = turns(plain.step, never.step, dumped, looped, table.step).T
    print(
        f"a step: {np.median(seconds):.3f} s; its dump: {len(sizes)} files, {gigabytes:.3f} GB; loop: {np.median(of_loop):.3f} s"
    )
    print(f"a step that is not dumped, in a session that dumps others: {np.median(not_dumped / seconds):.3f} x")
    print(f"a dumped step: the step + {np.median((of_dump - seconds) / of_loop):.2f} x the plain loop")
    print(f"statistics: the step + {np.median((of_table - seconds) / gigabytes):.2f} s for each GB")


if __name__ == "__main__":
    raise SystemExit(main())
