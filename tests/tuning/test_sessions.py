"""A script that is tuned while it is compiled: what it computes, what it leaves behind, and what its clock then shows."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest

from npu_formats.vendor.tune_result import read_tune_result
from npu_runtime.observers.tuning.programs.result_files import read_name
from tests import fork_server
from tests.shim.conftest import plain_environment
from tests.tuning import scripts

BANK = "Ascend910A_operators.json"
CLOCK_TICK_US = 0.011
"""A duration in a profile is the difference of two times, each of which is rounded to 10 ns: by so much two may differ."""
Run = Callable[..., CompletedProcess]


@pytest.fixture
def run(tmp_path) -> Run:
    """Runs the training script with session options; variables are those of its environment."""
    script = tmp_path / "train.py"
    script.write_text(scripts.TRAINING)
    (tmp_path / "home").mkdir()

    def start(*options: str, source: str = "", **variables: str) -> CompletedProcess:
        if source:
            script.write_text(source)
        home = {"HOME": str(tmp_path / "home"), "TUNE_BANK_PATH": str(tmp_path / "bank")}
        done = fork_server.python([script, *options], {**plain_environment(), **home, **variables}, tmp_path)
        assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
        return done

    return start


def results(folder: Path) -> list:
    """The entries of all result files in a folder, in order of time."""
    files = sorted(folder.glob("tune_result_*.json"), key=lambda path: read_name(path.name)[1])
    return [one for path in files for one in read_tune_result(path.read_text())]


def count(entries: list, flag: str) -> int:
    return sum(one.flags[f"bank_{flag}"] for one in entries)


def test_the_first_run_tunes_the_second_hits_and_the_results_stay(run, tmp_path):
    plain = run()
    assert not (tmp_path / "bank").exists() and "tuning" not in plain.stderr
    first = run("auto_tune_mode=RL,GA")
    tuned = results(tmp_path / "bank")
    n_new = count(tuned, "append")
    assert n_new > 5 and count(tuned, "hit") == 0 and (tmp_path / "bank" / BANK).is_file()
    assert "tuning: RL,GA: session 1 run 2" in first.stderr and "nothing is tuned" not in first.stderr
    second = run("auto_tune_mode=RL,GA")
    again = results(tmp_path / "bank")[len(tuned) :]
    assert count(again, "append") == 0 and count(again, "hit") == count(again, "reserved") == n_new
    assert (
        first.stdout == second.stdout
    )  # to the last bit; kernels that this machine chose may round otherwise than those without
    np.testing.assert_allclose(_losses(first), _losses(plain), rtol=1e-5)
    assert "kernels on this machine: of 0 shapes that were tried 0 take" in second.stderr
    assert len(list((tmp_path / "bank").glob("kernels_*.json"))) == 1
    assert not list((tmp_path / "home").rglob("*operators*"))


def _losses(done: CompletedProcess) -> list[float]:
    return [float.fromhex(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("loss")]


@pytest.mark.whole()
def test_without_the_option_a_bank_is_neither_read_nor_written(run, tmp_path):
    (tmp_path / "bank").mkdir()
    (tmp_path / "bank" / BANK).write_text("{")
    done = run(ENABLE_TUNE_BANK="True", REPEAT_TUNE="True")
    assert "bank" not in done.stderr and [path.name for path in (tmp_path / "bank").iterdir()] == [BANK]
    assert "is set aside as" in run("auto_tune_mode=GA").stderr


def _times(folder: Path) -> dict[str, float]:
    """Microseconds of each operator of the profile."""
    path = next(folder.glob("**/op_summary_*.csv"))
    with path.open(newline="") as stream:
        return {row["Op Name"]: float(row["Task Duration(us)"]) for row in csv.DictReader(stream)}


@pytest.mark.whole()
def test_a_profile_has_the_tuned_times(run, tmp_path):
    profiled = {"PROFILING_MODE": "true"}
    times = {}
    for name, options in (("plain", []), ("tuned", ["auto_tune_mode=GA"]), ("hit", ["auto_tune_mode=GA"])):
        run(*options, **profiled, PROFILING_OPTIONS=json.dumps({"output": str(tmp_path / name), "task_trace": "on"}))
        times[name] = _times(tmp_path / name)
    assert times["tuned"].keys() == times["plain"].keys() and times["tuned"] == times["hit"]
    assert [n for n, us in times["plain"].items() if times["tuned"][n] > us + CLOCK_TICK_US] == []
    assert sum(times["tuned"].values()) < sum(times["plain"].values())


@pytest.mark.whole
def test_aoe_mode_writes_its_own_result_and_a_closing_line(run, tmp_path):
    (tmp_path / "work").mkdir()
    done = run("aoe_mode=2", f"work_path={tmp_path / 'work'}")
    assert "[Aoe] tuning of session 1 run 2 has finished after " in done.stderr and "performance improved by" in done.stderr
    assert results(tmp_path / "bank") == [] and (tmp_path / "bank" / BANK).is_file()
    files = sorted((tmp_path / "work").glob("aoe_result_opat_*_pid*.json"))
    basic, opat = json.loads(files[-1].read_text())
    assert basic["basic"].keys() == {"tuning_name", "tuning_time(s)"}
    found = opat["OPAT"]
    modified = found["repo_modified_operators"]
    assert {one["tune_performance"]["Format"]["update_mode"] for one in modified} == {"add"}
    assert found["opat_tuning_result"] == "tuning successful" and found["model_performance_improvement"].endswith("%")
    assert found["model_result_performance(ms)"] <= found["model_baseline_performance(ms)"]


@pytest.mark.whole
def test_the_environment_asks_for_aoe_too(run, tmp_path):
    assert "[Aoe]" in run(AOE_MODE="2", ASCEND_WORK_PATH=str(tmp_path / "work")).stderr
    assert list((tmp_path / "work").glob("aoe_result_opat_*.json"))
    done = run("aoe_mode=1")
    assert "tuning: aoe_mode='1' tunes nothing here" in done.stderr and "[Aoe]" not in done.stderr


@pytest.mark.whole
def test_options_of_the_process_count(run, tmp_path):
    head = "from npu_bridge.estimator.npu import npu_plugin\nnpu_plugin.npu_resource_init(auto_tune_mode='GA')\n"
    run(source=scripts.TRAINING.replace("import sys\n", f"import sys\n{head}", 1))
    assert count(results(tmp_path / "bank"), "append") > 3


@pytest.mark.whole
def test_a_configuration_names_the_operators(run, tmp_path):
    (tmp_path / "aoe.cfg").write_text(json.dumps({"tune_ops_name": ["conv2d/Conv2D"], "tune_ops_type": ["MatMulV2"]}))
    run("auto_tune_mode=GA", f"aoe_config_file={tmp_path / 'aoe.cfg'}")
    types = {entry["operator"]["op_type"] for entry in json.loads((tmp_path / "bank" / BANK).read_text())["entries"]}
    assert types == {"Conv2D", "MatMulV2"}
    (tmp_path / "aoe.cfg").write_text("no JSON")
    done = run("auto_tune_mode=GA", f"aoe_config_file={tmp_path / 'aoe.cfg'}")
    assert "it is no JSON; all operators are tuned" in done.stderr


def test_operators_to_be_debugged_are_not_searched(run, tmp_path):
    done = run("auto_tune_mode=GA", "op_debug_level=2")
    assert "so nothing is searched" in done.stderr and not (tmp_path / "bank" / BANK).exists()


def test_no_time_leaves_all_as_it_is_and_says_so(run, tmp_path):
    done = run("auto_tune_mode=GA", TF2NPU_OPTIONS=json.dumps({"tuning_seconds": 0}))
    assert "were not tuned within 0 s and keep what they had" in done.stderr
    assert count(results(tmp_path / "bank"), "append") == 0 and not (tmp_path / "bank" / BANK).exists()


@pytest.mark.whole
def test_batches_of_ever_other_sizes_leave_few_result_files(run, tmp_path):
    changing = scripts.TRAINING.replace("range(8)", "range(6)").replace("rand(300, ", "rand(20 + step, ")
    changing = changing.replace("0, 10, 300)", "0, 10, 20 + step)").replace("import sys\n", "import sys\n" + FEW, 1)
    done = run("auto_tune_mode=GA", source=changing)
    assert len(list((tmp_path / "bank").glob("tune_result_*.json"))) == 2
    assert done.stderr.count("this process has left 2 result files") == 1


FEW = """from npu_runtime.observers.tuning.programs import session_tuner
session_tuner.MOST_RESULT_FILES = 2
"""
