"""Ops for the host in graphs: the sessions that run them get mix_compile_mode, in whatever file of the project they are made."""

from __future__ import annotations

import pytest

from tf2npu.config import Config
from tf2npu.engine.convert_file import convert_file
from tf2npu.findings import FileResult, Level
from tf2npu.scanner.facts import gather_facts
from tf2npu.scanner.project_facts import ProjectFacts

TF = "import tensorflow as tf\n"
MODEL = f"{TF}def draw(x):\n    return tf.py_func(paint, [x], tf.float32)\n"
SET = '.parameter_map["mix_compile_mode"].b = True'


def converted(files: dict[str, str]) -> dict[str, FileResult]:
    project = ProjectFacts.merge([gather_facts(path, text.encode()) for path, text in files.items()])
    return {path: convert_file(path, text.encode(), Config(), project) for path, text in files.items()}


def levels(result: FileResult, rule: str) -> list[Level]:
    return [finding.level for finding in result.findings if finding.rule == rule]


@pytest.mark.parametrize(
    "session",
    [
        "with tf.Session() as sess:\n    pass\n",
        "cfg = tf.ConfigProto()\nwith tf.Session(config=cfg) as sess:\n    pass\n",
        "def main():\n    sess = tf.Session(config=tf.ConfigProto(allow_soft_placement=True))\n    sess.run('y:0')\nmain()\n",
        "def made():\n    return tf.ConfigProto()\nwith tf.Session('', config=made()) as sess:\n    pass\n",
        "def made():\n    return load()\nwith tf.Session('', config=made()) as sess:\n    pass\n",
        "sv = tf.train.Supervisor()\nwith sv.managed_session() as sess:\n    pass\n",
    ],
)
@pytest.mark.parametrize("imports", ["import model\n", "from model import draw\n"])
def test_the_session_of_another_file_gets_the_option(session: str, imports: str) -> None:
    files = {"model.py": MODEL, "train.py": f"{TF}{imports}{session}"}
    results = converted(files)
    assert results["train.py"].after.decode().count(SET) == 1
    assert levels(results["model.py"], "NPU912") == [Level.INFO]
    again = converted({path: result.after.decode() for path, result in results.items()})
    assert {path: result.after for path, result in again.items()} == {path: result.after for path, result in results.items()}
    assert not any(result.has_work_left for result in again.values())


def test_a_program_that_loads_both_has_its_session_in_a_third_file() -> None:
    solver = f"{TF}def solve(net):\n    with tf.Session() as sess:\n        sess.run(net)\n"
    other = f"{TF}with tf.Session() as sess:\n    pass\n"
    main = "import model, solver\nsolver.solve(model.draw(1))\n"
    results = converted({"model.py": MODEL, "solver.py": solver, "main.py": main, "other.py": other})
    assert SET in results["solver.py"].after.decode() and SET not in results["other.py"].after.decode()
    assert levels(results["model.py"], "NPU912") == [Level.INFO]


OF_HOST = [
    ("NPU932", "    return tf.contrib.lookup.index_table_from_file('v').lookup(x)\n"),
    ("NPU932", "    t = tf.lookup.StaticHashTable(i, 0)\n    return build(t, t.lookup(x))\n"),
    ("NPU924", "    return tf.TFRecordReader().read(x)\n"),
    ("NPU970", "    return tf.sparse_softmax(x)\n"),
    ("NPU970", "    return tf.sparse.reorder(x)\n"),
    ("NPU970", "    return tf.nn.embedding_lookup_sparse(w, x, None)\n"),
]


@pytest.mark.parametrize(("rule", "body"), OF_HOST)
def test_tables_readers_and_sparse_ops_are_left_to_the_host(rule: str, body: str) -> None:
    model, session = f"{TF}def draw(x):\n{body}draw(y)\n", f"{TF}import model\nwith tf.Session() as sess:\n    pass\n"
    results = converted({"model.py": model, "train.py": session})
    assert results["train.py"].after.decode().count(SET) == 1
    assert levels(results["model.py"], rule) == [Level.INFO]
    again = converted({path: result.after.decode() for path, result in results.items()})
    assert {path: result.after for path, result in again.items()} == {path: result.after for path, result in results.items()}
    assert not any(result.has_work_left for result in again.values())


@pytest.mark.parametrize(("rule", "body"), OF_HOST)
def test_without_a_session_a_person_looks_at_them(rule: str, body: str) -> None:
    assert levels(converted({"model.py": f"{TF}def draw(x):\n{body}draw(y)\n"})["model.py"], rule) == [Level.MANUAL]


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("    return tf.math.accumulate_n([x, x])\n", "NPU970"),
        ("    return tf.PaddingFIFOQueue(9, [tf.int32], [[None]])\n", "NPU924"),
        ("    return tf.contrib.training.bucket_by_sequence_length(n, x, 8, b)\n", "NPU924"),
        ("    return tf.setdiff1d(x, y)\n", "NPU921"),
    ],
)
def test_other_ops_are_looked_at_beside_one_for_the_host(body: str, rule: str) -> None:
    files = {
        "model.py": MODEL + f"def other(x):\n{body}other(y)\n",
        "train.py": f"{TF}import model\nwith tf.Session() as sess:\n    pass\n",
    }
    (level,) = levels(converted(files)["model.py"], rule)
    assert level in (Level.MANUAL, Level.UNSUPPORTED)


def test_a_session_that_is_on_the_npu_without_the_option_is_told() -> None:
    entry = "c.graph_options.rewrite_options.custom_optimizers.add().name = 'NpuOptimizer'\n"
    own = f"{TF}import model\nc = tf.ConfigProto()\n{entry}"
    result = converted({"model.py": MODEL, "train.py": own + "with tf.Session(config=c) as sess:\n    pass\n"})["train.py"]
    assert Level.MANUAL in levels(result, "NPU101") and SET not in result.after.decode()


@pytest.mark.parametrize(
    "session",
    [
        "from others import made\nwith tf.Session(config=made()) as sess:\n    pass\n",
        "def made():\n    return npu_config_of(2)\nwith tf.Session(config=made()) as sess:\n    pass\n",
        "def made():\n    return load()\nwith tf.Session(target(), config=made()) as sess:\n    pass\n",
    ],
)
def test_a_config_that_another_function_may_have_put_on_the_npu_is_left_to_a_person(session: str) -> None:
    result = converted({"model.py": MODEL, "train.py": f"{TF}import model\n{session}"})["train.py"]
    assert Level.MANUAL in levels(result, "NPU101") and SET not in result.after.decode()


def test_several_functions_are_one_remark() -> None:
    twice = MODEL + "def again(x):\n    return tf.py_func(paint, [x], tf.float32)\n"
    results = converted({"model.py": twice, "train.py": f"{TF}import model\nwith tf.Session() as sess:\n    pass\n"})
    (found,) = [finding for finding in results["model.py"].findings if finding.rule == "NPU912"]
    assert "The file has 2 such places" in found.message


@pytest.mark.parametrize(
    "model",
    [
        f"{TF}def read(x):\n    return tf.py_func(load, [x], tf.float32)\nd = tf.data.Dataset.range(3).map(read)\n",
        f"{TF}d = tf.data.Dataset.range(3).map(lambda x: tf.py_func(load, [x], tf.float32))\n",
        f"{TF}d = tf.data.Dataset.range(3).map(lambda x: tf.sparse.reshape(x, [3]))\n",
        f"{TF}t = tf.contrib.lookup.index_table_from_file('v')\nd = tf.data.Dataset.range(3).map(lambda x: t.lookup(x))\n",
        f"{TF}def draw(x):\n    return tf.nn.softmax(tf.reshape(x, [3]))\n",
        f"{TF}def draw(x):\n    return paint(x)\n",
    ],
)
def test_the_pipeline_s_own_functions_need_no_option(model: str) -> None:
    results = converted({"model.py": model, "train.py": f"{TF}import model\nwith tf.Session() as sess:\n    pass\n"})
    assert SET not in results["train.py"].after.decode() and not levels(results["model.py"], "NPU912")


def test_a_session_that_nobody_sees_leaves_the_function_to_a_person() -> None:
    assert levels(converted({"model.py": MODEL})["model.py"], "NPU912") == [Level.MANUAL]


def test_where_no_line_can_be_put_before_the_session_a_person_sets_it() -> None:
    files = {"model.py": MODEL, "train.py": f"{TF}import model\nmake = lambda: tf.Session()\n"}
    result = converted(files)["train.py"]
    assert Level.MANUAL in levels(result, "NPU101") and SET not in result.after.decode()
