"""The example programs of the project, converted as a whole."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.converter.test_golden import convert_folder, read_folder
from tf2npu.config import Config
from tf2npu.findings import Status

EXAMPLES = Path(__file__).parents[2] / "examples"
EXPECTED = {
    "lenet_estimator": {
        "train.py": ["NPUEstimator(", "NPURunConfig(", "from npu_bridge.npu_init import NPUEstimator, NPURunConfig\n"],
        "dataset.py": ["ds.batch(batch_size, drop_remainder=True)", "return ds.batch(batch_size)\n"],
        "lenet.py": ["import npu_convert_dropout"],
    },
    "alexnet_session": {
        "finetune.py": ["tf.Session(config=npu_config_proto(config))", "with tf.device('/cpu:0'):\n    # Initialize model"],
        "alexnet.py": ["npu_ops.dropout(x, keep_prob, seed=seed)"],
    },
    "keras_cnn": {
        "mnist_cnn.py": ["set_keras_session_npu_config()", "    finally:\n        close_session(npu_keras_sess)"],
    },
    "transformer": {
        "modeling.py": ["    return npu_unary_ops.gelu(x)\n", "npu_ops.dropout(input_tensor, 1.0 - dropout_prob, seed=seed)"],
        "run_classifier.py": ["NPUEstimator(", "d.batch(batch_size=batch_size, drop_remainder=is_training)"],
    },
    "keras_fit_tf2": {"train.py": ["import npu_device as npu\n", "npu.open().as_default()\n", "drop_remainder=True)"]},
    "custom_loop_tf2": {"train.py": ["import npu_device as npu\n", "npu.open().as_default()\n", "drop_remainder=True)"]},
}


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_example_is_converted(name: str) -> None:
    files = {path: data for path, data in read_folder(EXAMPLES / name).items() if path.endswith(".py")}
    results = convert_folder(files, Config())
    for path, texts in EXPECTED[name].items():
        after = results[path].after.decode()
        for text in texts:
            assert text in after, (path, text)
    for path, result in results.items():
        assert result.status is not Status.FAILED, (path, result.findings)
        ast.parse(result.after)
    once = {path: r.after for path, r in results.items()}
    assert {path: r.after for path, r in convert_folder(once, Config()).items()} == once
