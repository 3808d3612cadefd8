"""Training graphs of the usual kinds: all of a step on the device, and TensorFlow's numbers.

TF2NPU_GRAPH_STEPS=20 runs as many steps of each, and the free-running curves beside them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tests.graphs.catalogue import GRAPHS, OP_TYPES, SPREADS, host_nodes
from tests.graphs.check import Outcome, Step, compare, distance, free_run
from tests.graphs.record_spreads import nudged
from tests.how_many import some
from tests.runtime.device import leave_extents_open

N_STEPS = int(os.environ.get("TF2NPU_GRAPH_STEPS", "2"))
N_FREE_STEPS = 20
TOLERANCE = 1e-4


@pytest.mark.whole(but=("lenet_layers", "dcgan", "rnn_static", "seq2seq_attention", "crf_ctc", "deepfm", "unet_detect", "rl_pg"))
@pytest.mark.parametrize("name", GRAPHS)
def test_graph(name: str, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    outcome = compare(GRAPHS[name], N_STEPS, tmp_path)
    assert set(OP_TYPES[name]) <= set(outcome.op_types.values())
    assert_placed(name, outcome)
    assert_saved(outcome, tmp_path)
    farthest = assert_numbers(name, outcome)
    curve = compare_curves(name) if N_STEPS >= N_FREE_STEPS else ""
    record_property("figure", f"graph  {summary(name, outcome, farthest)}{curve}")


@pytest.mark.whole(beyond=1)
@pytest.mark.parametrize("name", some(GRAPHS, 7))
def test_graph_for_feeds_of_any_extent(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs that serve ever new shapes know less before a step, and give the same numbers."""
    leave_extents_open(monkeypatch)
    assert_numbers(name, compare(GRAPHS[name], 1, tmp_path))


def assert_placed(name: str, outcome: Outcome) -> None:
    record = outcome.record
    on_host = {(outcome.op_types[node], reason) for node, reason in record.host_nodes.items()}
    assert on_host == host_nodes(name)
    assert {node for node in outcome.executed if outcome.op_types.get(node, "Const") != "Const"} <= set(record.host_nodes)
    assert record.device_share >= 0.99
    assert record.device_flops > 0


def assert_saved(outcome: Outcome, folder: Path) -> None:
    """A checkpoint written by the device's session holds the variables of its last step."""
    if outcome.training.saver is None:
        return
    reader = tf.train.load_checkpoint(str(folder / "model"))
    last = outcome.mine[-1].after
    for key in reader.get_variable_to_shape_map():
        np.testing.assert_array_equal(reader.get_tensor(key), last[f"{key}:0"])


def tolerance(name: str, variable: str) -> float:
    """TensorFlow's own spread is what nobody can stay below."""
    return max(TOLERANCE, 3 * SPREADS.get(name, {}).get(variable, 0.0))


def assert_numbers(name: str, outcome: Outcome) -> tuple[float, str]:
    """Returns the largest distance of a variable whose tolerance is the plain one, and its name."""
    for key, value in outcome.initial.items():
        assert distance(value, outcome.theirs[0].before[key]) <= 1e-6, key
    farthest = (0.0, "loss")
    for theirs, mine in zip(outcome.theirs, outcome.mine, strict=True):
        assert distance(mine.loss, theirs.loss) <= tolerance(name, "loss")
        for key, value in theirs.after.items():
            apart = distance(mine.after[key], value)
            assert apart <= tolerance(name, key), (key, apart)
            if tolerance(name, key) == TOLERANCE:
                farthest = max(farthest, (apart, key))
    return farthest


def compare_curves(name: str) -> str:
    theirs, mine = free_run(GRAPHS[name], N_FREE_STEPS)
    apart = distance(mine, theirs)
    allowed = tolerance(name, "curve")
    assert apart <= allowed
    pairs = " ".join(f"{a:.5g}/{b:.5g}" for a, b in zip(theirs, mine, strict=True))
    return f"\n  TensorFlow/device, each on its own: {pairs}; {apart:.1e} apart, {allowed:.1e} allowed"


def summary(name: str, outcome: Outcome, farthest: tuple[float, str]) -> str:
    record, (theirs, mine) = outcome.record, outcome.seconds
    return (
        f"{name}: {len(record.device_nodes)} nodes on the device, {len(record.host_nodes)} on the host, "
        f"{100 * record.device_share:.2f} % of {record.device_flops + record.host_flops:.3g} operations on the device, "
        f"at most {farthest[0]:.1e} apart ({farthest[1]}), {len(SPREADS.get(name, {}))} variables with a wider spread, "
        f"step {1e3 * mine:.1f} ms, TensorFlow {1e3 * theirs:.1f} ms"
    )


def test_spreads_are_of_variables_that_exist() -> None:
    assert set(SPREADS) == set(GRAPHS)
    assert set(OP_TYPES) == set(GRAPHS)


def test_a_nudge_is_one_bit() -> None:
    before = {"w": np.linspace(-1, 1, 999, dtype=np.float32), "zero": np.zeros(5, np.float32), "n": np.arange(3)}
    moved = nudged([Step(before, 1.0, {})], np.random.default_rng(1))[0].before
    distances = (moved["w"] - before["w"]) / np.spacing(before["w"])
    assert set(np.round(np.abs(distances), 1)) <= {0.0, 0.5, 1.0}
    assert {-1, 0, 1} <= set(np.sign(distances))
    np.testing.assert_array_equal(moved["zero"], before["zero"])
    np.testing.assert_array_equal(moved["n"], before["n"])
