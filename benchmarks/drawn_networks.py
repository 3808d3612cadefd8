"""Step time of twelve drawn networks: the simulated device against TensorFlow's CPU, without tuning and with a warm bank.

    python -m benchmarks.drawn_networks [--as-set]

See `benchmarks.model_step_time` for how a TensorFlow session and a device session take turns.
"""

from __future__ import annotations

import math
import subprocess
import sys

import click
import tensorflow.compat.v1 as tf

from benchmarks.model_step_time import ROUNDS, in_turns
from benchmarks.models.drawn import N_NETWORKS, network
from benchmarks.step_time import heading
from tests.runtime.device import device_session


def measure(index: int) -> None:
    """Print the row of one network."""
    tf.set_random_seed(1)
    name, model = network(index)
    with tf.Session() as theirs, device_session() as ours:
        (tensorflow, device), cpu, verdict = in_turns(model, theirs, ours)
    print(f"| {name} | {tensorflow:.1f} | {device:.1f} | {verdict} | {cpu[1] / cpu[0]:.2f} |", flush=True)


@click.command(help="Step times of drawn networks.")
@click.option("--one", type=int, help="Measure one network in this process, print its line only.")
@click.option("--as-set", is_flag=True, help="Keep settings of the environment that choose the kernels of one side's library.")
def main(one: int | None, as_set: bool) -> None:
    if one is not None:
        return measure(one)
    print(heading(ROUNDS, is_as_set=as_set), end="\n\n")
    print("| network | TensorFlow CPU, ms a step | simulated device, ms a step | ratio | CPU |")
    print("|---|---|---|---|---|", flush=True)
    ratios = []
    for index in range(N_NETWORKS):
        command = [sys.executable, "-m", "benchmarks.drawn_networks", "--one", str(index)]
        row = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        print(row, end="", flush=True)
        ratios.append(float(row.split("|")[4]))
    print(f"\ngeometric mean {math.prod(ratios) ** (1 / len(ratios)):.2f}")


if __name__ == "__main__":
    main()
