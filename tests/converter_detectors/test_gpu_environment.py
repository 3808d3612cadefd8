"""Findings on variables that a script sets for CUDA and XLA."""

from __future__ import annotations

import pytest

from tf2npu.engine.convert_file import convert_source

HEAD = "import os\nimport tensorflow as tf\n"


@pytest.mark.parametrize(
    ("code", "level", "words"),
    [
        ("os.environ['CUDA_VISIBLE_DEVICES'] = '0,1'", "info", "ASCEND_DEVICE_ID"),
        ("os.environ['CUDA_VISIBLE_DEVICES'] = str(FLAGS.gpu)", "info", "ASCEND_DEVICE_ID"),
        ("os.environ['CUDA_VISIBLE_DEVICES'] = ''", "info", "hides GPUs"),
        ("os.putenv('CUDA_VISIBLE_DEVICES', '-1')", "info", "hides GPUs"),
        ("os.environ['TF_XLA_FLAGS'] = '--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit'", "manual", "XLA must not"),
    ],
)
def test_a_variable_for_gpus_is_reported(code: str, level: str, words: str) -> None:
    (finding,) = [f for f in convert_source(HEAD + code, "m.py").findings if f.rule == "NPU955"]
    assert finding.level.value == level and words in finding.message


@pytest.mark.parametrize(
    "code",
    [
        "os.environ['TF_XLA_FLAGS'] = '--tf_xla_auto_jit=0'",
        "os.environ['TF_CPP_MIN_LOG_LEVEL'] = '2'",
        "print(os.environ['CUDA_VISIBLE_DEVICES'])",
        "os.environ.get('CUDA_VISIBLE_DEVICES', '')",
        "del os.environ['CUDA_VISIBLE_DEVICES']",
    ],
)
def test_others_are_not(code: str) -> None:
    assert [f for f in convert_source(HEAD + code, "m.py").findings if f.rule == "NPU955"] == []


def test_a_file_without_tensorflow_is_told_nothing() -> None:
    assert convert_source("import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\n__main__ = 1\n", "m.py").findings == []
