"""Ranks that a script starts one by one, as the launchers of model zoos do: `RANK_ID=i RANK_SIZE=n python train.py &`."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.shim.conftest import plain_environment
from tests.shim.test_ranks import OPTIMIZERS, SEVERAL, SPARSE, plain, variables  # noqa: F401

SUMS = """
import os, signal, sys, time
import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *
rank = int(os.environ["RANK_ID"])
x = tf.placeholder(tf.float32, [2])
total = hccl_ops.allreduce(x, "sum")
with tf.Session() as session:
    for step in range(3):
        print(session.run(total, {x: np.full(2, rank + 1.0)}).tolist(), flush=True)
        if sys.argv[1:] == [str(rank)] and step == 1:
            os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def loop(tmp_path):
    """Starts ranks as a shell does, each on its own; gives exit code, stdout and stderr of each."""
    started: list[subprocess.Popen[str]] = []

    def start(source: str, ranks: tuple[int, ...], size: int, *words: str, **variables: str) -> list[tuple[int, str, str]]:
        path = tmp_path / "train.py"
        path.write_text(source)
        (tmp_path / "own").mkdir(exist_ok=True)
        shared = {
            **plain_environment(),
            "JOB_ID": "99",
            "TMPDIR": str(tmp_path / "own"),
            "RANK_SIZE": str(size),
            "TF_CPP_MIN_LOG_LEVEL": "3",
            **variables,
        }
        if "CM_WORKER_SIZE" in variables:
            del shared["RANK_SIZE"]  # both are an error
        made = [
            subprocess.Popen(
                [sys.executable, path, *words], env={**shared, "RANK_ID": str(rank)}, cwd=tmp_path, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )
            for rank in ranks
        ]  # fmt: skip
        started.extend(made)
        said = [process.communicate(timeout=300) for process in made]
        return [(process.returncode, *texts) for process, texts in zip(made, said, strict=True)]

    yield start
    for process in started:
        process.kill()


def test_they_train_as_one_process_on_the_whole_batch(loop, plain):  # noqa: F811
    done = loop(SPARSE + SEVERAL.replace("OPTIMIZER", OPTIMIZERS["averaged"], 1), (0, 1), 2)
    assert [code for code, _, _ in done] == [0, 0], done[0][2][-2000:]
    first, second = (variables(out)[0] for _, out, _ in done)
    for ours, others, theirs in zip(first, second, plain(SPARSE), strict=True):
        np.testing.assert_array_equal(ours, others)
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


CHIEF = {"CM_CHIEF_IP": "127.0.0.1", "CM_CHIEF_PORT": "29688", "CM_CHIEF_DEVICE": "0", "CM_WORKER_SIZE": "2"}


@pytest.mark.whole
def test_ranks_that_know_their_chief_train_like_those_with_a_size(loop):
    source = SPARSE + SEVERAL.replace("OPTIMIZER", OPTIMIZERS["averaged"], 1)
    by_size, by_chief = loop(source, (0, 1), 2), loop(source, (0, 1), 2, **CHIEF)
    assert [code for code, _, _ in by_chief] == [0, 0], by_chief[0][2][-2000:]
    for (_, ours, _), (_, theirs, _) in zip(by_chief, by_size, strict=True):
        assert variables(ours) and all(map(np.array_equal, variables(ours)[0], variables(theirs)[0]))


@pytest.mark.whole
def test_the_same_job_runs_again_at_once_and_nothing_is_left(loop, tmp_path):
    for _ in range(2):
        done = loop(SUMS, (0, 1, 2), 3)
        assert [out for _, out, _ in done] == ["[6.0, 6.0]\n" * 3] * 3, done[0][2][-2000:]
    (jobs,) = (tmp_path / "own").iterdir()
    assert stat.S_IMODE(jobs.stat().st_mode) == 0o700
    (address,) = jobs.glob("*/address")
    folder = Path(address.read_text().partition("|")[2])
    deadline = time.monotonic() + 30
    while folder.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not folder.exists(), "the coordinator ends with the last rank"


@pytest.mark.whole
def test_a_rank_that_is_killed_is_named_to_the_others(loop):
    (_, _, first), (killed, _, _), (_, _, third) = loop(SUMS, (0, 1, 2), 3, "1")
    assert killed == -9
    for said in (first, third):
        assert "HcomAllReduce sum waits for rank 1, which has ended" in said


def test_a_rank_that_nobody_starts_is_named(loop):
    ((code, _, said),) = loop(SUMS, (1,), 2, HCCL_CONNECT_TIMEOUT="1")
    assert code == 1 and "waits for rank 0, which nobody has started within 1 s (HCCL_CONNECT_TIMEOUT)" in said


@pytest.mark.whole
def test_a_number_that_is_taken_and_a_table_that_is_wrong_end_in_one_line(loop, tmp_path):
    first, second = sorted(loop(SUMS, (0, 0), 2, HCCL_CONNECT_TIMEOUT="1"), key=lambda one: "runs already" in one[2])
    assert "waits for rank 1" in first[2]
    assert second[0] == 1 and second[2].startswith("npu_bridge: rank 0 of this job runs already, as process ")
    assert "Traceback" not in second[2] and second[2].count("\n") == 1
    (tmp_path / "2p.json").write_text("{,}")
    ((code, _, said),) = loop(SUMS, (0,), 2, RANK_TABLE_FILE=str(tmp_path / "2p.json"))
    assert code == 1 and said.startswith("npu_bridge: RANK_TABLE_FILE=") and "Traceback" not in said


@pytest.mark.whole
def test_a_folder_that_others_can_write_into_is_refused(loop, tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / f"tf2npu-jobs-{os.geteuid()}").mkdir(mode=0o777)
    (tmp_path / "own" / f"tf2npu-jobs-{os.geteuid()}").chmod(0o777)
    ((code, _, said),) = loop(SUMS, (0,), 2)
    assert code == 1 and "is not this user's alone: remove it, or set TMPDIR" in said and "Traceback" not in said
