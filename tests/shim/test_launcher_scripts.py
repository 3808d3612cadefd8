"""`tf2npu run LAUNCHER.sh`: shell scripts of a host, as model zoos publish them, with ranks that know nothing of this package."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.shim.conftest import plain_environment

# As on a host, TensorFlow means TensorFlow 1 before npu_bridge is imported, and its contrib is there.
TRAIN = """
import os, sys
import tensorflow as tf
from tensorflow.contrib import slim
from tensorflow.python.data.experimental.ops import threadpool
assert tf.__version__.startswith("1.15"), tf.__version__
from npu_bridge.npu_init import *
total = hccl_ops.allreduce(tf.constant([float(os.environ["ASCEND_DEVICE_ID"]) + 1]), "sum")
with tf.Session() as session:
    print(session.run(total).tolist(), os.environ["DEVICE_ID"], sys.argv[1:], flush=True)
"""
LOOP = """
export JOB_ID=31 HCCL_CONNECT_TIMEOUT=60
{settings}
for ((i=0; i<2; i++)); do
    export ASCEND_DEVICE_ID=$i {rank}
    nohup python3.7 -u train.py --step=$i > rank_$i.log 2>&1 &
done
wait
echo launched $1
"""
POD = {
    "group_name": "g",
    "device_count": "2",
    "instance_count": "1",
    "instance_list": [{"pod_name": "npu2p", "server_id": "127.0.0.1", "devices": []}],
}


@pytest.fixture
def place(tmp_path):
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "own").mkdir()
    POD["instance_list"][0]["devices"] = [{"device_id": str(i), "device_ip": f"192.168.{i}.1"} for i in range(2)]
    table = {"status": "completed", "group_count": "1", "group_list": [POD]}
    (tmp_path / "table.json").write_text(json.dumps(table))
    return tmp_path


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "tf2npu", "run", *words]


def settings(place: Path) -> dict[str, str]:
    return {**plain_environment(), "TMPDIR": str(place / "own"), "TF_CPP_MIN_LOG_LEVEL": "3"}


def run(place: Path, script: str, *words: str) -> subprocess.CompletedProcess[str]:
    (place / "train.sh").write_text(script)
    return subprocess.run(
        command("train.sh", *words), cwd=place, env=settings(place), capture_output=True, text=True, timeout=300
    )


@pytest.mark.whole
@pytest.mark.parametrize(
    ("exported", "rank"),
    [
        ("export RANK_SIZE=2", "RANK_ID=$i"),
        ("export RANK_SIZE=2 RANK_ID=npu2p RANK_TABLE_FILE=$PWD/table.json", ""),
        ("export CM_CHIEF_IP=127.0.0.1 CM_CHIEF_PORT=29688 CM_CHIEF_DEVICE=0 CM_WORKER_SIZE=2 CM_WORKER_IP=127.0.0.1", ""),
    ],
    ids=["numbers", "a pod", "a chief"],
)
def test_ranks_that_a_launcher_starts_find_tensorflow_1_and_each_other(place, exported, rank):
    done = run(place, LOOP.format(settings=exported, rank=rank), "--data_path=here")
    logs = [(place / f"rank_{number}.log").read_text() for number in range(2)]
    assert (done.returncode, done.stdout) == (0, "launched --data_path=here\n"), done.stderr + "".join(logs)
    assert [log.splitlines()[-1] if "[3.0]" in log.splitlines()[-1] else log for log in map(first_result, logs)] == [
        "[3.0] 0 ['--step=0']",
        "[3.0] 1 ['--step=1']",
    ]


def first_result(log: str) -> str:
    return next((line for line in log.splitlines() if line.startswith("[")), log)


@pytest.mark.whole(beyond=1)
@pytest.mark.parametrize("waits", ["wait", ""])
def test_a_rank_that_fails_is_named_though_the_launcher_does_not_look(place, waits):
    loop = "for i in 0 1; do RANK_ID=$i python -c 'import os, sys; sys.exit(7 * int(os.environ[\"RANK_ID\"]))' & done\n"
    done = run(place, loop + waits)
    assert (done.returncode, done.stderr) == (7, "tf2npu run: rank 1 has ended with exit code 7\n")


@pytest.mark.whole
def test_a_process_that_is_killed_is_named(place):
    done = run(place, "python3 -c 'import os; os.kill(os.getpid(), 9)'\ntrue\n")
    assert done.returncode == 137 and "has ended with exit code 137" in done.stderr


def test_the_code_of_a_launcher_that_fails_comes_first(place):
    assert run(place, "exit 5\n").returncode == 5


def test_python_without_tensorflow_stays_as_it_is(place):
    (place / "sitecustomize.py").write_text("import builtins\nbuiltins.own = 'own'\n")
    look = "import sys; print(own, sorted(set(sys.modules) & {'tensorflow', 'npu_bridge', 'numpy'}))"
    done = run(place, f'export PYTHONPATH=$PWD:$PYTHONPATH\npython3 -c "{look}"\n')
    assert (done.returncode, done.stdout) == (0, "own []\n"), done.stderr


def test_who_ends_the_launcher_ends_its_ranks(place):
    (place / "train.sh").write_text("python3 -c 'import os, time; print(os.getpid(), flush=True); time.sleep(60)' &\nwait\n")
    process = subprocess.Popen(command("train.sh"), cwd=place, env=settings(place), stdout=subprocess.PIPE, text=True)
    rank = int(process.stdout.readline())
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) != 0
    for _ in range(100):
        if not Path(f"/proc/{rank}").exists():
            break
        time.sleep(0.1)
    with pytest.raises(ProcessLookupError):
        os.kill(rank, 0)


@pytest.mark.parametrize("option", [("--devices", "2"), ("--report", ".")])
def test_options_that_a_launcher_cannot_have(place, option):
    (place / "train.sh").write_text("true\n")
    done = subprocess.run(command(*option, "train.sh"), cwd=place, env=settings(place), capture_output=True, text=True)
    assert done.returncode == 2 and f"{option[0]} does not go with a shell script" in done.stderr
