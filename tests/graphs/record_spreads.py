"""Records how far TensorFlow is from itself on each graph: oneDNN on and off, one thread and two.

    python -m tests.graphs.record_spreads [GRAPH ...]

A deep network with ReLUs and batch statistics turns the last bit of a sum into a different mask, and an adaptive optimizer
turns a gradient that is zero but for rounding into a full step: there TensorFlow's own results differ by more than any fixed
tolerance. Written to spreads.json: by graph and variable the largest distance between two settings over 20 steps that start
from the same variables ("loss": of the loss; "curve": of the losses of 20 steps in a row). Small ones are left out.
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

import tensorflow.compat.v1 as tf

from tests.graphs.catalogue import GRAPHS
from tests.graphs.check import Step, all_variables, distance, initialize, steps_of

N_STEPS = 20
WORTH_RECORDING = 1e-4 / 3
SETTINGS = (("1", 2), ("1", 1), ("0", 2), ("0", 1))
"""(TF_ENABLE_ONEDNN_OPTS, threads); each is compared with each."""


Run = tuple[list[Step], list[float]]
"""The restarted steps and the losses of the free run."""


def main(names: list[str]) -> None:
    target = Path(__file__).with_name("spreads.json")
    recorded = json.loads(target.read_text())
    for name in names or list(GRAPHS):
        recorded[name] = _spread(name)
        print(name, max(recorded[name].items(), key=lambda item: item[1], default="below"), flush=True)
        target.write_text(json.dumps(dict(sorted(recorded.items())), indent=1) + "\n")


def _spread(name: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        for index, (onednn, threads) in enumerate(SETTINGS):
            environment = os.environ | {"TF_ENABLE_ONEDNN_OPTS": onednn, "TF_CPP_MIN_LOG_LEVEL": "3"}
            command = [sys.executable, "-m", "tests.graphs.record_spreads", "--one", name, folder, str(index), str(threads)]
            subprocess.run(command, env=environment, check=True, stderr=subprocess.DEVNULL)
        runs = [pickle.loads((Path(folder) / str(index)).read_bytes()) for index in range(len(SETTINGS))]
    largest: dict[str, float] = {}
    for one, other in combinations(runs, 2):
        for key, value in _distances(one, other):
            largest[key] = max(largest.get(key, 0.0), value)
    return {key: _rounded_up(value) for key, value in sorted(largest.items()) if value > WORTH_RECORDING}


def _distances(one: Run, other: Run) -> Iterator[tuple[str, float]]:
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
    """Write the restarted steps and the free losses of one setting; the first one's own steps are what all start from."""
    first = Path(folder) / "0"
    starts: list[Step] | None = pickle.loads(first.read_bytes())[0] if index != "0" else None
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        training = GRAPHS[name]()
        variables = all_variables(training)
        config = tf.ConfigProto(intra_op_parallelism_threads=int(threads))
        results = []
        for restarts in (starts, None):
            with tf.Session(config=config) as session:
                initialize(session, variables)
                results.append(steps_of(training, session, variables, N_STEPS, restarts)[0])
    (Path(folder) / index).write_bytes(pickle.dumps((results[0], [step.loss for step in results[1]])))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one_setting(*sys.argv[2:])
    else:
        main(sys.argv[1:])
