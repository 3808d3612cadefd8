"""`tf2npu api` from outside."""

import json

import pytest
from click.testing import CliRunner

from tf2npu.cli import cli


def run(*arguments: str):
    return CliRunner().invoke(cli, ["api", *arguments])


@pytest.mark.parametrize("name", ["tf.nn.ctc_loss", "tensorflow.nn.ctc_loss", "tf.compat.v1.nn.ctc_loss", "tf.nn.ctc_loss()"])
def test_a_row_by_any_spelling(name):
    done = run(name)
    assert done.exit_code == 0
    assert done.output.startswith("tf.nn.ctc_loss(labels, inputs=None,")
    assert "verdict: manual" in done.output


def test_a_row_names_its_rule():
    assert "rule:    NPU101" in run("tf.Session").output


def test_a_pattern_lists_rows():
    lines = run("tf.nn.conv*").output.splitlines()
    assert lines[0].split() == ["tf.nn.conv1d", "runs"]
    assert len(lines) > 5


def test_json():
    (row,) = json.loads(run("tf.erf", "--format", "json").output)
    assert row["name"] == "tensorflow.math.erf"
    assert row["verdict"] == "runs"
    assert "tensorflow.erf" in row["aliases"]
    assert row["signature"] == "(x, name=None)"


@pytest.mark.parametrize(
    ("name", "suggestion"), [("tf.nn.ctc_los", "tf.nn.ctc_loss"), ("relu", "tf.nn.relu"), ("tf.nn.reduce_mean", "tf.reduce_mean")]
)
def test_an_unknown_name_is_refused_with_suggestions(name, suggestion):
    done = run(name)
    assert done.exit_code == 2
    assert f"no API is called {name}" in done.output
    assert suggestion in done.output


def test_an_unknown_pattern_is_refused():
    assert run("tf.nothing.*").exit_code == 2


def test_what_a_simulated_run_lacks_is_said():
    assert "not in a simulated run" in run("tf.contrib.rnn.GridLSTMCell").output
    assert "simulated" not in run("tf.contrib.rnn.LSTMCell").output
    (row,) = json.loads(run("tf.contrib.rnn.GridLSTMCell", "--format", "json").output)
    assert row["simulated"] is False
