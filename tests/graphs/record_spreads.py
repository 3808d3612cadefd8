"""Records how far TensorFlow is from itself on each graph: oneDNN on and off, one thread and two, variables' last bits moved.

    python -m tests.graphs.record_spreads [GRAPH ...]

A deep network with ReLUs and batch statistics turns the last bit of a sum into a different mask, and an adaptive optimizer
turns a gradient that is zero but for rounding into a full step: there TensorFlow's own results differ by more than any fixed
tolerance. Written to spreads.json: by graph and variable the largest distance between two settings over 20 steps that start
from the same variables ("loss": of the loss; "curve": of the losses of 20 steps in a row). Small ones are left out, and what
an earlier recording saw stays.

The settings are few and round alike; whether a ReLU's input within rounding of 0 passes or not, they decide the same way in most
steps. So each step also starts from variables whose last bits are moved at random. A computation that rounds in its own way
gives what exact arithmetic gives for inputs moved about so far, so this is what any such computation may differ by.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import tensorflow.compat.v1 as tf

from tests.graphs.catalogue import GRAPHS
from tests.graphs.check import Step, all_variables, distance, initialize, steps_of

N_STEPS = 20
WORTH_RECORDING = 1e-4 / 3
SETTINGS = (("1", 2), ("1", 1), ("0", 2), ("0", 1))
"""(TF_ENABLE_ONEDNN_OPTS, threads); each is compared with each."""
N_NUDGES = 6
"""Runs of the first setting with other last bits of the variables; each is compared with the first setting's own steps."""


Run = tuple[list[Step], list[float]]
"""The restarted steps and the losses of the free run, none for a nudged one."""


def main(names: list[str]) -> None:
    target = Path(__file__).with_name("spreads.json")
    recorded = json.loads(target.read_text())
    for name in names or list(GRAPHS):
        seen, found = recorded.get(name, {}), _spread(name)
        recorded[name] = {key: max(seen.get(key, 0.0), found.get(key, 0.0)) for key in sorted(seen | found)}
        print(name, max(recorded[name].items(), key=lambda item: item[1], default="below"), flush=True)
        target.write_text(json.dumps(dict(sorted(recorded.items())), indent=1) + "\n")


def _spread(name: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        for index, (onednn, threads) in enumerate(SETTINGS):
            environment = os.environ | {"TF_ENABLE_ONEDNN_OPTS": onednn, "TF_CPP_MIN_LOG_LEVEL": "3"}
            command = [sys.executable, "-m", "tests.graphs.record_spreads", "--one", name, folder, str(index), str(threads)]
            subprocess.run(command, env=environment, check=True, stderr=subprocess.DEVNULL)
        runs = [pickle.loads((Path(folder) / str(index)).read_bytes()) for index in range(len(SETTINGS))]
        nudges = [(steps, []) for steps in pickle.loads((Path(folder) / "nudged").read_bytes())]
    largest: dict[str, float] = {}
    for one, other in [*combinations(runs, 2), *((runs[0], nudge) for nudge in nudges)]:
        for key, value in _distances(one, other):
            largest[key] = max(largest.get(key, 0.0), value)
    return {key: _rounded_up(value) for key, value in sorted(largest.items()) if value > WORTH_RECORDING}


def _distances(one: Run, other: Run) -> Iterator[tuple[str, float]]:
    if other[1]:
        yield "curve", distance(other[1], one[1])
    for mine, base in zip(other[0], one[0], strict=True):
        yield "loss", distance(mine.loss, base.loss)
        for key in base.after:
            yield key, distance(mine.after[key], base.after[key])


def _rounded_up(value: float) -> float:
    """Two digits."""
    digits = 1 - math.floor(math.log10(value))
    return math.ceil(value * 10**digits) / 10**digits


def one_setting(name: str, folder: str, index: str, threads: str) -> None:
    """Write the restarted steps and the free losses of one setting; the first one's own steps are what all start from.

    The first one writes its nudged steps too.
    """
    first = Path(folder) / "0"
    starts: list[Step] | None = pickle.loads(first.read_bytes())[0] if index != "0" else None
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        training = GRAPHS[name]()
        variables = all_variables(training)
        config = tf.ConfigProto(intra_op_parallelism_threads=int(threads))

        def run(restarts: list[Step] | None) -> list[Step]:
            with tf.Session(config=config) as session:
                initialize(session, variables)
                return steps_of(training, session, variables, N_STEPS, restarts)[0]

        restarted = run(starts)
        (Path(folder) / index).write_bytes(pickle.dumps((restarted, [step.loss for step in run(None)])))
        if starts is None:
            nudges = [run(nudged(restarted, np.random.default_rng(seed))) for seed in range(N_NUDGES)]
            (Path(folder) / "nudged").write_bytes(pickle.dumps(nudges))


def nudged(steps: list[Step], rng: np.random.Generator) -> list[Step]:
    """The steps with every fp32 element they start from moved to a neighbour or not at all; zeros stay."""
    return [Step({key: _nudge(value, rng) for key, value in step.before.items()}, step.loss, step.after) for step in steps]


def _nudge(value: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if value.dtype != np.float32:
        return value
    toward = rng.choice(np.float32([-np.inf, np.nan, np.inf]), value.shape)
    moved = np.where(np.isnan(toward), value, np.nextafter(value, toward))
    return np.where(value == 0, value, moved).astype(np.float32)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one_setting(*sys.argv[2:])
    else:
        main(sys.argv[1:])
