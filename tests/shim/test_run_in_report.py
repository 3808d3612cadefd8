"""Report of a conversion after `tf2npu run --report`: how a run failed, and the runs of several scripts."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests import fork_server
from tests.shim.conftest import plain_environment
from tests.shim.test_launch import launch
from tf2npu.report.formats.as_json import SCHEMA_FILE

SCHEMA = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
FAILS = """import tensorflow as tf
def refuse(x):
    raise ValueError("no such row")
x = tf.placeholder(tf.float32, [2])
y = tf.py_func(
    refuse, [x], tf.float32, name="refusing")
with tf.Session() as sess:
    sess.run(y, {x: [1.0, 2.0]})
"""
SAYS = "import tensorflow as tf\nimport model\nwith tf.Session() as sess:\n    print(sess.run(model.value()))\n"
MODEL = "import tensorflow as tf\ndef value():\n    return tf.constant(3.0) * 2.0\n"


class Project:
    """A folder `src`, its conversion `out`, and the report in there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.report = folder / "out" / "tf2npu-report"

    def write(self, **files: str) -> None:
        for name, text in files.items():
            (self.folder / "src").mkdir(exist_ok=True)
            (self.folder / "src" / f"{name}.py").write_text(text)

    def convert(self) -> dict:
        words = ["convert", "src", "out", "--format", "html,json,text"]
        done = fork_server.tf2npu(words, plain_environment(), self.folder)
        assert done.returncode in (0, 1), done.stderr
        return self.read()

    def run(self, script: str, code: int = 0) -> dict:
        done = launch("--report", "out/tf2npu-report", f"out/{script}.py", cwd=self.folder)
        assert done.returncode == code, done.stderr
        return self.read()

    def read(self) -> dict:
        document = json.loads((self.report / "report.json").read_text())
        jsonschema.validate(document, SCHEMA)
        return document

    @property
    def text(self) -> str:
        return (self.report / "report.txt").read_text()

    @property
    def page(self) -> str:
        """The report's text on its runs: a page for each."""
        return "".join(path.read_text() for path in [self.report / "runs.html", *sorted(self.report.glob("run-*.html"))])


def without_times(run: dict) -> dict:
    """A run without what differs from run to run."""
    kinds = [kind for session in run["sessions"] for kind in session["runs"]]
    return {**run, "timeline": None, "sessions": [{**kind, "step_seconds": None} for kind in kinds]}


@pytest.fixture
def project(tmp_path) -> Project:
    return Project(tmp_path)


@pytest.mark.whole
def test_a_failure_is_told_with_its_line_node_and_finding(project):
    project.write(train=FAILS)
    findings = project.convert()["files"][0]["findings"]
    about = next(finding for finding in findings if finding["api"].endswith("py_func"))
    run = project.run("train", 1)["run"]
    lines = (project.folder / "out" / "train.py").read_text().splitlines()
    failure = run["failure"]
    assert failure["type"] in ("InvalidArgumentError", "UnknownError", "InternalError")
    assert "no such row" in failure["message"] and str(project.folder) not in json.dumps(failure)
    path, _, number = failure["place"].rpartition(":")
    assert path == "out/train.py" and "sess.run(y" in lines[int(number) - 1]
    assert (failure["node"], failure["op"]) == ("refusing", "PyFunc")
    path, _, number = failure["node_place"].rpartition(":")
    assert path == "out/train.py" and "tf.py_func(" in lines[int(number) - 1]
    assert failure["finding"] == {"rule": about["rule"], "path": "train.py", "line": about["line"]}
    assert any(host["example"] == "refusing" for host in run["host_nodes"]), run["host_nodes"]
    assert f"It failed with {failure['type']}: {failure['message']}" in project.text
    assert "in the node refusing" in project.text and "no such row" in project.page
    assert 'Finding at this place: <a class="path" href="files/train.py-' in project.page


@pytest.mark.whole
def test_a_failure_without_a_node_has_its_line(project):
    project.write(train="import tensorflow as tf\nwith tf.Session() as sess:\n    sess.run(tf.constant(1.0))\n    {}['gone']\n")
    project.convert()
    failure = project.run("train", 1)["run"]["failure"]
    assert (failure["type"], failure["message"], failure["node"], failure["node_place"]) == ("KeyError", "'gone'", "", "")
    assert failure["place"].startswith("out/train.py:")
    assert "after 1 run in 1 session" in project.text


@pytest.mark.whole
def test_a_run_that_ends_well_has_no_failure(project):
    project.write(train=SAYS, model=MODEL)
    project.convert()
    assert "failure" not in project.run("train")["run"]


def test_runs_are_kept_by_script_and_over_a_conversion(project):
    project.write(train=SAYS, other=SAYS.replace("print(", "print('other', "), model=MODEL)
    project.convert()
    project.run("other")
    document = project.run("train")
    assert set(document["run"]["files"]) == {"train.py", "model.py"}
    names = [run["script"] for run in (document["run"], *document["earlier_runs"])]
    assert names == ["out/train.py", "out/other.py"]
    assert project.convert() == document  # also to the last time
    assert all(f"{name} ended with exit code 0" in text for name in names for text in (project.text, project.page))
    again = project.run("train")
    assert [without_times(run) for run in (again["run"], *again["earlier_runs"])] == [
        without_times(run) for run in (document["run"], *document["earlier_runs"])
    ]


@pytest.mark.whole
def test_runs_are_stale_once_a_file_that_they_ran_has_changed(project):
    project.write(train=SAYS, other="import tensorflow as tf\ntf.Session().run(tf.constant(1))\n", model=MODEL)
    project.convert()
    project.run("other")
    project.run("train")
    project.write(model=MODEL + "# another line\n")
    document = project.convert()
    assert document["run"]["changed_files"] == ["model.py"]
    assert "changed_files" not in document["earlier_runs"][0]
    for text in (project.text, project.page):
        assert text.count("Stale: changed since this run: model.py. Run the script again.") == 1
    assert "changed_files" not in project.run("train")["run"]
    (project.folder / "out" / "other.py").write_text("# by hand\n")
    document = project.run("train")
    assert [run.get("changed_files") for run in (document["run"], *document["earlier_runs"])] == [None, ["other.py"]]


@pytest.mark.whole
def test_runs_of_a_report_that_a_tree_brought_along_are_not_taken(project):
    project.write(train=SAYS, model=MODEL)
    project.convert()
    document = project.run("train")
    (project.folder / "copied").mkdir()
    (project.folder / "copied" / "report.json").write_text(json.dumps(document))
    words = ["convert", "src", "out", "--force", "--report", "copied", "--format", "json"]
    assert fork_server.tf2npu(words, plain_environment(), project.folder).returncode in (0, 1)
    assert "run" not in json.loads((project.folder / "copied" / "report.json").read_text())


SUMS = """import os
import numpy as np
import tensorflow as tf
from hccl.manage.api import get_rank_id
from npu_bridge.hccl import hccl_ops
x = tf.placeholder(tf.float32, [2])
loss = tf.reduce_sum(hccl_ops.allreduce(x, "sum"), name="loss") + 0.0
with tf.Session() as sess:
    for step in range(4):
        print(sess.run(loss, {x: [step, get_rank_id()]}))
"""


@pytest.mark.whole
def test_the_ranks_of_a_run_stand_beside_each_other(tmp_path):
    project = Project(tmp_path)
    project.write(train=SUMS)
    project.convert()
    done = launch("--devices", "3", "--all-sessions", "--report", "out/tf2npu-report", "out/train.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    ranks = project.read()["run"]["ranks"]
    assert [(one["rank"], one["steps"]) for one in ranks] == [(0, 4), (1, 4), (2, 4)]
    assert all([(n["first"], n["last"]) for n in one["scalars"]] == [("3", "12")] for one in ranks)  # 0 + 1 + 2 and 3 steps
    assert all(one["scalars"][0]["points"] == [[1, "3"], [2, "6"], [3, "9"], [4, "12"]] for one in ranks)
    assert project.page.count("<polyline") == 3
    assert sum(one["times_last"] for one in ranks) == 4
    assert all(0 < one["step_seconds"] < one["collective_seconds"] + 60 for one in ranks)
    assert "  rank 2: 4 steps of " in project.text
