"""The least change of a conversion: scripts are converted without some rules, and what they print is compared."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tf2npu.config import load_config
from tf2npu.launch.bisect_rules import least_rules, places_of, rules_with_edits
from tf2npu.launch.temporary_conversion import TemporaryConversion, convert_for_run

SCRIPT = """\
import tensorflow as tf

x = tf.placeholder(tf.float32, [4, 3])
hidden = tf.layers.dense(x, 5, activation=tf.nn.leaky_relu)
dropped = tf.nn.dropout(hidden, keep_prob=0.5)
loss = tf.reduce_mean(tf.square(dropped))
train = tf.train.AdamOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train, {x: [[1.0, 2.0, 3.0]] * 4})
"""


def settings_without(rules) -> str:
    """The lines of pyproject.toml that leave rules out of every conversion of a project."""
    return f"[tool.tf2npu]\nignore = {json.dumps(sorted(rules))}\n"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "project" / "train.py"
    path.parent.mkdir()
    path.write_text(SCRIPT)
    return path


def has(text: str):
    """Whether a conversion of the script holds a text, as the judge of a run."""
    return lambda converted: text in converted.script.read_text()


def test_rules_with_edits_and_their_places_are_those_of_the_conversion(script: Path, tmp_path: Path):
    converted = convert_for_run(script, tmp_path / "all")
    rules = rules_with_edits(converted)
    assert len(rules) >= 2
    text = converted.script.read_text()
    for rule in rules:
        without = convert_for_run(script, tmp_path / rule, [rule])
        assert without.script.read_text() != text and rule not in rules_with_edits(without)
    lines = {int(place.rpartition(":")[2]) for place in places_of(converted, rules)}
    assert all(place.startswith("train.py:") for place in places_of(converted, rules))
    changed = [i for i, line in enumerate(SCRIPT.splitlines(), 1) if i > 1 and line not in text.splitlines()]
    assert set(changed) <= lines


def test_the_rule_that_takes_a_line_is_found(script: Path, tmp_path: Path):
    converted = convert_for_run(script, tmp_path / "all")
    line = "dropped = tf.nn.dropout(hidden, keep_prob=0.5)"
    assert not has(line)(converted)
    found = least_rules(script, tmp_path / "tries", converted, has(line))
    assert found.is_minimal and found.names is not None and len(found.names) == 1
    assert places_of(converted, found.names) == ["train.py:5"]


def test_two_rules_are_found_and_the_settings_leave_them_out(script: Path, tmp_path: Path):
    converted = convert_for_run(script, tmp_path / "all")
    lines = ["dropped = tf.nn.dropout(hidden, keep_prob=0.5)", "with tf.Session() as sess:"]

    def is_right(one: TemporaryConversion) -> bool:
        return all(line in one.script.read_text() for line in lines)

    found = least_rules(script, tmp_path / "tries", converted, is_right)
    assert found.is_minimal and found.names is not None and len(found.names) == 2
    (script.parent / "pyproject.toml").write_text(settings_without(found.names))
    assert load_config(script.parent).ignore == set(found.names)
    assert is_right(convert_for_run(script, tmp_path / "with_settings"))


def test_the_settings_of_a_project_stay(script: Path, tmp_path: Path):
    with_all = set(rules_with_edits(convert_for_run(script, tmp_path / "all")))
    first, second = sorted(with_all)[:2]
    (script.parent / "pyproject.toml").write_text(settings_without([first]))
    assert set(rules_with_edits(convert_for_run(script, tmp_path / "fewer", [second]))) <= with_all - {first, second}


def test_the_tool_needs_no_runtime_for_it():
    code = "import sys, tf2npu.launch.bisect_rules; print(sorted({'numpy', 'npu_runtime'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ))
    assert done.stdout.strip() == "[]"
