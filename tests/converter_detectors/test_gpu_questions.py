"""Code that depends on the answer whether there is a GPU."""

from __future__ import annotations

import pytest

from tf2npu.engine.convert_file import convert_source

TF = "import tensorflow as tf\n"


@pytest.mark.parametrize(
    ("code", "level"),
    [
        ("assert tf.test.is_gpu_available()", "fixed"),
        ("assert tf.test.gpu_device_name() == '/device:GPU:0'", "manual"),
        ("if not tf.test.is_gpu_available():\n    raise RuntimeError('no GPU')", "fixed"),
        ("if not tf.test.is_built_with_cuda(): exit(1)", "fixed"),
        ("if tf.test.gpu_device_name() != '/device:GPU:0':\n    raise SystemError('GPU not found')", "manual"),
        ("if tf.test.gpu_device_name() == '':\n    import sys\n    sys.exit()", "manual"),
        ("if tf.test.is_gpu_available():\n    f()\nelse:\n    raise RuntimeError('no GPU')", "manual"),
        ("from tensorflow.python.framework import test_util\nassert test_util.is_gpu_available()", "fixed"),
        ("assert not tf.test.is_gpu_available(), 'a GPU'", "manual"),
        ("if not x and tf.test.is_gpu_available():\n    raise ValueError(x)", "manual"),
        ("if not tf.test.is_gpu_available() or x:\n    raise ValueError(x)", "manual"),
        ("if not tf.test.is_gpu_available() and x:\n    raise ValueError(x)", "fixed"),
        ("try:\n    assert tf.test.is_gpu_available()\nexcept AssertionError:\n    pass", "manual"),
        ("if tf.test.is_gpu_available():\n    raise RuntimeError('a GPU')", "info"),
        ("if not tf.test.is_gpu_available():\n    print('slow')", "info"),
        ("if x:\n    ok = tf.test.is_gpu_available()\nelse:\n    raise ValueError(x)", "info"),
        ("layer = A if tf.test.is_gpu_available() else B", "info"),
        ("print(tf.test.gpu_device_name())", "info"),
    ],
)
def test_a_program_that_ends_there_needs_a_change(code: str, level: str) -> None:
    (finding,) = [f for f in convert_source(TF + code, "m.py").findings if f.rule == "NPU919"]
    assert finding.level.value == level
