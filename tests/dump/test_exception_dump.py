"""Inputs of an operator that has failed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_formats.vendor.dump_file import read_header
from npu_runtime.observers.dump.exception_dump import MOST_WRITTEN, _Failures
from tests.dump.networks import run


@pytest.fixture(autouse=True)
def _fresh(monkeypatch, tmp_path):
    monkeypatch.setattr(_Failures, "n_written", 0)
    monkeypatch.chdir(tmp_path)
    for name in ("NPU_COLLECT_PATH", "ASCEND_WORK_PATH"):
        monkeypatch.delenv(name, raising=False)


def _fail(**options) -> None:
    def make():
        x = tf.placeholder(tf.float32, (None, None), "x")
        return tf.reshape(tf.negative(x), (2, 2), name="bad/shape")

    with pytest.raises(tf.errors.InvalidArgumentError):
        run(make, {"x:0": np.ones((3, 2))}, **options)


def _only(folder: Path) -> Path:
    (path,) = [path for path in folder.rglob("*") if path.is_file()]
    return path


@pytest.mark.parametrize(("kind", "below"), [("1", "extra-info"), ("2", "extra-info/data-dump/0")])
def test_the_inputs_are_in_the_folder_of_the_kind(tmp_path, capsys, kind, below):
    _fail(enable_exception_dump=kind)
    path = _only(tmp_path)
    assert path.parent == tmp_path / below
    assert path.name.startswith("exception_info.Reshape.bad_shape.")
    header = read_header(path)
    np.testing.assert_array_equal(header.inputs[0].read(), -np.ones((3, 2), np.float32))
    assert header.op_name == "bad/shape" and header.outputs == ()
    assert f"Exception dump: bad/shape has failed; what it was given is in {path.parent}" in capsys.readouterr().err


def test_folders_that_the_user_names_come_first(tmp_path, monkeypatch):
    for name in ("collected", "work"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("NPU_COLLECT_PATH", str(tmp_path / "collected"))
    monkeypatch.setenv("ASCEND_WORK_PATH", str(tmp_path / "work"))
    _fail(enable_exception_dump="1")
    _only(tmp_path / "collected")
    _fail(enable_exception_dump="2")
    _only(tmp_path / "work")


def test_an_operator_of_a_loop_is_named_and_not_the_loop(tmp_path):
    def make():
        x = tf.placeholder(tf.float32, (None, None), "x")

        def turn(i, y):
            return i + 1, y + tf.reshape(x, (2, 2), name="inside")

        return tf.while_loop(lambda i, y: i < 3, turn, (0, tf.zeros((2, 2))))[1]

    with pytest.raises(tf.errors.InvalidArgumentError):
        run(make, {"x:0": np.ones((3, 2))}, enable_exception_dump="2", fusion="off")
    assert "inside" in _only(tmp_path).name


def test_without_the_option_nothing_is_written(tmp_path):
    _fail()
    assert list(tmp_path.iterdir()) == []


def test_a_script_that_goes_on_failing_does_not_fill_the_disk(tmp_path):
    for _ in range(MOST_WRITTEN + 2):
        _fail(enable_exception_dump="2")
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == MOST_WRITTEN
