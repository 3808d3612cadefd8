"""`--target`, and `dialect` in pyproject.toml: the TensorFlow that scripts are written for, asked for and found."""

from __future__ import annotations

import sys
from pathlib import Path
from subprocess import run

import pytest

FIXTURES = Path(__file__).parents[1] / "fixtures"
OF_2 = (FIXTURES / "tensorflow2" / "fit_of_tensors.py").read_text()
EITHER = (FIXTURES / "tensorflow_either" / "plain_fit.py").read_text()
SESSION = "set_keras_session_npu_config"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "s"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    ("text", "words", "code", "is_converted"),
    [
        (OF_2, (), 0, False),
        (OF_2, ("--target", "tf1"), 0, True),
        (EITHER, (), 1, True),
        (EITHER, ("--target", "auto"), 1, True),
        (EITHER, ("--target", "tf1"), 0, True),
        (EITHER, ("--target", "tf2"), 0, False),
    ],
)
def test_a_script_is_converted_for_the_target(tool, source, tmp_path, text, words, code, is_converted):
    (source / "train.py").write_text(text)
    done = tool("convert", source, tmp_path / "o", *words)
    assert done.code == code
    assert (SESSION in (tmp_path / "o" / "train.py").read_text()) is is_converted


@pytest.mark.parametrize(
    ("text", "words", "verdict"),
    [
        (OF_2, (), "Ready to run."),
        (EITHER, (), "Ready after 1 decision."),
        (EITHER, ("--target", "tf1"), "Ready to run."),
    ],
)
def test_the_verdict_says_it_in_short(tool, source, tmp_path, text, words, verdict):
    """It called a project that was converted no project for TensorFlow 1."""
    (source / "train.py").write_text(text)
    assert tool("convert", source, tmp_path / "o", "--quiet", *words).out.strip() == verdict


def test_the_settings_answer_once_for_a_project_and_the_command_line_wins(tool, source, tmp_path):
    (source / "train.py").write_text(EITHER)
    (source / "pyproject.toml").write_text('[tool.tf2npu]\ndialect = "tf1"\n')
    assert tool("convert", source, tmp_path / "one").code == 0
    assert tool("convert", source, tmp_path / "two", "--target", "tf2").code == 0
    assert SESSION not in (tmp_path / "two" / "train.py").read_text()
    (source / "pyproject.toml").write_text('[tool.tf2npu]\ndialect = "tf3"\n')
    done = tool("convert", source, tmp_path / "three")
    assert done.code == 2 and "dialect must be one of auto, tf1, tf2, tf2-compat" in done.err


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ("Written for TensorFlow 2: train.py:7 (", "converts it as TensorFlow 1.15.")),
        ("zh", ("为 TensorFlow 2 编写：", "转换")),
    ],
)
def test_the_first_line_says_why_and_which_flag_changes_it(tool, source, tmp_path, language, words):
    (source / "train.py").write_text(OF_2)
    first = tool("convert", source, tmp_path / "o", "--lang", language).out.split("\n")[0]
    assert all(word in first for word in words)
    assert f"`tf2npu convert {source} {tmp_path / 'o'} --target tf1`" in first


def test_another_word_is_a_usage_error(tool, source, tmp_path):
    done = tool("convert", source, tmp_path / "o", "--target", "tf3")
    assert done.code == 2 and "'tf3' is not one of" in done.err


OF_1 = """\
import tensorflow as tf

x = tf.placeholder(tf.float32, [2, 3])
w = tf.get_variable("w", [3, 1], initializer=tf.ones_initializer())
train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(tf.square(tf.matmul(x, w) - 1.0)))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(3):
        sess.run(train, {x: [[1.0, 2.0, 3.0], [0.5, 0.0, 1.0]]})
    print("w", sess.run(w).ravel().tolist())
"""


def test_scripts_of_version_1_run_on_tensorflow_2_as_they_do_on_1(tool, source, tmp_path):
    (source / "train.py").write_text(OF_1)
    printed = []
    for target in ("tf1", "tf2-compat"):
        done = tool("convert", source, tmp_path / target, "--target", target)
        assert done.code == 0
        process = run([sys.executable, tmp_path / target / "train.py"], capture_output=True, text=True, check=True)
        assert "100.00 %" in process.stderr
        printed.append(process.stdout)
    assert printed[0] == printed[1] and printed[0].startswith("w [")
    text = (tmp_path / "tf2-compat" / "train.py").read_text()
    assert "npu_bridge" not in text and "import tensorflow.compat.v1 as tf" in text and "\nenable_v1()\n" in text
    assert done.out.startswith("Converted for TensorFlow 2 with its version 1 behaviour")


@pytest.mark.parametrize(("words", "code"), [((), 1), (("--target", "tf2-compat"), 0)])
def test_what_was_converted_for_version_1_on_2_stays(tool, source, tmp_path, words, code):
    (source / "train.py").write_text(OF_1)
    tool("convert", source, tmp_path / "one", "--target", "tf2-compat")
    assert tool("convert", tmp_path / "one" / "train.py", tmp_path / "two", *words).code == code
    assert (tmp_path / "two" / "train.py").read_bytes() == (tmp_path / "one" / "train.py").read_bytes()


def test_tensorflow_2_has_no_contrib(tool, source, tmp_path):
    (source / "train.py").write_text(OF_1.replace("tf.matmul(x, w)", "tf.contrib.layers.flatten(tf.matmul(x, w))"))
    done = tool("convert", source, tmp_path / "o", "--target", "tf2-compat", "--verbose")
    assert done.code == 1 and "TensorFlow 2 has no tf.contrib: write tensorflow.contrib.layers.flatten in another way" in done.out
