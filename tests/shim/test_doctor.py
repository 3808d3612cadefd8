"""`tf2npu doctor --script` reads a script without running it; `tf2npu devices` shows what is simulated."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from npu_formats.device.chip import chip_names
from tf2npu.launch import preflight

TF2NPU = Path(sys.executable).with_name("tf2npu")


def ask(*words: object, **variables: str) -> subprocess.CompletedProcess:
    command = [TF2NPU, *map(str, words)]
    return subprocess.run(command, env={"PATH": "/bin", **variables}, capture_output=True, text=True, check=False)


@pytest.fixture
def script(tmp_path):
    def write(source: str, name: str = "train.py") -> Path:
        (tmp_path / name).write_text(source, encoding="utf-8")
        return tmp_path / name

    return write


def test_an_import_that_comes_too_early_is_named(script):
    """Python itself says which: the same line fails when the script is run."""
    script("import numpy\nfrom tensorflow.contrib import slim\n", "model.py")
    path = script("import os\nimport model\nfrom tensorflow import placeholder\nfrom npu_bridge.npu_init import *\n")
    said = ask("doctor", "--script", path).stdout
    assert "model.py:2: `from tensorflow.contrib import slim` fails under plain python" in said
    assert "train.py:3: `from tensorflow import placeholder` fails" in said and "tf2npu run" in said
    assert "npu_bridge comes in at train.py:4: sessions made from then on run on the device" in said
    failed = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    assert 'model.py", line 2' in failed.stderr and "tensorflow.contrib" in failed.stderr


def test_after_npu_bridge_nothing_is_too_early(script):
    path = script("from npu_bridge.npu_init import *\nfrom tensorflow.contrib import slim\nfrom tensorflow import Session\n")
    assert "fails under" not in ask("doctor", "--script", path).stdout
    assert "stay on TensorFlow" in ask("doctor", "--script", script("import tensorflow\n")).stdout


OPTIONS = """
import os
from npu_bridge.npu_init import *
c.parameter_map["precision_mode"].b = True
c.parameter_map["autotune_tune_mode"].s = tf.compat.as_bytes("GA")
c.parameter_map["dump_path"].s = tf.compat.as_bytes(os.getcwd())
c.parameter_map["enable_dump"].b = True
run = NPURunConfig(iterations_per_loop=10, mix_compile_mode=True, precision_mode="fp99")
"""


def test_effective_options_and_what_is_wrong_with_them(script):
    said = ask("doctor", "--script", script(OPTIONS), TF2NPU_OPTIONS='{"fusion": "off"}').stdout
    for line in (
        "fusion = 'off' (launcher, TF2NPU_OPTIONS)", "precision_mode = True (train.py:4)", "enable_dump = True (train.py:7)",
        "dump_path = tf.compat.as_bytes(os.getcwd()), known when it runs (train.py:6)", "iterations_per_loop = 10 (train.py:8)",
        "train.py:4: session option 'precision_mode' is written into .b; it belongs into .s",
        "train.py:5: there is no session option 'autotune_tune_mode'; did you mean 'auto_tune_mode'?",
        "train.py:8: session options 'mix_compile_mode' and 'iterations_per_loop' exclude each other",
        "train.py:8: session option 'precision_mode' is 'fp99': use one of",
    ):  # fmt: skip
        assert line in said, line
    assert "needs dump_path" not in said


def test_a_script_that_cannot_be_read_is_one_message(script, tmp_path):
    for path, text in ((tmp_path / "none.py", "cannot be read"), (script("x = ("), "Python cannot read it")):
        done = ask("doctor", "--script", path)
        assert done.returncode == 2 and text in done.stderr and "Traceback" not in done.stderr


def test_devices():
    said = ask("devices", ASCEND_DEVICE_ID="3").stdout.splitlines()
    assert said[0].split()[0] == "NPU" and said[1].split()[:3] == ["3", "Ascend910A", "OK"] and "32 GiB" in said[1]
    assert all(any(line.startswith(name) for line in said) for name in chip_names())
    assert "Ascend910B1" in ask("devices", TF2NPU_OPTIONS='{"soc": "Ascend910B1"}').stdout.splitlines()[1]
    assert ask("devices", TF2NPU_OPTIONS='{"soc": "x"}').returncode == 2


NAMES = """
import tensorflow as tf
public = lambda module: {name for name in dir(module) if not name.startswith("_")}
print(*sorted(public(tf.compat.v1) - public(tf) | {"contrib", "examples"}), sep="\\n")
"""


def test_names_of_tf1_are_those_of_the_installed_tensorflow():
    done = subprocess.run([sys.executable, "-c", NAMES], capture_output=True, text=True, check=True)
    table = Path(preflight.__file__).with_name("names_of_tf1_only.csv")
    assert done.stdout.split() == table.read_text(encoding="utf-8").split()[1:]
