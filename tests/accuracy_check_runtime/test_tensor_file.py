"""Tensors that a check keeps in a file: what is put in comes out."""

from __future__ import annotations

import importlib.util
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tensors(tmp_path: Path):
    """An empty file. The module is loaded by its path: npu_bridge would give this process the names of TensorFlow 1."""
    spec = importlib.util.spec_from_file_location("tensor_file_alone", ROOT / "tf2npu/npu_bridge/_check/tensor_file.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.TensorFile(tmp_path, "step.tensors")


VALUES = {
    "large": np.random.RandomState(0).rand(300, 70).astype(np.float32),
    "strided": np.arange(90_000, dtype=np.int64).reshape(300, 300).T[::2],
    "booleans": np.random.RandomState(1).rand(100, 100) > 0.5,
    "bfloat16": np.linspace(-3, 3, 50_000).astype(ml_dtypes.bfloat16),
    "scalar": np.float64(2.5) * np.ones(()),
    "empty": np.zeros((0, 7), np.float32),
    "texts": np.array([b"one", "two"], object),
}


def test_tensors_of_all_kinds_come_back_in_order(tensors):
    tensors.update(VALUES)
    assert list(tensors) == list(VALUES) and len(tensors) == len(VALUES)
    for name, value in VALUES.items():
        assert tensors[name].dtype == value.dtype and tensors[name].shape == value.shape
        np.testing.assert_array_equal(tensors[name], value)


def test_a_tensor_that_is_put_in_again_is_the_new_one(tensors):
    tensors["a"] = VALUES["large"]
    tensors["a"] = VALUES["large"] + 1
    np.testing.assert_array_equal(tensors["a"], VALUES["large"] + 1)


def test_nothing_is_left_of_a_step_that_is_over(tensors, tmp_path: Path):
    tensors.update(VALUES)
    tensors.clear()
    assert not tensors and "large" not in tensors and (tmp_path / "step.tensors").stat().st_size == 0
    tensors["after"] = VALUES["large"]
    np.testing.assert_array_equal(tensors["after"], VALUES["large"])


def test_threads_put_tensors_in_at_once(tensors):
    made = {str(n): np.full((40, 100), n, np.float32) for n in range(200)}
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda item: tensors.__setitem__(*item), made.items()))
    assert all((tensors[name] == value).all() for name, value in made.items())
