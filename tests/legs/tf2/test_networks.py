"""Networks train on the device as on TensorFlow: losses of 20 steps and weights, by Keras, by loops, by loops in functions."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests.legs.tf2 import sides
from tests.legs.tf2.child import said_by, trained
from tests.legs.tf2.spreads import Apart, apart, recorded, too_far

OWN_STEP = {"dcgan", "seq2seq", "word2vec"}
"""Networks that Keras cannot fit."""
NETWORKS = recorded()
WAYS = ("loop", "fit", "fours")
RUNS = [f"{network}:{way}" for network in NETWORKS for way in WAYS if way != "fit" or network not in OWN_STEP]
QUICK = (
    "mlp:loop", "mlp:fit", "mlp:fours", "lenet:fit", "unet:fours", "transformer:loop", "transformer:fit", "lstm:loop",
    "seq2seq:fours", "vae:fit", "dcgan:loop", "word2vec:loop", "word2vec:fours", "dlrm:fit", "ctc:loop", "bert:loop",
)  # fmt: skip
"""Runs of `make test`: each network that takes less than three seconds, and each way."""
POISONED = ("mlp:fit", "lstm:loop", "seq2seq:fours", "dlrm:fours", "resnet20:fours", "gru:fit")
"""Runs that are repeated with poisoned copies: tables, loops, statistics of batches and masks are among them."""
WHOLE = re.compile(r"on TensorFlow as a whole: (?:step|several|train_function) .*")
"""Lines of the log about training steps that the device has no part in."""
SHARE = re.compile(r"([0-9.]+) % of \S+ floating-point operations on the device")


def agreement(runs: list[str], folder: Path, environment: dict[str, str] | None = None) -> tuple[list[str], str]:
    """Lines about runs further apart than TensorFlow's own spread allows, or not run on the device at all, and a figure."""
    trained(sides.PLAIN, folder / "plain", runs)
    said = trained(sides.DEVICE, folder / "npu", runs, environment=environment)
    lines, largest = WHOLE.findall(said.log), 0.0
    for run in runs:
        file = f"{run.replace(':', '-')}.npz"
        found = apart(folder / "npu" / file, folder / "plain" / file)
        lines += too_far(run.partition(":")[0], found)
        largest = max(largest, *found.losses)
    return lines, f"{', '.join(runs)}: largest difference of losses {largest:.1e}"


def test_quick_networks_train_as_on_tensorflow(tmp_path, record_property) -> None:
    lines, figure = agreement(list(QUICK), tmp_path)
    record_property("figure", figure)
    assert not lines, "\n".join(lines)


@pytest.mark.whole
@pytest.mark.parametrize("network", NETWORKS)
def test_a_network_trains_as_on_tensorflow(network: str, tmp_path, record_property) -> None:
    lines, figure = agreement([run for run in RUNS if run.startswith(f"{network}:") and run not in QUICK], tmp_path)
    record_property("figure", figure)
    assert not lines, "\n".join(lines)


@pytest.mark.whole
@pytest.mark.parametrize("run", POISONED)
def test_a_network_reads_no_stale_copy(run: str, tmp_path) -> None:
    lines, _ = agreement([run], tmp_path, {sides.POISON: "1"})
    assert not lines, "\n".join(lines)


@pytest.mark.whole(beyond=2)
@pytest.mark.parametrize("run", ["mlp:fit", "dlrm:fit", *[f"{network}:loop" for network in NETWORKS]])
def test_almost_all_of_a_network_is_computed_on_the_device(run: str, tmp_path) -> None:
    log = trained(sides.DEVICE, tmp_path, [run]).log
    assert (found := SHARE.search(log)), log[-2000:]
    assert float(found.group(1)) >= 98


def test_a_fit_without_callbacks_copies_nothing_between_its_steps() -> None:
    lines = said_by("copies_of_a_fit.py").lines
    assert lines and lines[-1]["between"] == {"up": 0, "down": 0}, lines


def test_what_is_further_apart_than_the_spread_is_seen() -> None:
    near = Apart([1e-6] * 20, [1e-6] * 4)
    assert not too_far("mlp", near)
    assert too_far("mlp", Apart([1e-6] * 19 + [1e-3], near.weights))
    assert too_far("mlp", Apart([float("nan")] * 20, near.weights))
    assert too_far("mlp", Apart(near.losses, [1e-6, 1e-2, 1e-6, 1e-6]))


def test_differences_are_relative(tmp_path) -> None:
    np.savez(tmp_path / "a.npz", losses=[2.0, 1.0], w0=[[10.0, 1.0]], w1=np.zeros(0), w2=[1e-5])
    np.savez(tmp_path / "b.npz", losses=[2.0, 0.5], w0=[[10.0, 2.0]], w1=np.zeros(0), w2=[0.0])
    assert apart(tmp_path / "a.npz", tmp_path / "b.npz") == ([0.0, 1.0], [0.1, 0.0, pytest.approx(1e-3)])
