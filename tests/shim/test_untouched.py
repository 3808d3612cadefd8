"""Processes that do not import npu_bridge do not notice it, and libraries for TensorFlow 2 work beside it."""

from __future__ import annotations

import os
import site
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("eager_script.py")


def printed(*options: str, **variables: str) -> bytes:
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "TF_CPP_MIN_LOG_LEVEL": "3", **variables}
    done = subprocess.run([sys.executable, *options, str(SCRIPT)], env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    return done.stdout


def test_an_eager_script_prints_the_same_with_and_without_the_package():
    """Without `site` the editable installation is not found: only what is in site-packages itself is."""
    packages = os.pathsep.join(site.getsitepackages())
    absent = "import importlib.util as u; print([n for n in ('npu_bridge', 'tf2npu', 'hccl') if u.find_spec(n)])"
    check = [sys.executable, "-S", "-c", absent]
    found = subprocess.run(check, env={"PYTHONPATH": packages}, capture_output=True, text=True, cwd="/", check=True)
    without = printed("-S", PYTHONPATH=packages)
    assert printed() == without and b"saved" in without and without.splitlines()[1] == b"[]"
    assert found.stdout.strip() == "[]", "this test needs an editable installation to hide"


BESIDE = """
import npu_bridge.npu_init
import tensorflow as tf
import tf_slim
net = tf_slim.fully_connected(tf.ones([2, 3]), 4, scope="fc")
assert tf.__version__.startswith("1.15") and [v.name for v in tf.trainable_variables()] == ["fc/weights:0", "fc/biases:0"]
try:
    import tensorflow_probability as tfp
except ModuleNotFoundError as error:
    assert error.name == "tensorflow_probability", error
else:
    with tf.Session() as session:
        value = session.run(tfp.distributions.Normal(0.0, 1.0).log_prob(0.0))
        assert abs(value + 0.9189385) < 1e-6, value
print("fine")
"""


def test_libraries_for_tensorflow_2_work_beside_npu_bridge(fresh_python):
    assert fresh_python(BESIDE).stdout == "fine\n"
