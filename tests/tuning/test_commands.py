"""`tune` and `bank` from outside."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from subprocess import CompletedProcess

import pytest

from tests import fork_server
from tests.shim.conftest import plain_environment
from tests.tuning import scripts, tasks
from tests.tuning.test_bank_files import entry
from tests.tuning.test_result_files import LISTING
from tests.tuning.test_rules import CHIP, bank, tuned

NAME = "Ascend910A_operators.json"
Tool = Callable[..., CompletedProcess]


@pytest.fixture
def tool(tmp_path) -> Tool:
    """The command with a bank of its own."""

    def run(*words: object, **variables: str) -> CompletedProcess:
        environment = {**plain_environment(), "HOME": str(tmp_path), "TUNE_BANK_PATH": str(tmp_path / "bank"), **variables}
        done = fork_server.tf2npu(words, environment, tmp_path)
        assert "Traceback" not in done.stderr, done.stderr
        return done

    return run


@pytest.mark.whole
def test_tune_fills_the_bank_and_stops_the_script(tool, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(scripts.TRAINING)
    done = tool("tune", script, "--mode", "GA", "--json", tmp_path / "out.json")
    assert done.returncode == 0 and "session 1 run 2: " in done.stdout, done.stderr
    assert done.stderr.count("loss ") == 2 and "loss" not in done.stdout.splitlines()[-1]  # the third step ends before it is told
    assert str(tmp_path / "bank" / NAME) in done.stdout
    programs = json.loads((tmp_path / "out.json").read_text())["programs"]
    assert [program["soc"] for program in programs] == ["Ascend910A"] * 2
    assert all(one["us"] <= one["default_us"] for program in programs for one in program["operators"])
    again = json.loads(tool("tune", script, "--mode", "GA", "--json", "-").stdout)["programs"]
    hit = [one for program in again for one in program["operators"] if one["compiled_with"] == "bank"]
    assert hit and [program["us"] for program in again] == [program["us"] for program in programs]
    assert tool("bank", "show").stdout.splitlines()[-1] == f"{len(bank(tmp_path / 'bank')['entries'])} entries"


@pytest.mark.whole
def test_tune_of_a_plain_script_and_of_one_that_ends_too_early(tool, tmp_path):
    plain = tmp_path / "plain.py"
    plain.write_text(
        "import tensorflow as tf\nx = tf.Variable(tf.ones([64, 48]))\n"
        "train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(tf.matmul(x, tf.ones([48, 80]))))\n"
        "with tf.Session() as session:\n    session.run(tf.global_variables_initializer())\n"
        "    for step in range(STEPS):\n        session.run(train)\n".replace("STEPS", "9")
    )
    done = tool("tune", plain, "--soc", "910B2", "--mode", "GA")
    assert done.returncode == 0 and "Ascend910B2_operators.json" in done.stdout, done.stderr
    plain.write_text(plain.read_text().replace("range(9)", "range(1)"))
    done = tool("tune", plain, "--mode", "GA")
    assert done.returncode == 1 and "ended with exit code 0 before 3 steps" in done.stderr


RESULT = "tune_result_pid1_20200808_180338123.json"
HALF_A_RESULT = "tune_result_pid1_20200808_180338124.json"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("tune", "name a SCRIPT"), ("tune no.py", "no such file"), ("bank show no", "there is no such file"),
        ("bank show .", "holds no bank"), ("bank merge", "name the files"), ("bank export x", "nothing to export"),
        ("bank merge bad.json", "it is no JSON"), (f"bank show {RESULT}", "no result file"), ("bank show pipe", "cannot be read"),
        (f"bank show {HALF_A_RESULT}", f"{HALF_A_RESULT}: cannot be read: the entry [a] has only one of before"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_in_a_line(tool, tmp_path, words, reason):
    (tmp_path / "bad.json").write_text("bad")
    (tmp_path / RESULT).write_text("[]")
    (tmp_path / HALF_A_RESULT).write_text('{"[a]": {"status_data": {}, "result_data": {"after_tune": 3}}}')
    os.mkfifo(tmp_path / "pipe")
    done = tool(*words.split())
    assert done.returncode == 2 and reason in done.stderr and done.stdout == ""


def test_a_team_shares_a_bank(tool, tmp_path):
    task = tasks.improvable(CHIP)
    best, default = tmp_path / "best", tmp_path / "default"
    tuned(best, task, tasks.walk)
    tuned(default, task, tasks.defaults)
    fast, slow = (bank(folder)["entries"][0]["us"] for folder in (best, default))
    done = tool("bank", "merge", default)
    assert (
        done.returncode == 0 and done.stdout.startswith("1 entry added") and bank(tmp_path / "bank")["entries"][0]["us"] == slow
    )
    exported = tool("bank", "export", "team.json", TUNE_BANK_PATH=str(best))
    assert exported.returncode == 0 and "1 entry of Ascend910A" in exported.stdout
    assert "1 replaced" in tool("bank", "merge", "team.json", default / NAME).stdout
    assert bank(tmp_path / "bank")["entries"] == bank(best)["entries"] and fast < slow
    assert "0 added" not in tool("bank", "merge", default).stdout and bank(tmp_path / "bank")["entries"][0]["us"] == fast
    shown = tool("bank", "show", "team.json").stdout
    assert "MatMulV2" in shown and shown.splitlines()[-1] == "1 entry"


def test_a_merge_that_cannot_be_kept_has_failed(tool, tmp_path):
    tuned(tmp_path / "best", tasks.improvable(CHIP), tasks.walk)
    (tmp_path / "file").write_text("")
    done = tool("bank", "merge", "best", TUNE_BANK_PATH=str(tmp_path / "file" / "bank"))
    assert done.returncode == 1 and "cannot be kept" in done.stderr and "written" not in done.stdout


def test_entries_that_lie_are_left_out(tool, tmp_path):
    from npu_runtime.observers.tuning.bank.operator_bank import OperatorBank

    tuned(tmp_path / "best", tasks.improvable(CHIP), tasks.walk)
    OperatorBank("Ascend910A", tmp_path / "false", print).put([entry(1, 0.001)], lambda new, stored: True)
    done = tool("bank", "merge", "false", "best")
    assert "1 entry added" in done.stdout and "1 left out" in done.stdout
    assert bank(tmp_path / "bank")["entries"] == bank(tmp_path / "best")["entries"]
    assert "not usable" in tool("bank", "show", "false").stdout


def test_a_result_file_of_a_real_host_is_shown(tool, tmp_path):
    name = "tune_result_20200808_180338123_pid7.json"
    (tmp_path / name).write_text(LISTING)
    lines = tool("bank", "show", name).stdout.splitlines()
    assert "66 ->       58 us" in lines[0] and "append" in lines[0] and "hit, reserved" in lines[1] and "not tuned" in lines[2]
    assert len(json.loads(tool("bank", "show", name, "--json", "-").stdout)) == 3


def test_a_bank_of_the_home_folder_is_made_only_where_tuning_asks(tool, tmp_path):
    assert tool("bank", "show", TUNE_BANK_PATH="").stdout.startswith("The bank is empty")
    assert not (tmp_path / "Ascend").exists()
