"""Ranks on two hosts: they train as ranks of one machine do, over the network, however they are started."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import unittest
from pathlib import Path

import numpy as np
import pytest

from tests.how_many import IS_WHOLE
from tests.shim.conftest import plain_environment
from tests.shim.network_hosts import ADDRESSES, Hosts, two_hosts, why_none
from tests.shim.test_launch import TF2NPU
from tests.shim.test_ranks import OPTIMIZERS, SEVERAL, SPARSE, variables
from tests.shim.test_started_ranks import SUMS

TRAIN = SPARSE + SEVERAL.replace("OPTIMIZER", OPTIMIZERS["averaged"], 1)
KEY = "a key that nobody guesses"
RANKS = 4 if IS_WHOLE else 2
"""Ranks of a job, half of them on each host."""


@pytest.fixture(scope="module")
def hosts(tmp_path_factory):
    reason = why_none()
    if reason:
        raise unittest.SkipTest(reason)
    with two_hosts(tmp_path_factory.mktemp("hosts")) as made:
        yield made


@pytest.fixture(scope="module")
def of_one_machine(tmp_path_factory) -> list[list[np.ndarray]]:
    """Results of as many ranks of one machine, on the embedded engine."""
    path = tmp_path_factory.mktemp("one") / "train.py"
    path.write_text(TRAIN)
    done = subprocess.run(
        [TF2NPU, "run", "--devices", str(RANKS), path], env=environment(path.parent), capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return variables(done.stdout)


def environment(folder: Path, **more: str) -> dict[str, str]:
    return {**plain_environment(), "TF_CPP_MIN_LOG_LEVEL": "3", "TMPDIR": str(folder), **more}


def same(ours: list[list[np.ndarray]], theirs: list[list[np.ndarray]]) -> None:
    assert len(ours) == len(theirs) == RANKS
    for rank, one in zip(ours, theirs, strict=True):
        for mine, other in zip(rank, one, strict=True):
            np.testing.assert_array_equal(mine, other)


def test_started_by_hosts(hosts: Hosts, of_one_machine, tmp_path):
    path = tmp_path / "train.py"
    path.write_text(TRAIN)
    before = [hosts.received(number) for number in (0, 1)]
    command = [TF2NPU, "run", "--hosts", ",".join(ADDRESSES), "--devices", str(RANKS // 2), "--launcher-exec", hosts.agent, path]
    done = subprocess.run(
        hosts.on(0, command), env=environment(tmp_path), cwd=tmp_path, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr[-3000:]
    same(variables(done.stdout), of_one_machine)
    came = [hosts.received(number) - before[number] for number in (0, 1)]
    assert min(came) > 5_000 * RANKS, f"the tensors went another way: {came} bytes over the cable"


def table(folder: Path) -> Path:
    devices = [
        [{"device_id": str(i), "device_ip": f"192.168.{n}.{i}", "rank_id": str(2 * n + i)} for i in (0, 1)] for n in (0, 1)
    ]
    servers = [{"server_id": address, "device": own} for address, own in zip(ADDRESSES, devices, strict=True)]
    path = folder / "table.json"
    path.write_text(json.dumps({"version": "1.0", "status": "completed", "server_count": "2", "server_list": servers}))
    return path


class Loop:
    """Ranks that a shell loop on each host starts."""

    def __init__(self, hosts: Hosts, folder: Path, source: str) -> None:
        self._hosts, self._folder = hosts, folder
        (folder / "train.py").write_text(source)

    def start(self, rank: int, *words: str, **more: str) -> subprocess.Popen[str]:
        own = self._folder / f"host{rank // 2}"  # no two hosts have a folder in common
        own.mkdir(exist_ok=True)
        variables = {"RANK_ID": str(rank), "RANK_SIZE": "4", "RANK_TABLE_FILE": str(table(self._folder)), "JOB_ID": "3"}
        given = environment(own, **{**variables, "TF2NPU_JOB_KEY": KEY, **more})
        command = self._hosts.on(rank // 2, [sys.executable, self._folder / "train.py", *words])
        return subprocess.Popen(command, env=given, cwd=own, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, *words: str, **more: str) -> list[tuple[int, str, str]]:
        processes = [self.start(rank, *words, **more) for rank in range(4)]
        said = [process.communicate(timeout=600) for process in processes]
        return [(process.returncode, *texts) for process, texts in zip(processes, said, strict=True)]


@pytest.mark.whole
def test_started_by_a_loop_on_each_host(hosts: Hosts, of_one_machine, tmp_path):
    before = hosts.received(1)
    done = Loop(hosts, tmp_path, TRAIN).run()
    assert [code for code, _, _ in done] == [0] * 4, done[0][2][-3000:]
    same([variables(out)[0] for _, out, _ in done], of_one_machine)
    assert hosts.received(1) - before > 20_000


@pytest.mark.whole
def test_a_rank_that_is_killed_is_named_on_both_hosts(hosts: Hosts, tmp_path):
    done = Loop(hosts, tmp_path, SUMS).run("3")
    assert [code == 0 for code, _, _ in done] == [False] * 4 and done[3][0] == -9
    for _, _, said in done[:3]:
        assert "HcomAllReduce sum waits for rank 3, which has ended" in said


@pytest.mark.whole(but=("2-changed3*",))
@pytest.mark.parametrize(
    ("rank", "changed", "said"),
    [
        (2, {"TF2NPU_JOB_KEY": ""}, "table.json has 2 servers, so ranks meet over the network, and TF2NPU_JOB_KEY is not set"),
        (2, {"TF2NPU_JOB_KEY": "short"}, "TF2NPU_JOB_KEY is too short: export one secret of 16 characters or more"),
        (2, {"RANK_ID": "0"}, 'rank 0 is on the server "10.177.5.1", which is no address of this machine'),
        (2, {"HCCL_CONNECT_TIMEOUT": "4"}, "waits for rank 0 at 10.177.5.1, ports 60000 to 60015 (nobody listens there)"),
        (2, {"HCCL_IF_BASE_PORT": "99"}, "HCCL_IF_BASE_PORT='99': write a whole number from 1024 to 65520"),
    ],
)
def test_who_cannot_meet_the_others_says_why_in_a_line(hosts: Hosts, tmp_path, rank, changed, said):
    process = Loop(hosts, tmp_path, SUMS).start(rank, **changed)
    begun = time.monotonic()
    lines = [line for line in process.communicate(timeout=120)[1].splitlines() if said in line]
    assert process.returncode == 1 and lines and all(line.startswith("npu_bridge: ") for line in lines)
    assert time.monotonic() - begun < 60


@pytest.mark.whole
def test_ranks_with_another_key_do_not_come_in(hosts: Hosts, tmp_path):
    loop = Loop(hosts, tmp_path, SUMS)
    processes = [loop.start(rank, HCCL_CONNECT_TIMEOUT="20") for rank in (0, 1)]
    stranger = loop.start(2, TF2NPU_JOB_KEY=KEY[::-1], HCCL_CONNECT_TIMEOUT="20")
    said = stranger.communicate(timeout=300)[1]
    assert "its key, or its job, is another one" in said and "Traceback" not in said
    for process in processes:
        assert "which nobody has started within 20 s (HCCL_CONNECT_TIMEOUT)" in process.communicate(timeout=300)[1]
