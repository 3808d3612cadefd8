"""`dump reference` from outside: where the steps of which graph are, what is told, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

TRAINING = """
import sys
import numpy as np
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 3], name="x")
loss = tf.reduce_mean(tf.layers.dense(x, 1, name="fc"), name="loss")
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run([train, loss, tf.as_string(loss)], {x: np.ones([2, 3])})
    for step in range(int(sys.argv[1])):
        session.run([train, loss], {x: np.full([2, 3], step)})
    session.run(loss, {x: np.zeros([1, 3])})
sys.exit(int(sys.argv[2]))
"""


@pytest.fixture
def script(tmp_path):
    (tmp_path / "train.py").write_text(TRAINING)
    return tmp_path / "train.py"


def test_the_training_graph_with_the_most_steps_comes_first(tool, script, tmp_path):
    out = tmp_path / "new" / "out"
    done = tool("dump", "reference", script, "--out", out, "--steps", "0,2", "--", "4", "0")
    assert done.code == 0, done.err
    assert sorted(path.name for path in out.iterdir()) == ["0", "2", "nodes.json", "other", "reference.json"]
    for step in (0, 2):
        (fed,) = (out / str(step)).glob("x.0.*.npy")
        np.testing.assert_array_equal(np.load(fed), np.full([2, 3], step, np.float32))
    graphs = json.loads((out / "reference.json").read_text())["graphs"]
    assert [(graph["folder"], graph["runs"]) for graph in graphs] == [("other/1", 1), ("other/2", 1), (".", 4), ("other/4", 1)]
    assert sorted(path.name for path in (out / "other").iterdir()) == ["1", "2", "4"]
    nodes = json.loads((out / "nodes.json").read_text())["nodes"]
    assert nodes["fc/MatMul"] == ["MatMul", ["x:0", "fc/kernel/read:0"]]
    assert nodes["fc/kernel/read"] == ["Identity", ["fc/kernel:0"]]
    assert not {"init", "AsString"} & nodes.keys() and (out / "other" / "4" / "nodes.json").exists()
    assert "graph 1: 1 step, 1 written" in done.out and "training 3: 4 steps, 2 written" in done.out and ", 1 strings" in done.out
    again = tool("dump", "reference", script, "--out", out, "4", "0")
    assert again.code == 2 and "holds files already" in again.err


def test_what_a_failing_script_had_done_is_kept(tool, script, tmp_path):
    done = tool("dump", "reference", "--out", tmp_path / "out", script, "2", "7")
    assert done.code == 7 and "ended with exit code 7" in done.err
    assert {"0", "1"} <= {path.name for path in (tmp_path / "out").iterdir()}


def test_a_script_without_sessions(tool, tmp_path):
    (tmp_path / "empty.py").write_text("print('nothing')\n")
    done = tool("dump", "reference", tmp_path / "empty.py", "--out", tmp_path / "out")
    assert done.code == 3 and "ran no graph" in done.err and "nothing" not in done.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name a SCRIPT"),
        (["absent.py"], "absent.py: no such file"),
        (["migrated.py"], "before it was migrated"),
        (["train.py", "--steps", "3-1"], "'3-1' is no step"),
        (["train.py", "--steps", "a"], "'a' is no step"),
    ],
)
def test_what_is_refused_makes_no_folder(tool, script, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "migrated.py").write_text("from npu_bridge.npu_init import *\n")
    done = tool("dump", "reference", "--out", "out", *words)
    assert done.code == 2 and said in done.err and not (tmp_path / "out").exists()


def test_a_folder_behind_a_link_is_refused(tool, script, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    done = tool("dump", "reference", "--out", "link", script)
    assert done.code == 2 and "symbolic link" in done.err and not list((tmp_path / "real").iterdir())
