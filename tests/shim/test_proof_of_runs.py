"""Scripts of known behaviour: the report marks each finding confirmed, not reached or contradicted, with the right line."""

from __future__ import annotations

import json

import jsonschema
import pytest
from referencing import Registry, Resource

from tests import fork_server
from tests.shim.conftest import plain_environment
from tests.shim.test_launch import launch
from tests.shim.test_run_in_report import Project
from tf2npu.report.formats import as_json
from tf2npu.report.runs import record
from tf2npu.report.runs.evidence import Proofs


@pytest.fixture
def project(tmp_path) -> Project:
    return Project(tmp_path)


def marks(project: Project) -> dict[tuple[str, int], tuple[str, int, str]]:
    """By rule and line of the original: the state, the line of the evidence, and the evidence."""
    report = as_json.read(project.report / "report.json")
    proofs, found = Proofs(report), {}
    for file, finding in report.findings():
        proof = proofs.of(file, finding)
        if proof is not None:
            found[finding.rule, finding.span.line] = (proof.state.value, proof.line, proof.text)
    return found


def lines_with(text: str, what: str) -> list[int]:
    return [number for number, line in enumerate(text.splitlines(), 1) if what in line]


GROWING = """import numpy as np
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 3])
rate = tf.placeholder(
    tf.float32, [None])
y = tf.reduce_sum(x) * tf.reduce_sum(rate)
with tf.Session() as sess:
    for n in range(1, 7):
        print(sess.run(y, {x: np.ones([n, 3]), rate: np.ones([2])}))
with tf.Session() as sess:
    for n in range(3):
        print(sess.run(y, {x: np.ones([4, 3]), rate: np.ones([2])}))
"""


@pytest.mark.whole
def test_growing_batches_are_confirmed_at_their_placeholder(project):
    project.write(train=GROWING)
    project.convert()
    project.run("train")
    found = marks(project)
    state, line, said = found["NPU922", 3]
    assert (state, line) == ("confirmed", 3)
    assert said == "Placeholder:0 had 6 shapes in 6 steps: [1,3], [2,3], [3,3], [4,3] and 2 more"
    assert [found["NPU101", line][0] for line in lines_with(GROWING, "tf.Session")] == ["confirmed", "confirmed"]
    assert "confirmed</span> Placeholder:0 had 6 shapes" in page_of(project, "train")


def page_of(project: Project, name: str) -> str:
    return "".join(path.read_text() for path in (project.report / "files").glob(f"{name}.py*.html"))


FIXED_SIZE = GROWING.replace("np.ones([n, 3])", "np.ones([4, 3])")


@pytest.mark.whole
def test_a_size_that_stays_contradicts_the_remark_on_an_open_one(project):
    project.write(train=FIXED_SIZE)
    project.convert()
    project.run("train")
    assert marks(project)["NPU922", 3] == ("contradicted", 3, "Placeholder:0 had one shape in 6 steps: [4,3]")


PIPELINE = """import tensorflow as tf
def numbers(n, size):
    ds = tf.data.Dataset.range(n)
    ds = ds.map(lambda v: tf.cast(v, tf.float32))
    return ds.batch(size)
ITERATOR
with tf.Session() as sess:
    sess.run(iterator.initializer) if hasattr(iterator, 'initializer') else None
    for n in range(3):
        print(sess.run(tf.reduce_sum(value)))
"""


@pytest.mark.whole
@pytest.mark.parametrize("kind", ["initializable", "one_shot"])
@pytest.mark.parametrize(("elements", "state"), [(8, "confirmed"), (9, "contradicted")])
def test_the_last_batch_of_a_dataset(project, kind, elements, state):
    made = f"iterator = tf.data.make_{kind}_iterator(numbers({elements}, 3))\nvalue = iterator.get_next()\n"
    made += "total = tf.reduce_sum(value)"
    source = PIPELINE.replace("ITERATOR", made).replace("sess.run(tf.reduce_sum(value))", "sess.run(total)")
    if kind == "one_shot":
        source = source.replace("    sess.run(iterator.initializer) if hasattr(iterator, 'initializer') else None\n", "")
    else:
        source = source.replace(" if hasattr(iterator, 'initializer') else None", "")
    project.write(train=source)
    project.convert()
    project.run("train")
    (line,) = lines_with(source, ".batch(size)")
    assert marks(project)["NPU601", line][:2] == (state, line)


PYTHON_IN_GRAPH = """import numpy as np
import tensorflow as tf
def double(v):
    return 2 * v
x = tf.placeholder(tf.float32, [2])
y = tf.py_func(
    double, [x], tf.float32)
z = tf.cast(x, tf.float64) + 1.0
text = tf.as_string(x)
with tf.Session() as sess:
    print(sess.run([y, text], {x: np.ones(2)}))
if len(tf.get_default_graph().get_operations()) < 3:
    w = tf.unique_with_counts(x)
"""


def test_a_python_function_is_confirmed_and_dead_branches_are_not_reached(project):
    project.write(train=PYTHON_IN_GRAPH)
    project.convert()
    run = project.run("train")["run"]
    found = marks(project)
    assert found["NPU912", 6][:2] == ("confirmed", 6) and "PyFunc" in found["NPU912", 6][2]
    assert found["NPU921", 13] == ("not reached", 13, "This line was not reached.")
    new = [entry for entry in run["host_lines"] if entry["finding"] is None]
    assert [(entry["at"], entry["example"]) for entry in new] == [({"path": "train.py", "line": 9}, "AsString")]
    of_py_func = next(entry for entry in run["host_lines"] if entry["example"] == "PyFunc")
    assert of_py_func["finding"] == {"rule": "NPU912", "path": "train.py", "line": 6}
    assert "New findings: nodes on the host of which no finding speaks" in project.page and "train.py:9" in project.page


NO_OPTIMIZER = """# tf2npu: ignore-file
import tensorflow as tf
with tf.Session() as sess:
    print(sess.run(tf.constant(1.0)))
"""
ONE_OFF = """import tensorflow as tf
with tf.Session() as one:
    print(one.run(tf.constant(1.0)))
"""


@pytest.mark.whole
def test_a_session_without_the_optimizer_is_confirmed_to_stay_on_tensorflow(project):
    project.write(plain=NO_OPTIMIZER, train=ONE_OFF)
    project.convert()
    run = project.run("plain")["run"]
    assert run["session_lines"] == [{"path": "plain.py", "line": 3, "ran_on": "TensorFlow", "is_left_open": False}]
    project.run("train")
    assert marks(project)["NPU101", 2][::2] == ("confirmed", "The session that is made here ran on the device.")


ERROR = """import numpy as np
import tensorflow as tf
calls = []
def third_fails(v):
    calls.append(v)
    if len(calls) == 3:
        raise ValueError("row 3 is bad")
    return v
x = tf.placeholder(tf.float32, [2])
y = tf.py_func(third_fails, [x], tf.float32)
with tf.Session() as sess:
    for step in range(5):
        sess.run(y, {x: np.ones(2)})
    z = tf.unique_with_counts(x)
"""


def test_an_error_in_a_step_is_told_at_its_line_and_what_follows_is_not_reached(project):
    project.write(train=ERROR)
    project.convert()
    run = project.run("train", 1)["run"]
    found = marks(project)
    state, line, said = found["NPU912", 10]
    assert (state, line) == ("confirmed", 10) and said.startswith("The run ended here with ") and "row 3 is bad" in said
    assert found["NPU921", 14][0] == "not reached"
    assert run["steps"] == 2 and run["failure"]["finding"]["line"] == 10


@pytest.mark.whole
def test_a_changed_file_has_no_proof_until_it_is_run_again(project):
    project.write(train=GROWING)
    project.convert()
    project.run("train")
    project.write(train=GROWING + "# one line more\n")
    project.convert()
    assert marks(project) == {}
    project.run("train")
    assert marks(project)["NPU922", 3][0] == "confirmed"


@pytest.mark.whole
def test_a_run_written_to_a_file_says_the_same_in_a_report_that_is_elsewhere(project):
    project.write(train=PYTHON_IN_GRAPH)
    project.convert()
    done = launch("--report", "run.json", "out/train.py", cwd=project.folder)
    assert done.returncode == 0 and "the run is in " in done.stderr
    made = json.loads((project.folder / "run.json").read_text())
    assert str(project.folder) not in json.dumps(made)
    schemas = [json.loads(file.read_text()) for file in (as_json.SCHEMA_FILE, record.SCHEMA_FILE)]
    registry = Registry().with_resource("report.schema.json", Resource.from_contents(schemas[0]))
    jsonschema.Draft202012Validator(schemas[1], registry=registry).validate(made)
    (project.folder / "run.json").rename(project.folder / "elsewhere.json")
    words = ["report", "out/tf2npu-report/report.json", "--run", "elsewhere.json", "--format", "html,json,text"]
    assert fork_server.tf2npu(words, plain_environment(), project.folder).returncode == 0
    from_file = marks(project)
    project.run("train")
    assert from_file == marks(project)


@pytest.mark.whole(beyond=1)
@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda text: text[: len(text) // 2], "it is not a run of tf2npu's"),
        (lambda text: text.replace('"schema_version": "1.0"', '"schema_version": "2.0"'), "it has schema version 2.0"),
        (lambda text: '{"a": 1}', "it is not a run of tf2npu's"),
        (lambda text: "[" * 100_000, "it is not a run of tf2npu's"),
        (lambda text: text.replace('"steps": 1', '"steps": "<b>"', 1), "it is not a run of tf2npu's"),
        (lambda text: text.replace('"device_lines"', '"other"'), "it is not a run of tf2npu's"),
    ],
    ids=["truncated", "newer", "foreign", "deep", "wrong", "incomplete"],
)
def test_a_damaged_run_gets_a_line_and_nothing_is_written(project, damage, told):
    project.write(train=ONE_OFF)
    project.convert()
    assert launch("--report", "run.json", "out/train.py", cwd=project.folder).returncode == 0
    file = project.folder / "run.json"
    file.write_text(damage(file.read_text()))
    before = {path: path.read_bytes() for path in project.report.rglob("*") if path.is_file()}
    words = ["report", "out/tf2npu-report/report.json", "--run", "run.json", "--format", "html,json,text"]
    done = fork_server.tf2npu(words, plain_environment(), project.folder)
    assert done.returncode == 2 and told in done.stderr and "Traceback" not in done.stderr
    assert len([line for line in done.stderr.splitlines() if "run.json" in line]) == 1
    assert {path: path.read_bytes() for path in project.report.rglob("*") if path.is_file()} == before
