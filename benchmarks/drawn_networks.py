"""Step time of twelve drawn networks: TensorFlow's CPU, the simulated device, and the same with kernels tuned for this machine.

    python -m benchmarks.drawn_networks [--as-set] [--bank FOLDER] [INDEX ...]

Each network has a process of its own, where three sessions take turns: TensorFlow's, the device's without tuning, and the
device's with a tuner whose bank a process before has filled: in FOLDER, or one for this run. The last column has the shapes that
the bank knew and those that it did not. See `benchmarks.model_step_time` for what is checked.
"""

from __future__ import annotations

import math
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import click
import tensorflow.compat.v1 as tf

from benchmarks.model_step_time import ROUNDS, Step, timed, unmoved
from benchmarks.models.drawn import N_NETWORKS, network
from benchmarks.models.model import Model
from benchmarks.step_time import heading
from npu_runtime.kernels.algorithm_choice import Tuner, set_tuner
from npu_runtime.observers.tuning.bank.machine_bank import MachineBank
from npu_runtime.observers.tuning.kernels.kernel_tuner import KernelTuner
from tests.runtime.device import device_session

SETTLED = 30
"""Steps before the clock counts: the device tries both ways of short steps in the first ones."""
TUNING_SECONDS = 120.0


def in_turns(model: Model, tuner: KernelTuner) -> list[float]:
    """Milliseconds of a step: TensorFlow's, untuned, tuned.  Raises: SystemExit where a variable did not move."""
    with tf.Session() as theirs, device_session() as plain, device_session() as tuned:
        sides: list[tuple[tf.Session, Tuner | None, list[Step]]] = [(theirs, None, []), (plain, None, []), (tuned, tuner, [])]
        for session, choice, _ in sides:
            set_tuner(choice)
            session.run(tf.global_variables_initializer())
            if still := unmoved(session, model):
                raise SystemExit(f"{', '.join(still[:3])} did not move")
            for _ in range(SETTLED):
                session.run(model.train, model.feeds)
        for _ in range(ROUNDS):
            for session, choice, steps in sides:
                set_tuner(choice)
                steps += timed(session, model)
    return [1000 * statistics.median(seconds for seconds, _ in steps) for _, _, steps in sides]


def fill(index: int, folder: Path) -> None:
    """Tune the kernels of a network, and put what they choose into a bank."""
    _, model = network(index)
    tuner = KernelTuner(MachineBank(folder, print), False, TUNING_SECONDS)
    set_tuner(tuner)
    with device_session() as session:
        session.run(tf.global_variables_initializer())
        session.run(model.train, model.feeds)
    tuner.save()


def measure(index: int, folder: Path) -> None:
    """Print the row of one network, whose bank is warm."""
    tf.set_random_seed(1)
    name, model = network(index)
    tuner = KernelTuner(MachineBank(folder, print), False, TUNING_SECONDS)
    tensorflow, plain, tuned = in_turns(model, tuner)
    ratios = f"{plain / tensorflow:.2f} | {tuned / tensorflow:.2f} | {plain / tuned:.2f}"
    print(f"| {name} | {tensorflow:.1f} | {plain:.1f} | {tuned:.1f} | {ratios} | {tuner.n_known}, {tuner.n_tried} |", flush=True)


@click.command(help="Step times of drawn networks.")
@click.argument("indices", nargs=-1, type=click.IntRange(0, N_NETWORKS - 1), metavar="[INDEX]...")
@click.option("--bank", type=click.Path(file_okay=False, path_type=Path), help="Folder of the bank.")
@click.option("--fill", "is_filled", is_flag=True, help="Fill the bank with the choices for one network, in this process.")
@click.option("--one", is_flag=True, help="Measure one network in this process, print its line only.")
@click.option("--as-set", is_flag=True, help="Keep settings of the environment that choose the kernels of one side's library.")
def main(indices: tuple[int, ...], bank: Path | None, is_filled: bool, one: bool, as_set: bool) -> None:
    if bank is not None and (is_filled or one):
        return fill(indices[0], bank) if is_filled else measure(indices[0], bank)
    print(heading(ROUNDS, is_as_set=as_set), end="\n\n")
    print("| network | TensorFlow, ms a step | untuned | tuned | untuned / TensorFlow | tuned / TensorFlow | gain | known, new |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        rows = [row(index, bank or Path(folder)) for index in indices or range(N_NETWORKS)]
    means = [math.prod(column) ** (1 / len(column)) for column in zip(*rows, strict=True)]
    print("\ngeometric means: untuned {:.2f}, tuned {:.2f}, gain {:.2f}".format(*means))


def row(index: int, folder: Path) -> list[float]:
    """Print the row of a network whose bank is filled first.  Returns: its three ratios."""
    command = [sys.executable, "-m", "benchmarks.drawn_networks", "--bank", str(folder), str(index)]
    subprocess.run([*command, "--fill"], stdout=subprocess.DEVNULL, check=True)
    printed = subprocess.run([*command, "--one"], stdout=subprocess.PIPE, text=True, check=True).stdout
    print(printed, end="", flush=True)
    return [float(text) for text in printed.split("|")[5:8]]


if __name__ == "__main__":
    main()
