"""Step time of TensorFlow 2 networks: the simulated device against tf.function on TensorFlow's CPU.

    python -m benchmarks.tensorflow2_step_time [NETWORK ...]

The networks are those of tests/legs/tf2. Each has two processes, one a side, which train by turns: while one does, the other
waits. What counts is the processor time of a step, all threads together, median over all turns; the ratio of wall times stands
beside it. A step is one call of the decorated training step on a batch that is there already. The last columns are the variables
that were copied to the device and back in all steps behind the first turn.
"""

from __future__ import annotations

import itertools
import json
import math
import statistics
import subprocess
import sys
import time
from types import TracebackType
from typing import Any, NamedTuple

import click

from benchmarks.step_time import heading
from tests.legs.tf2 import sides
from tests.legs.tf2.spreads import recorded

ROUNDS = 3
SECONDS_A_TURN = 2.0
FEWEST_STEPS, MOST_STEPS = 3, 100
WARM_UP_STEPS = 3
"""Steps at the beginning of a process that are not timed: tracing, compilation, first touches of memory."""


class Turn(NamedTuple):
    """Milliseconds of processor time and of wall time, a step each, and the variables copied by the end of the turn."""

    processor: list[float]
    wall: list[float]
    copies: dict[str, int]


class Side:
    """A process that trains a network on one side when it is told to."""

    def __init__(self, network: str, side: str) -> None:
        words = [sys.executable, "-m", "benchmarks.tensorflow2_step_time", "--side", side, network]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(words, text=True, **pipes)

    def __enter__(self) -> Side:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def turn(self) -> Turn:
        """Trains for a while.  Raises: RuntimeError where the process has ended."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{' '.join(map(str, self._process.args))} ended with exit code {self._process.wait()}")
        return Turn(*json.loads(line))


def train_by_turns(network: str, side: str) -> None:
    """Trains on a side: a turn for each line of standard input, and a line of JSON for each turn."""
    sides.begin(side)
    import tensorflow as tf

    from tests.legs.tf2.networks import NETWORKS
    from tests.legs.tf2.networks.problem import Move

    tf.keras.utils.set_random_seed(3)
    step, batches, _ = NETWORKS[network].prepared(Move())
    call, given = tf.function(step), itertools.cycle(list(batches.take(4)))
    for _ in range(WARM_UP_STEPS):
        call(*next(given))
    for _ in sys.stdin:
        print(json.dumps([*_timed(call, given), sides.copies(side)]), flush=True)


def _timed(call: Any, given: Any) -> tuple[list[float], list[float]]:
    processor: list[float] = []
    wall: list[float] = []
    while len(wall) < FEWEST_STEPS or (sum(wall) < 1000 * SECONDS_A_TURN and len(wall) < MOST_STEPS):
        batch = next(given)
        began, began_processor = time.perf_counter(), time.process_time()
        float(call(*batch))
        wall.append(1000 * (time.perf_counter() - began))
        processor.append(1000 * (time.process_time() - began_processor))
    return processor, wall


def measured(network: str) -> tuple[str, float]:
    """A row of the table, and the ratio of processor times."""
    with Side(network, sides.PLAIN) as plain, Side(network, sides.DEVICE) as device:
        turns = [(plain.turn(), device.turn()) for _ in range(ROUNDS)]
    theirs, ours = (statistics.median(ms for pair in turns for ms in pair[place].processor) for place in (0, 1))
    wall = [statistics.median(ms for pair in turns for ms in pair[place].wall) for place in (0, 1)]
    first, last = turns[0][1].copies, turns[-1][1].copies
    copied = " | ".join(str(last[way] - first[way]) for way in ("up", "down"))
    return f"| {network} | {theirs:.2f} | {ours:.2f} | {ours / theirs:.2f} | {wall[1] / wall[0]:.2f} | {copied} |", ours / theirs


@click.command(help="Step times of these networks (all of them without a name).")
@click.argument("networks", nargs=-1, type=click.Choice(recorded()), metavar="[NETWORK]...")
@click.option("--side", type=click.Choice(sides.SIDES), help="Train one network on a side, told by standard input.")
def main(networks: tuple[str, ...], side: str | None) -> None:
    if side:
        return train_by_turns(networks[0], side)
    print(heading(ROUNDS, is_as_set=False), end="\n\n")
    print("| network | TensorFlow, ms of processor a step | simulated device | ratio | ratio of wall times | copied up | down |")
    print("|---|---|---|---|---|---|---|", flush=True)
    ratios = []
    for network in networks or recorded():
        row, ratio = measured(network)
        print(row, flush=True)
        ratios.append(ratio)
    print(f"\ngeometric mean {math.prod(ratios) ** (1 / len(ratios)):.2f}, largest {max(ratios):.2f}")


if __name__ == "__main__":
    main()
