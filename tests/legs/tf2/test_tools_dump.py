"""Dumps and graph files of scripts for TensorFlow 2: the trees are those of TensorFlow 1, and `tf2npu compare` reads them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from npu_formats.vendor.dump_file import read_header
from tests.legs.tf2.tool_scripts import FIT, LOOP, line_of, script, tf2npu

OTHERS = """
@tf.function
def total(x):
    return tf.reduce_sum(forward(x))


@tf.function
def same(x):
    return x


print("total", float(total(x)), float(same(tf.constant(1.0))))
"""
"""Functions beside the step: one computes, and one hands on."""
MIXED = ("--option", "precision_mode=allow_mix_precision")


def dump_options(folder: Path, steps: str = "0|2", **others: object) -> dict[str, object]:
    folder.mkdir(exist_ok=True)
    given = {"enable_dump": True, "dump_path": str(folder), "dump_step": steps, "dump_mode": "all", **others}
    return {f"dump_config.{name}": value for name, value in given.items()}


def dumped(tmp_path: Path, name: str, text: str, *words: str, turns: int = 1) -> Path:
    """The tree of a run.  words: of the command."""
    folder = tmp_path / name
    ran = tf2npu("run", *words, script(tmp_path, text, dump_options(folder), turns=turns))
    assert ran.returncode == 0, ran.stderr
    return folder


def steps_of(folder: Path) -> dict[str, set[str]]:
    """Operators dumped in each step of each model; files are TIME/DEVICE/MODEL/NUMBER/STEP/OPERATOR."""
    found: dict[str, set[str]] = {}
    for file in folder.glob("*/*/ge_default_*/*/*/*"):
        found.setdefault(f"{file.parents[2].name.rpartition('_')[2]}/{file.parent.name}", set()).add(file.name.split(".")[0])
    return found


def test_the_trees_have_the_steps_that_were_asked_for(tmp_path):
    found = steps_of(dumped(tmp_path, "dump", LOOP))
    assert sorted(found) == ["1/0", "1/2"]
    assert {"MatMulV2", "Relu", "ApplyGradientDescent"} <= found["1/0"] == found["1/2"]


def test_turns_of_a_loop_are_steps_of_its_body(tmp_path):
    """Two epochs have two calls of two turns each; the body of the loop is a model of its own."""
    found = steps_of(dumped(tmp_path, "dump", FIT, turns=2))
    models = {name.split("/")[0] for name, ops in found.items() if "Conv2DBackpropFilter" in ops}
    assert len(models) == 1
    assert {name.split("/")[1] for name in found if name.split("/")[0] in models} == {"0", "2"}


def test_a_dumped_tensor_is_that_of_tensorflow(tmp_path):
    """The loss of the first step, which the script prints."""
    folder = tmp_path / "dump"
    path = script(tmp_path, LOOP, dump_options(folder))
    printed = tf2npu("run", path).stdout
    (mean,) = folder.glob("*/*/*/*/0/ReduceMean.Mean.*")
    (tensor,) = read_header(mean).outputs
    assert tensor.read().item() == pytest.approx(float(printed.split()[1]), rel=1e-6)


def test_two_dumps_are_compared_to_the_line(tmp_path):
    reference = dumped(tmp_path, "reference", LOOP)
    other = dumped(tmp_path, "dump", LOOP, *MIXED)
    path = tmp_path / "train.py"
    same = tf2npu("compare", "--out", tmp_path, reference, reference)
    assert same.returncode == 0, same.stdout + same.stderr
    differs = tf2npu("compare", "--out", tmp_path, other, reference)
    assert differs.returncode == 1 and f"{path}:" in differs.stdout, differs.stdout + differs.stderr
    assert "The difference begins at" in differs.stdout
    assert int(differs.stdout.partition(f"{path}:")[2].split()[0]) in range(
        line_of(path, "def forward"), line_of(path, "return loss")
    )


def reference(tmp_path: Path, text: str, turns: int) -> Path:
    """The tensors of the first and the third step of the original."""
    folder = tmp_path / "reference"
    (tmp_path / "original").mkdir()
    path = script(tmp_path / "original", text, opens=False, turns=turns)
    written = tf2npu("dump", "reference", "--out", folder, "--steps", "0,2", path)
    assert written.returncode == 0 and "training" in written.stdout, written.stdout + written.stderr
    assert {"0", "2", "nodes.json", "reference.json"} <= {path.name for path in folder.iterdir()}
    return folder


def test_a_dump_agrees_with_what_the_original_computes(tmp_path):
    theirs = reference(tmp_path, FIT, turns=2)
    same = tf2npu("compare", "--out", tmp_path, dumped(tmp_path, "dump", FIT, turns=2), theirs)
    assert same.returncode == 0 and " agree, 0 differ" in same.stdout, same.stdout + same.stderr


@pytest.mark.whole
def test_a_dump_of_another_mode_differs_from_what_the_original_computes(tmp_path):
    theirs = reference(tmp_path, FIT, turns=1)
    mixed = tf2npu("compare", "--out", tmp_path, dumped(tmp_path, "mixed", FIT, *MIXED), theirs)
    assert mixed.returncode == 1 and "The difference begins at" in mixed.stdout, mixed.stdout + mixed.stderr
    assert f"{tmp_path / 'train.py'}:{line_of(tmp_path / 'train.py', 'model.fit(')}" in mixed.stdout


def test_a_reference_has_each_function_that_computes(tmp_path):
    path = script(tmp_path, LOOP + OTHERS, opens=False)
    written = tf2npu("dump", "reference", "--out", tmp_path / "ref", path)
    assert written.returncode == 0, written.stderr
    graphs = json.loads((tmp_path / "ref" / "reference.json").read_text())["graphs"]
    assert [(one["function"], one["runs"], one["is_training"]) for one in graphs] == [("step", 5, True), ("total", 1, False)]
    (tensor,) = (tmp_path / "ref" / "other" / "2" / "0").glob("Sum.0.*.npy")
    printed = tf2npu("run", path).stdout.splitlines()[-1].split()
    assert np.load(tensor).item() == float(printed[1])


def test_overflows_are_looked_for(tmp_path):
    options = dump_options(tmp_path / "dump", enable_dump=False, enable_dump_debug=True, dump_debug_mode="all")
    path = script(tmp_path, LOOP.replace("* 0.1", "* 1e4").replace("tf.square(", "1e4 * tf.square("), options)
    ran = tf2npu("run", "--option", "precision_mode=force_fp16", path)
    assert ran.returncode == 0 and "overflow: results of" in ran.stderr, ran.stderr
    assert list((tmp_path / "dump").rglob("*Opdebug*")), list((tmp_path / "dump").rglob("*"))


def test_graph_files_are_written_where_they_are_asked_for(tmp_path):
    ran = tf2npu("run", script(tmp_path, LOOP), DUMP_GE_GRAPH="2", DUMP_GRAPH_PATH=str(tmp_path / "graphs"))
    assert ran.returncode == 0, ran.stderr
    files = list((tmp_path / "graphs").rglob("ge_proto_*_Build.txt"))
    assert files and any("MatMul" in file.read_text() for file in files)


def test_readable_graphs_too(tmp_path):
    ran = tf2npu("run", "--option", f"dump_graph={tmp_path / 'readable'}", "--option", "verify=on", script(tmp_path, LOOP))
    assert ran.returncode == 0 and any((tmp_path / "readable").rglob("*")), ran.stderr


@pytest.mark.parametrize("mode", ["allow_mix_precision", "force_fp16", "allow_fp32_to_fp16"])
def test_precision_modes_round_what_they_say(tmp_path, mode):
    ran = tf2npu("run", "--option", f"precision_mode={mode}", script(tmp_path, LOOP))
    plain = tf2npu("run", script(tmp_path, LOOP))
    assert ran.returncode == 0 and f"precision: {mode}: " in ran.stderr and "in float16" in ran.stderr, ran.stderr
    assert ran.stdout != plain.stdout
    losses = [[float(line.split()[1]) for line in done.stdout.splitlines()] for done in (ran, plain)]
    assert losses[0] == pytest.approx(losses[1], rel=5e-3)


def test_the_command_wins_over_the_script(tmp_path):
    path = script(tmp_path, LOOP, {"precision_mode": "force_fp16"})
    assert "precision: force_fp16: " in tf2npu("run", path).stderr
    assert "precision: allow_mix_precision: " in tf2npu("run", *MIXED, path).stderr
