"""`tf2npu run` on scripts for TensorFlow 2: they run as python runs them, and the run goes into a report."""

from __future__ import annotations

import json

import pytest

from tests.legs.tf2.tool_scripts import FIT, LOOP, line_of, python, script, tf2npu
from tf2npu.report.runs import record

V2 = "import tensorflow as tf\nprint('eager', tf.executing_eagerly())\n"


def losses(printed: str) -> list[float]:
    return [float(line.split()[1]) for line in printed.splitlines() if line.startswith("loss ")]


def test_a_script_gets_what_python_gives_it(tmp_path):
    plain = python(script(tmp_path, V2 + LOOP, opens=False))
    path = script(tmp_path, V2 + LOOP)
    ours = tf2npu("run", path)
    assert ours.returncode == 0, ours.stderr
    assert ours.stdout.startswith("eager True\n") and losses(ours.stdout) == pytest.approx(losses(plain.stdout), rel=1e-5)
    assert len(losses(plain.stdout)) == 5
    assert f"functions: step ({path}:{line_of(path, 'float(step(')}) 5 calls" in ours.stderr


def test_options_of_the_command_reach_the_session(tmp_path):
    path = script(tmp_path, LOOP, {"precision_mode": "force_fp32"})
    ran = tf2npu("run", "--soc", "Ascend910B1", "--option", "precision_mode=allow_mix_precision", path)
    assert ran.returncode == 0, ran.stderr
    assert "simulated Ascend910B1: 1 session, 5 runs" in ran.stderr and "precision: allow_mix_precision: " in ran.stderr


def test_a_wrong_option_is_refused_before_the_script_begins(tmp_path):
    ran = tf2npu("run", "--soc", "Ascend1", script(tmp_path, "print('began')\n" + LOOP))
    assert (
        (ran.returncode, ran.stdout) == (2, "") and "no chip is called 'Ascend1'" in ran.stderr and "Traceback" not in ran.stderr
    )


def test_an_option_without_effect_is_told(tmp_path):
    ran = tf2npu("run", "--option", "is_tailing_optimization=true", script(tmp_path, LOOP))
    assert "options without effect here: is_tailing_optimization" in ran.stderr


@pytest.mark.parametrize(("end", "code"), [("import sys\nsys.exit(7)\n", 7), ("raise ValueError('what')\n", 1)])
def test_the_exit_code_is_the_scripts(tmp_path, end, code):
    ran = tf2npu("run", script(tmp_path, LOOP + end))
    assert ran.returncode == code and "5 calls" in ran.stderr


def test_a_device_that_nobody_opens_is_told(tmp_path):
    path = script(tmp_path, LOOP.replace("{open}", "import npu_device\n"))
    ran = tf2npu("run", path)
    assert ran.returncode == 0 and "no function ran on the device: the script imports npu_device and does not" in ran.stderr
    assert tf2npu("run", "--strict", path).returncode == 1


def test_a_script_that_was_not_converted_runs_on_tensorflow_and_says_what_to_do(tmp_path):
    path = script(tmp_path, LOOP, opens=False)
    plain, ours = python(path), tf2npu("run", path)
    assert (ours.returncode, ours.stdout) == (0, plain.stdout), ours.stderr
    assert "does not import npu_device: all of it ran on TensorFlow; convert it with `tf2npu convert`" in ours.stderr
    assert tf2npu("run", "--strict", path).returncode == 1


def test_the_run_goes_into_a_file_for_a_report(tmp_path):
    path = script(tmp_path, FIT)
    ran = tf2npu("run", "--report", tmp_path / "run.json", path)
    assert ran.returncode == 0, ran.stderr
    made = record.read(tmp_path / "run.json")
    run, fit = made["run"], line_of(path, "model.fit(")
    assert run["functions"] == [{"name": f"train_function (train.py:{fit})", "calls": 8, "signatures": 1}]
    assert (run["training_steps"], run["device_share"]) == (8, 1.0)
    assert run["sessions"][0]["runs"][0]["function"] == f"train_function (train.py:{fit})"
    assert run["variable_copies"]["up"] > 0 and run["eager_operations"]["AssignVariableOp"] > 0
    assert {entry["place"] for entry in made["evidence"]["host_lines"]} == {f"train.py:{fit}"}
    assert str(tmp_path) not in json.dumps({**run, "script": ""})


def test_a_report_shows_the_functions_of_a_run(tmp_path):
    path = script(tmp_path, LOOP)
    assert tf2npu("convert", path, tmp_path / "out", "--report", tmp_path / "report").returncode in (0, 1, 2, 3)
    ran = tf2npu("run", "--report", tmp_path / "report", path)
    assert ran.returncode == 0 and "the run is in" in ran.stderr, ran.stderr
    page = (tmp_path / "report" / "runs.html").read_text()
    assert "Functions of eager code" in page and "5 calls, traced for 1 signature" in page


FAILS = LOOP.replace("    return loss\n", "    tf.debugging.assert_less(loss, 0.5)\n    return loss\n")


def test_a_failure_of_a_step_has_its_node_and_line(tmp_path):
    path = script(tmp_path, FAILS)
    ran = tf2npu("run", "--report", tmp_path / "run.json", path)
    assert ran.returncode == 1 and "InvalidArgumentError" in ran.stderr
    failure = record.read(tmp_path / "run.json")["run"]["failure"]
    assert failure["type"] == "InvalidArgumentError" and failure["message"].startswith("assertion failed: ")
    assert failure["place"] == f"train.py:{line_of(path, 'float(step(')}"
    assert failure["node"].startswith("assert_less/") and failure["node_place"] == f"train.py:{line_of(path, 'assert_less(')}"
