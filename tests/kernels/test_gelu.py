"""The device's own activations against TensorFlow's gelu and its automatic gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from tensorflow.python.ops.nn_ops import gelu as tensorflow_gelu

from npu_runtime.kernels.base import all_kernels
from tests.kernels.harness import arr

FORMS: dict[str, Callable[[Any], Any]] = {
    "Gelu": lambda x: tensorflow_gelu(x, approximate=True),
    "FastGelu": lambda x: x * tf.sigmoid(1.702 * x),
}


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("form", FORMS)
def test_value_and_gradient(form: str, dtype: str) -> None:
    x, dy = arr(40, 33, dtype=dtype, low=-6, high=6), arr(40, 33, dtype=dtype, seed=1)
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(dtype, x.shape)
        y = FORMS[form](fed)
        value, slope = session.run([y, tf.gradients(y, fed, dy)[0]], {fed: x})
    kernels = all_kernels()
    extra = [value] if form == "Gelu" else []
    # 1 + tanh cancels for negative x, and TensorFlow's fp32 tanh is 7 ulp (4e-7) from exact: times x and dy, below 12.
    tolerance = {"rtol": 2e-5, "atol": 1e-5} if dtype == "float32" else {"rtol": 4e-3, "atol": 6e-3}
    np.testing.assert_allclose(kernels[f"_Npu{form}"].function(x), value, **tolerance)
    np.testing.assert_allclose(kernels[f"_Npu{form}Grad"].function(dy, x, *extra), slope, **tolerance)
    out = np.empty_like(x)
    assert kernels[f"_Npu{form}"].function(x, out=out) is out


def test_large_arguments_do_not_overflow() -> None:
    x = np.array([-1e4, -50.0, 0.0, 50.0, 1e4], np.float32)
    for form in FORMS:
        np.testing.assert_allclose(all_kernels()[f"_Npu{form}"].function(x), np.maximum(x, 0), atol=1e-6)
