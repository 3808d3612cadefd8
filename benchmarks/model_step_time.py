"""Step time of ten models of full size: the simulated device against TensorFlow's CPU, same graph, same feeds.

    python -m benchmarks.model_step_time [--as-set] [MODEL ...]

Each model has a process of its own, where a TensorFlow session and a device session take turns. TensorFlow's side fetches
the train op itself, and every trainable variable must have moved on both sides, or the model is called invalid. Beside the
ratio of the times stands that of the CPU times of all threads, which still means something on a busy machine, and the share
of the device's step that its products of matrices and convolutions, summed directly, would take at the speed of numpy's
matrix product on as many threads. Winograd's algorithm takes fewer, so that a share above 100 % is possible.
Settings of the environment that slow one side down are left out and named; --as-set keeps them.
"""

from __future__ import annotations

import math
import statistics
import subprocess
import sys
import time
from typing import Any, NamedTuple

import click
import numpy as np
import tensorflow.compat.v1 as tf

from benchmarks.models import language, tables, vision
from benchmarks.models.model import Build, Model
from benchmarks.step_time import heading
from npu_runtime.executor.program import Task
from npu_runtime.kernels.base import all_kernels
from npu_runtime.kernels.linalg.matmul import multiply
from tests.runtime.device import device_of, device_session

MODELS: dict[str, Build] = {
    "lenet_b64": vision.lenet,
    "resnet20_b128": vision.resnet20,
    "resnet50_b16": vision.resnet50,
    "vgg16_b4": vision.vgg16,
    "mobilenet_v2_b16": vision.mobilenet_v2,
    "bert_2_layers_b8": language.bert_2_layers,
    "bert_base_b2": language.bert_base,
    "lstm_ptb_b20": language.lstm_ptb,
    "dcgan_b64": vision.dcgan,
    "deepfm_b1024": tables.deepfm,
}
ROUNDS = 3
SECONDS_A_TURN = 6.0
FEWEST_STEPS, MOST_STEPS = 2, 40


Step = tuple[float, float]
"""Seconds of a step, and of CPU time of all threads."""


def timed(session: tf.Session, model: Model, most: int = MOST_STEPS) -> list[Step]:
    """The steps of one turn."""
    steps: list[Step] = []
    while len(steps) < FEWEST_STEPS or (sum(s for s, _ in steps) < SECONDS_A_TURN and len(steps) < most):
        start, start_cpu = time.perf_counter(), time.process_time()
        session.run(model.train, model.feeds)
        steps.append((time.perf_counter() - start, time.process_time() - start_cpu))
    return steps


def unmoved(session: tf.Session, model: Model) -> list[str]:
    """Trainable variables that a step leaves as they are: a session that pruned the step."""
    variables = tf.trainable_variables()
    before = session.run(variables)
    session.run(model.train, model.feeds)
    after = session.run(variables)
    return [v.name for v, a, b in zip(variables, before, after, strict=True) if np.array_equal(a, b)]


def matrix_product_flops(n: int = 1536) -> float:
    """Floating-point operations a second of numpy's fp32 matrix product, cut over the device's threads."""
    a = np.ones((n, n), np.float32)
    out = np.empty_like(a)
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        multiply(a, a, out)
        seconds.append(time.perf_counter() - start)
    return 2 * n**3 / min(seconds)


def cube_flops(session: tf.Session) -> float:
    """Floating-point operations of a step's matrix products and convolutions."""
    programs = [runner.program for plan in device_of(session)._plans.values() for runner in plan.runners.values()]
    kernels = all_kernels()
    tasks = [[step for step in program.steps if isinstance(step, Task)] for program in programs]
    return max(sum(task.flops for task in steps if kernels[task.op].unit == "cube") for steps in tasks)


class Turns(NamedTuple):
    """Medians of a step, TensorFlow's and the device's, wall and CPU in ms.  verdict: the ratio, or why there is none."""

    wall: tuple[float, float]
    cpu: tuple[float, float]
    verdict: str


def in_turns(model: Model, theirs: tf.Session, ours: tf.Session) -> Turns:
    """Both sessions initialised, checked and timed one after the other, ROUNDS times."""
    initializers = tf.global_variables_initializer()
    sides: dict[Any, list[Step]] = {theirs: [], ours: []}
    still = []
    for session in sides:
        session.run(initializers)
        still += unmoved(session, model)
        session.run(model.train, model.feeds)
    for _ in range(ROUNDS):
        for session, steps in sides.items():
            steps += timed(session, model)
    tensorflow, device = (1000 * statistics.median(s for s, _ in steps) for steps in sides.values())
    their_cpu, our_cpu = (1000 * statistics.median(s for _, s in steps) for steps in sides.values())
    verdict = f"{device / tensorflow:.2f}" if not still else f"invalid: {', '.join(still[:3])} did not move"
    return Turns((tensorflow, device), (their_cpu, our_cpu), verdict)


def measure(name: str) -> None:
    """Print the row of one model."""
    tf.set_random_seed(1)
    model = MODELS[name]()
    with tf.Session() as theirs, device_session() as ours:
        (tensorflow, device), cpu, verdict = in_turns(model, theirs, ours)
        limit = 1000 * cube_flops(ours) / matrix_product_flops()
    print(f"| {name} | {tensorflow:.1f} | {device:.1f} | {verdict} | {cpu[1] / cpu[0]:.2f} | {limit / device:.0%} |", flush=True)


@click.command(help="Step times of these models (all of them without a name).")
@click.argument("names", nargs=-1, type=click.Choice(list(MODELS)), metavar="[MODEL]...")
@click.option("--one", is_flag=True, help="Measure one model in this process, print its line only.")
@click.option("--as-set", is_flag=True, help="Keep settings of the environment that choose the kernels of one side's library.")
def main(names: tuple[str, ...], one: bool, as_set: bool) -> None:
    if one:
        return measure(names[0])
    print(heading(ROUNDS, is_as_set=as_set), end="\n\n")
    print("| model | TensorFlow CPU, ms a step | simulated device, ms a step | ratio | CPU | matrix products at numpy's peak |")
    print("|---|---|---|---|---|---|", flush=True)
    ratios = []
    for name in names or MODELS:
        command = [sys.executable, "-m", "benchmarks.model_step_time", "--one", name]
        row = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        print(row, end="", flush=True)
        ratios.append(float(row.split("|")[4]))
    print(f"\ngeometric mean {math.prod(ratios) ** (1 / len(ratios)):.2f}")


if __name__ == "__main__":
    main()
