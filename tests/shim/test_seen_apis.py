"""The list of APIs of a report says of each in which run it was seen, and whether its nodes ran on the device or on the host."""

from __future__ import annotations

import json
import re

import pytest

from tests import fork_server
from tests.shim.conftest import plain_environment
from tests.shim.test_launch import launch
from tests.shim.test_run_in_report import Project
from tf2npu.report.formats import as_json
from tf2npu.report.languages.language import catalogue
from tf2npu.report.runs.seen_apis import SeenApis

MODEL = """import tensorflow as tf
def root(x):
    y = tf.reduce_sum(
        tf.sqrt(x))
    if len(tf.get_default_graph().get_operations()) > 1000:
        y = tf.tanh(y)
    return y
"""
TRAIN = """import numpy as np
import tensorflow as tf
import model
def double(v):
    return 2 * v
x = tf.placeholder(tf.float32, [2])
y = tf.py_func(double, [x], tf.float32)
z = model.root(x)
with tf.Session() as sess:
    print(sess.run([y, z], {x: np.ones(2)}))
"""
PLAIN = """# tf2npu: ignore-file
import tensorflow as tf
import model
one = model.root(tf.ones([2]))
with tf.Session() as sess:
    print(sess.run(one))
"""


@pytest.fixture
def project(tmp_path) -> Project:
    made = Project(tmp_path)
    made.write(train=TRAIN, model=MODEL, plain=PLAIN)
    made.convert()
    return made


def seen(project: Project, api: str) -> str:
    return SeenApis(as_json.read(project.report / "report.json").runs).of(f"tensorflow.{api}", catalogue("en"))


def row(project: Project, api: str) -> str:
    page = (project.report / "apis.html").read_text()
    rows = [re.sub(r"<[^>]+>", " ", one) for one in re.findall(r"<tr data-row.*?</tr>", page, re.DOTALL)]
    return " ".join(next(one for one in rows if one.split()[0] == f"tensorflow.{api}").split())


def test_each_api_is_told_with_the_runs_that_saw_it(project):
    project.run("train")
    run = "`out/train.py`: "
    assert seen(project, "py_func") == f"{run}1 node ran on the host"
    assert seen(project, "sqrt") == f"{run}1 node ran on the device"
    assert re.fullmatch(rf"{run}\d nodes? ran on the device", seen(project, "reduce_sum"))  # the sum, and its axes
    assert seen(project, "Session") == f"{run}1 session ran on the device"
    assert seen(project, "tanh") == seen(project, "float32") == seen(project, "ones") == ""
    assert row(project, "sqrt").endswith("out/train.py : 1 node ran on the device")
    project.run("plain")
    assert seen(project, "Session") == f"`out/plain.py`: 1 session ran on TensorFlow; {run}1 session ran on the device"
    assert seen(project, "sqrt") == f"{run}1 node ran on the device"


@pytest.mark.whole
def test_a_run_that_was_written_to_a_file_says_the_same_and_one_of_a_changed_file_says_nothing(project):
    assert launch("--report", "run.json", "out/train.py", cwd=project.folder).returncode == 0
    made = json.loads((project.folder / "run.json").read_text())
    assert {"place": "model.py:4", "apis": ["tensorflow.sqrt"]} in made["evidence"]["api_lines"]
    words = ["report", "out/tf2npu-report/report.json", "--run", "run.json", "--format", "html,json"]
    assert fork_server.tf2npu(words, plain_environment(), project.folder).returncode == 0
    from_file = [seen(project, api) for api in ("py_func", "sqrt", "reduce_sum", "Session")]
    project.run("train")
    assert [seen(project, api) for api in ("py_func", "sqrt", "reduce_sum", "Session")] == from_file
    project.write(model=MODEL + "# longer\n")
    project.convert()
    assert seen(project, "sqrt") == "" and seen(project, "py_func") == from_file[0]
