"""Step time of twelve drawn networks: TensorFlow's CPU, the simulated device, and the same with kernels tuned for this machine.

    python -m benchmarks.drawn_networks [--generator shapes|tasks] [--as-set] [--bank FOLDER] [--steps N] [INDEX ...]

`shapes`, the default, draws layers that classify rows, images and sequences. `tasks` draws other kinds, twelve, too: attention
decoders, networks on graphs, detection heads, conditional random fields, variational autoencoders, and updates of reinforcement
learning (`benchmarks/models/drawn_tasks`).

Each network has a process of its own, where three sessions take turns: TensorFlow's, the device's without tuning, and the
device's with a tuner whose bank a process before has filled: in FOLDER, or one for this run. The last two columns have the shapes
that the bank knew and those that it did not, and the types of ops that the device leaves to the host, each with its number.
`--steps 3` only tries whether all of it runs. See `benchmarks.model_step_time` for what is checked.
"""

from __future__ import annotations

import math
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import click
import tensorflow.compat.v1 as tf

from benchmarks.model_step_time import MOST_STEPS, ROUNDS, Step, timed, unmoved
from benchmarks.models import drawn
from benchmarks.models.drawn_tasks import generator as drawn_tasks
from benchmarks.models.model import Model
from benchmarks.step_time import heading
from npu_runtime.kernels.algorithm_choice import Tuner, set_tuner
from npu_runtime.observers.tuning.bank.machine_bank import MachineBank
from npu_runtime.observers.tuning.kernels.kernel_tuner import KernelTuner
from tests.runtime.device import device_of, device_session

SETTLED = 30
"""Steps before the clock counts: the device tries both ways of short steps in the first ones."""
TUNING_SECONDS = 120.0
KINDS = "Layers on rows, images and sequences; or decoders, graphs, detectors, random fields, autoencoders, RL."
COLUMNS = ("untuned", "tuned", "untuned / TensorFlow", "tuned / TensorFlow", "gain", "known, new", "on the host")
GENERATORS = {"shapes": drawn.network, "tasks": drawn_tasks.network}


def in_turns(model: Model, tuner: KernelTuner, most_steps: int) -> tuple[list[float], str]:
    """Milliseconds of a step: TensorFlow's, untuned, tuned; and `host_ops`.  Raises: SystemExit where a variable did not move."""
    with tf.Session() as theirs, device_session() as plain, device_session() as tuned:
        sides: list[tuple[tf.Session, Tuner | None, list[Step]]] = [(theirs, None, []), (plain, None, []), (tuned, tuner, [])]
        for session, choice, _ in sides:
            set_tuner(choice)
            session.run(tf.global_variables_initializer())
            if still := unmoved(session, model):
                raise SystemExit(f"{', '.join(still[:3])} did not move")
            for _ in range(min(SETTLED, most_steps)):
                session.run(model.train, model.feeds)
        for _ in range(ROUNDS):
            for session, choice, steps in sides:
                set_tuner(choice)
                steps += timed(session, model, most_steps)
        on_host = host_ops(plain)
    return [1000 * statistics.median(seconds for seconds, _ in steps) for _, _, steps in sides], on_host


def host_ops(session: tf.Session) -> str:
    """Types of ops of all programs of a session that run on the host, and how many of each; 0 where there are none."""
    nodes = {node for program in device_of(session)._state.record.programs for node in program.host_nodes}
    types = {op.name: op.type for op in session.graph.get_operations()}
    return ", ".join(f"{n} {kind}" for kind, n in sorted(Counter(types.get(node, node) for node in nodes).items())) or "0"


def fill(model: Model, tuner: KernelTuner) -> None:
    """Tune the kernels of a network, and put what they choose into the tuner's bank."""
    set_tuner(tuner)
    with device_session() as session:
        session.run(tf.global_variables_initializer())
        session.run(model.train, model.feeds)
    tuner.save()


def measure(name: str, model: Model, tuner: KernelTuner, most_steps: int) -> None:
    """Print the row of one network, whose bank is warm."""
    (tensorflow, plain, tuned), on_host = in_turns(model, tuner, most_steps)
    ratios = f"{plain / tensorflow:.2f} | {tuned / tensorflow:.2f} | {plain / tuned:.2f}"
    shapes = f"{tuner.n_known}, {tuner.n_tried}"
    print(f"| {name} | {tensorflow:.1f} | {plain:.1f} | {tuned:.1f} | {ratios} | {shapes} | {on_host} |", flush=True)


@click.command(help="Step times of drawn networks.")
@click.argument("indices", nargs=-1, type=click.IntRange(0, drawn.N_NETWORKS - 1), metavar="[INDEX]...")
@click.option("--generator", type=click.Choice(list(GENERATORS)), default="shapes", show_default=True, help=KINDS)
@click.option("--steps", type=click.IntRange(1), default=MOST_STEPS, show_default=True, help="Steps of a turn at most.")
@click.option("--bank", type=click.Path(file_okay=False, path_type=Path), help="Folder of the bank.")
@click.option("--fill", "is_filled", is_flag=True, help="Fill the bank with the choices for one network, in this process.")
@click.option("--one", is_flag=True, help="Measure one network in this process, print its line only.")
@click.option("--as-set", is_flag=True, help="Keep settings of the environment that choose the kernels of one side's library.")
def main(
    indices: tuple[int, ...], generator: str, steps: int, bank: Path | None, is_filled: bool, one: bool, as_set: bool
) -> None:
    if bank is not None and (is_filled or one):
        tf.set_random_seed(1)
        name, model = GENERATORS[generator](indices[0])
        tuner = KernelTuner(MachineBank(bank, print), False, TUNING_SECONDS)
        return fill(model, tuner) if is_filled else measure(name, model, tuner, steps)
    print(heading(ROUNDS, is_as_set=as_set), end="\n\n")
    print(f"| network | TensorFlow, ms a step | {' | '.join(COLUMNS)} |\n{(2 + len(COLUMNS)) * '|---'}|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        options = ["--generator", generator, "--steps", str(steps), "--bank", str(bank or folder)]
        rows = [row([*options, str(index)]) for index in indices or range(drawn.N_NETWORKS)]
    means = [math.prod(column) ** (1 / len(column)) for column in zip(*rows, strict=True)]
    print("\ngeometric means: untuned {:.2f}, tuned {:.2f}, gain {:.2f}".format(*means))


def row(options: list[str]) -> list[float]:
    """Print the row of a network whose bank is filled first.  Returns: its three ratios."""
    command = [sys.executable, "-m", "benchmarks.drawn_networks", *options]
    subprocess.run([*command, "--fill"], stdout=subprocess.DEVNULL, check=True)
    printed = subprocess.run([*command, "--one"], stdout=subprocess.PIPE, text=True, check=True).stdout
    print(printed, end="", flush=True)
    return [float(text) for text in printed.split("|")[5:8]]


if __name__ == "__main__":
    main()
