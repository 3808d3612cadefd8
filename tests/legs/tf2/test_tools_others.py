"""The other commands on scripts for TensorFlow 2: tuning, what this machine has, and what is not done yet."""

from __future__ import annotations

import json

import pytest

from tests.legs.tf2.tool_scripts import FIT, LOOP, line_of, script, tf2npu


def test_the_operators_of_a_function_are_tuned(tmp_path):
    (tmp_path / "bank").mkdir()
    path, out = script(tmp_path, FIT), tmp_path / "tuning.json"
    done = tf2npu("tune", "--json", out, path, TUNE_BANK_PATH=str(tmp_path / "bank"))
    assert done.returncode == 0, done.stderr
    operators = [op["op_type"] for program in json.loads(out.read_text())["programs"] for op in program["operators"]]
    assert {"Conv2D", "MatMulV2"} <= set(operators)


def test_a_script_asks_for_tuning_itself(tmp_path):
    (tmp_path / "bank").mkdir()
    path = script(tmp_path, LOOP, {"aoe_config.aoe_mode": "2"})
    done = tf2npu("run", path, TUNE_BANK_PATH=str(tmp_path / "bank"))
    assert done.returncode == 0 and "operators" in done.stderr and "tun" in done.stderr, done.stderr


def test_the_doctor_names_all_adapters():
    ours = [line for line in tf2npu("doctor").stdout.splitlines() if line.endswith("(tf2npu's simulated one)")]
    assert [line.partition(":")[0] for line in ours] == ["npu_bridge", "npu_device", "torch_npu"]


def test_the_doctor_reads_a_script(tmp_path):
    options = {"precision_mode": "force_fp16", "dump_config.enable_dump": True}
    path = script(tmp_path, "print(1)\n" + LOOP, options)
    said = tf2npu("doctor", "--script", path).stdout
    assert f"the device is the default from train.py:{line_of(path, 'as_default()')} on" in said
    assert f"precision_mode = 'force_fp16' (train.py:{line_of(path, 'precision_mode')})" in said
    assert f"dump_config.enable_dump = True (train.py:{line_of(path, 'enable_dump')})" in said
    path.write_text(path.read_text().replace("npu.global_options()", "options").replace("import npu_device as npu\n",
                    "import npu_device as npu\noptions = npu.global_options()\n"))  # fmt: skip
    assert "  dump_config.enable_dump = True (train.py:" in tf2npu("doctor", "--script", path).stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (LOOP.replace("{open}", "import npu_device\n"), "is never called"),
        (LOOP.replace("{open}", ""), "npu_device is not imported: all of it stays on TensorFlow"),
    ],
)
def test_the_doctor_says_that_a_script_does_not_use_the_device(tmp_path, text, said):
    assert said in tf2npu("doctor", "--script", script(tmp_path, text)).stdout


@pytest.mark.parametrize("words", [["check"], ["dump", "reference", "--out", "reference"]], ids=lambda words: words[0])
def test_a_migrated_script_is_no_original(tmp_path, words):
    done = tf2npu(*words, script(tmp_path, LOOP))
    assert done.returncode == 2 and "imports npu_device: name the " in done.stderr
    assert not (tmp_path / "reference").exists()
