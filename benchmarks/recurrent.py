"""Step time of recurrent networks that are loops in the graph: the simulated device against TensorFlow's CPU.

    python -m benchmarks.recurrent

`tf.nn.dynamic_rnn` over 40 steps, trained by Adam: forward, backward and update, one process for each line, in which a
TensorFlow session and a device session take turns. The device runs the loops of such a network as one kernel each way.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import click
import numpy as np
import tensorflow.compat.v1 as tf

from benchmarks.model_step_time import ROUNDS, in_turns
from benchmarks.models.model import Model
from benchmarks.step_time import heading
from tests.runtime.device import device_session

CELLS: dict[str, Callable[[int], Any]] = {"LSTM": tf.nn.rnn_cell.LSTMCell, "GRU": tf.nn.rnn_cell.GRUCell}
SIZES = ((8, 32), (32, 128), (64, 256), (128, 512))
"""Batch, units."""
N_STEPS, DEPTH = 40, 16


def build(cell: str, batch: int, units: int) -> Model:
    """The squared error of four outputs behind the last state."""
    inputs = np.random.default_rng(0).standard_normal((batch, N_STEPS, DEPTH)).astype(np.float32)
    x = tf.placeholder(tf.float32, inputs.shape)
    outputs, _ = tf.nn.dynamic_rnn(CELLS[cell](units), x, dtype=tf.float32)
    loss = tf.reduce_mean(tf.square(tf.layers.dense(outputs[:, -1], 4) - 1.0))
    return Model(loss, tf.train.AdamOptimizer(1e-3).minimize(loss), {x: inputs})


def measure(cell: str, batch: int, units: int) -> None:
    """Print the row of one network."""
    tf.set_random_seed(1)
    model = build(cell, batch, units)
    with tf.Session() as theirs, device_session() as ours:
        (tensorflow, device), _, verdict = in_turns(model, theirs, ours)
    print(f"| {cell} | {batch} | {units} | {tensorflow:.1f} | {device:.1f} | {verdict} |", flush=True)


@click.command(help="Step times of LSTM and GRU in four sizes.")
@click.option(
    "--one", nargs=3, type=(click.Choice(list(CELLS)), int, int), help="Measure one in this process: cell, batch, units."
)
def main(one: tuple[str, int, int] | None) -> None:
    if one:
        return measure(*one)
    print(heading(ROUNDS, is_as_set=True), end="\n\n")
    print("| cell | batch | units | TensorFlow CPU, ms a step | simulated device, ms a step | ratio |")
    print("|---|---|---|---|---|---|", flush=True)
    for cell in CELLS:
        for batch, units in SIZES:
            command = [sys.executable, "-m", "benchmarks.recurrent", "--one", cell, str(batch), str(units)]
            print(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout, end="", flush=True)


if __name__ == "__main__":
    main()
