"""The switch file of fusions: which passes it reaches, and what is told of what it cannot mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.analysis.fusion_switches import PASSES, with_fusion_switches
from npu_runtime.compiler import pipeline
from npu_runtime.config import load_config
from npu_runtime.session import run_log
from tests.runtime.device import device_session

ALL_OFF = {"Switch": {"GraphFusion": {"ALL": "off"}, "UBFusion": {"ALL": "off"}}}


def _config(folder: Path, content: Any):
    path = folder / "fusion_switch.cfg"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return with_fusion_switches(load_config({"fusion_switch_file": str(path)}, {}))


def test_the_names_are_those_of_the_compilers_fusions():
    fusions = {one.name for one in (*pipeline.FUSE, *pipeline.OPTIMISE) if one.when is not None}
    without_effect_on_nodes = {"prune_control_edges", "remove_unused", "fold_constants", "find_constants", "drop_unread"}
    switched = {name for names in PASSES.values() for name in names}
    missing, unknown = fusions - without_effect_on_nodes - switched, switched - fusions
    assert not missing, f"{sorted(missing)}: name them in PASSES of analysis/fusion_switches.py: their rows have when=_is_fused"
    assert not unknown, f"{sorted(unknown)}: named in PASSES of analysis/fusion_switches.py, but in no row with when=_is_fused"


def test_all_off_is_as_fusion_off(tmp_path):
    config, lines = _config(tmp_path, ALL_OFF)
    assert not config.fusion and lines == ()


def test_a_pass_that_is_named_wins_over_all(tmp_path):
    config, lines = _config(tmp_path, {"Switch": {"GraphFusion": {"ALL": "off", "fuse_recurrent": "on"}}})
    assert config.fusion and lines == ()
    assert config.switched_off == set(PASSES["GraphFusion"]) - {"fuse_recurrent"}


def test_one_pass_is_switched_off_by_its_name(tmp_path):
    assert _config(tmp_path, {"Switch": {"UBFusion": {"fuse_elementwise": "off"}}})[0].switched_off == {"fuse_elementwise"}


@pytest.mark.parametrize(
    "value, off", [(False, {"fold_constants"}), ("false", {"fold_constants"}), (True, set()), ("true", set())]
)
def test_folding_has_an_option_of_its_own(value, off):
    config, lines = with_fusion_switches(load_config({"oo_constant_folding": value}, {}))
    assert config.fusion and config.switched_off == off and lines == ()


def test_names_of_passes_that_there_are_not_are_told(tmp_path):
    config, (line,) = _config(tmp_path, {"Switch": {"GraphFusion": {"SoftmaxFusionPass": "off"}}})
    assert config.switched_off == frozenset()
    assert line.startswith("fusion_switch_file: this device has no pass SoftmaxFusionPass; it has ALL, fold_normalization, ")


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"Switch": []}', '{"Switch": {"GraphFusion": "off"}}', "[" * 100_000, "\x00"]
)
def test_what_is_no_switch_file_is_told_and_fusions_stay_on(tmp_path, content):
    config, (line,) = _config(tmp_path, content)
    assert config.fusion and config.switched_off == frozenset()
    assert line.startswith(f"fusion_switch_file: {tmp_path}") and line.endswith("; every fusion stays on")


def test_a_link_and_a_missing_file_are_told(tmp_path):
    (tmp_path / "link").symlink_to(__file__)
    for name in ("link", "missing"):
        config, (line,) = with_fusion_switches(load_config({"fusion_switch_file": str(tmp_path / name)}, {}))
        assert config.fusion and "every fusion stays on" in line


def test_a_session_runs_each_node_on_its_own(tmp_path):
    path = tmp_path / "switch.cfg"
    path.write_text(json.dumps(ALL_OFF))
    run_log().clear()
    with tf.Graph().as_default():
        x = tf.get_variable("x", (2, 3))
        active = tf.nn.relu(
            tf.nn.bias_add(tf.matmul(x, tf.zeros((3, 4)), name="product"), tf.zeros(4), name="sum"), name="active"
        )
        with device_session(fusion_switch_file=path) as session:
            session.run(tf.global_variables_initializer())
            session.run(active)
    nodes = run_log().sessions[-1].programs[-1].device_nodes
    assert {"product", "sum", "active"} <= set(nodes)
