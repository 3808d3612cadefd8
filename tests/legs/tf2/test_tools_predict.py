"""Predictions and profiles of scripts for TensorFlow 2: a call is a step, a loop's turns are its steps, and tasks have lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.legs.tf2.tool_scripts import FIT, LOOP, LSTM, line_of, script, tf2npu

MODEL_WITH_LINES = LOOP.replace("tf.nn.relu(", "activated(").replace(
    "def forward", "def activated(x):\n    return tf.nn.relu(x)\n\n\ndef forward"
)


def predicted(path: Path, *words: object) -> dict[str, Any]:
    made = path.with_name("prediction.json")
    done = tf2npu("predict", *words, "--json", made, path)
    assert done.returncode == 0, done.stderr
    return json.loads(made.read_text())


def share_with_lines(document: dict[str, Any]) -> float:
    told = sum(task["duration_us"] for task in document["tasks"] if task["source"])
    return told / sum(task["duration_us"] for task in document["tasks"])


@pytest.mark.parametrize(
    ("text", "turns"),
    [(FIT, 1), (FIT, 2), (LSTM, 1), (LOOP, 1)],
    ids=["fit", "steps_per_execution", "recurrent", "loop of the script"],
)
def test_the_time_of_a_step_has_lines_of_the_script(tmp_path, text, turns):
    path = script(tmp_path, text, turns=turns)
    found = predicted(path)
    assert found["batch"] == 16 and found["step_ms"] > 0
    assert share_with_lines(found) >= 0.95
    assert {Path(task["source"].rpartition(":")[0]).name for task in found["tasks"] if task["source"]} == {"train.py"}


def test_each_task_has_the_line_that_made_it(tmp_path):
    path = script(tmp_path, MODEL_WITH_LINES)
    lines = {task["name"]: int(task["source"].rpartition(":")[2]) for task in predicted(path)["tasks"]}

    def line_of_task(name: str) -> int:
        return next(line for task, line in lines.items() if name in task)

    assert line_of_task("ResourceApplyGradientDescent") == line_of(path, "apply_gradients(")
    assert line_of_task("MatMultrans_Cast") == line_of(path, "tf.matmul(")
    assert line_of_task("gradient_tape/MatMul") == line_of(path, "tape.gradient(")


def test_sizes_of_a_loops_gradient_are_known(tmp_path):
    """The definition of a loop's gradient has no shapes: what comes out of a list is unknown there."""
    notes = predicted(script(tmp_path, LSTM))["notes"]
    assert not [note for note in notes if "sizes that only a run tells" in note]


def test_a_script_that_was_not_converted_is_converted_for_the_run(tmp_path):
    path = script(tmp_path, LOOP, opens=False)
    found = predicted(path)
    assert {task["source"] for task in found["tasks"]} <= {f"{path.name}:{n}" for n in range(1, 40)}


def test_the_run_log_of_a_converted_script_has_lines_of_the_users_file(tmp_path):
    path = script(tmp_path, LOOP, opens=False)
    done = tf2npu("predict", path)
    (line,) = [line for line in done.stderr.splitlines() if "functions: " in line]
    assert f"({path}:{line_of(path, 'step(x, tf.ones')})" in line, line


def test_a_step_that_is_eager_has_no_prediction(tmp_path):
    path = script(tmp_path, LOOP.replace("@tf.function\n", ""))
    done = tf2npu("predict", path)
    assert done.returncode == 1 and "before 3 steps of its training graph ran on the device" in done.stderr
    assert "a step is seen that is a call of a tf.function" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(("text", "turns"), [(FIT, 1), (FIT, 2), (LSTM, 1)], ids=["fit", "steps_per_execution", "recurrent"])
def test_a_profile_has_the_steps_of_the_functions(tmp_path, text, turns):
    path = script(tmp_path, text, turns=turns)
    ran = tf2npu("run", "--profile", tmp_path / "profiles", path)
    assert ran.returncode == 0 and "the profile is in" in ran.stderr, ran.stderr
    shown = tf2npu("profile", "--json", tmp_path / "profile.json", tmp_path / "profiles")
    assert shown.returncode == 0, shown.stderr
    found = json.loads((tmp_path / "profile.json").read_text())
    assert found["tasks"] and found["step_ms"] > 0


def test_the_scripts_own_options_profile_it(tmp_path):
    options = {
        "profiling_config.enable_profiling": True,
        "profiling_config.profiling_options": json.dumps({"output": str(tmp_path), "training_trace": "on", "task_trace": "on"}),
    }
    ran = tf2npu("run", script(tmp_path, LOOP, options))
    assert ran.returncode == 0 and list(tmp_path.glob("PROF_*/mindstudio_profiler_output/op_summary_*.csv")), ran.stderr
