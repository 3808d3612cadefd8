"""The least change of fusion: each pass, and folding, is switched off alone, by the config as by the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_formats.delta_debugging import MinimalSubset, minimal_subset
from npu_runtime.analysis.fusion_choices import fusion_candidates, fusion_change
from npu_runtime.analysis.fusion_switches import FOLDING, PASSES, with_fusion_switches, without_passes
from npu_runtime.analysis.minimal_settings import with_files
from npu_runtime.config import RuntimeConfig, load_config
from npu_runtime.session import DeviceSession, Request, run_log

EVERYTHING = [candidate.name for candidate in fusion_candidates(RuntimeConfig())]
STEP = Request(("loss:0",), ("train",), ("x:0",))


def small_network() -> None:
    """A layer, a normalisation and a constant that is computed, trained."""
    x = tf.placeholder(tf.float32, [8, 6], "x")
    weights = tf.get_variable("weights", initializer=np.linspace(-1, 1, 30, dtype=np.float32).reshape(6, 5))
    bias = tf.ones(5, name="ones") * 0.1
    hidden = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, weights, name="product"), bias, name="sum"), name="active")
    mean, variance = tf.nn.moments(hidden, [0])
    normed = tf.nn.batch_normalization(hidden, mean, variance, None, None, 1e-3)
    loss = tf.reduce_mean(tf.square(tf.tanh(normed) - 0.3), name="loss")
    tf.train.AdamOptimizer(0.1).minimize(loss, name="train")


@contextmanager
def sessions() -> Iterator[tuple[DeviceSession, list[float]]]:
    """The device, and TensorFlow's losses of three steps."""
    with tf.Graph().as_default() as graph:
        small_network()
        start = tf.global_variables_initializer()
        with tf.Session() as session:
            session.run(start)
            right = [session.run(["loss:0", "train"], {"x:0": batch()})[0] for _ in range(3)]
        device = DeviceSession(graph, tf.ConfigProto(), load_config({"verify": "on"}, {}))
        yield device, right
        device.close()
    run_log().clear()


def batch() -> np.ndarray:
    return np.random.RandomState(1).randn(8, 6).astype(np.float32)


def losses(device: DeviceSession, config: RuntimeConfig) -> list[float]:
    device.reconfigure(config)
    device.run(Request((), ("init",), ()), [])
    return [device.run(STEP, [batch()])[0] for _ in range(3)]


def nodes_alone() -> set[str]:
    """Nodes that the last step ran as the graph has them."""
    return set(run_log().sessions[-1].programs[-1].device_nodes)


def test_each_pass_and_all_but_each_give_tensorflows_losses():
    config = load_config({"verify": "on"}, {})
    with sessions() as (device, right):
        for name in EVERYTHING:
            for chosen in ({name}, set(EVERYTHING) - {name}):
                np.testing.assert_allclose(losses(device, without_passes(config, chosen)), right, rtol=1e-5)


@pytest.mark.parametrize("node, responsible", [("sum", "fuse_bias_activation"), ("ones", FOLDING)])
def test_the_pass_that_takes_a_node_is_found(node: str, responsible: str, tmp_path: Path):
    config = load_config({"verify": "on"}, {})
    with sessions() as (device, _):

        def mends(chosen: frozenset[str]) -> bool:
            losses(device, without_passes(config, chosen))
            return node in nodes_alone()

        found = minimal_subset(fusion_candidates(config), mends)
        assert found.is_minimal and responsible in (found.names or ())
        change = fusion_change(found, config)
        losses(device, with_files(config, change, tmp_path))
        assert node in nodes_alone()


@pytest.mark.parametrize("names", [[name] for name in EVERYTHING] + [EVERYTHING, EVERYTHING[1:]], ids=str)
def test_the_file_switches_off_what_was_tried(names: list[str], tmp_path: Path):
    config = load_config({"verify": "on"}, {})
    change = fusion_change(MinimalSubset(tuple(names), (), True, "", 1), config)
    read, lines = with_fusion_switches(with_files(config, change, tmp_path))
    tried = without_passes(config, names)
    assert lines == () and (read.fusion, read.switched_off) == (tried.fusion, tried.switched_off)


def test_what_a_session_has_off_is_no_candidate_and_stays_off(tmp_path: Path):
    config = without_passes(RuntimeConfig(), ["fuse_elementwise"])
    assert {one.name for one in fusion_candidates(config)} == set(EVERYTHING) - {"fuse_elementwise"}
    change = fusion_change(MinimalSubset(("fuse_recurrent",), (), True, "", 1), config)
    assert change.names == ("fuse_recurrent",)
    read, _ = with_fusion_switches(with_files(RuntimeConfig(), change, tmp_path))
    assert read.switched_off == {"fuse_recurrent", "fuse_elementwise"}
    assert fusion_candidates(without_passes(config, [name for names in PASSES.values() for name in names])) == []
