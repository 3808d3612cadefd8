"""Python functions in graphs: the sessions that run them get mix_compile_mode, in whatever file of the project they are made."""

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
