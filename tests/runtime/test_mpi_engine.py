"""The engine mpi between processes: numpy's results, bit for bit, and the coordinator's word for what goes wrong."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from npu_runtime.collectives import coordinator as coordinators
from npu_runtime.collectives.coordinator import Coordinator
from npu_runtime.collectives.process_management import ProcessManager, process_mapping

MEMORY = Path("/dev/shm")


class Job:
    """Ranks, each a process."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self._started: list[subprocess.Popen[str]] = []

    def run(self, size: int, *words: str) -> list[tuple[int, str, float]]:
        """Exit code, last words and seconds of each."""
        begun = time.monotonic()
        found: dict[int, tuple[int, str, float]] = {}

        def watch(number: int, process: subprocess.Popen[str]) -> None:
            said = process.communicate(timeout=300)[1]
            self._coordinator.leave(number, f"has ended with exit code {process.returncode}")
            found[number] = process.returncode, said, time.monotonic() - begun

        threads = []
        for number in range(size):
            command = [sys.executable, "-m", "tests.runtime.mpi_rank", self._coordinator.address, str(number), str(size), *words]
            self._started.append(subprocess.Popen(command, text=True, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL))
            threads.append(threading.Thread(target=watch, args=(number, self._started[-1])))
            threads[-1].start()
        for thread in threads:
            thread.join()
        return [found[number] for number in range(size)]

    def end(self) -> None:
        for process in self._started:
            process.kill()


@pytest.fixture
def job(tmp_path) -> Iterator[Job]:
    made = Coordinator(tmp_path)
    started = Job(made)
    yield started
    started.end()
    made.close()


@pytest.mark.whole(beyond=1)
@pytest.mark.parametrize("size", [2, 3])
def test_all_operations_give_numpys_bits(job, size):
    before = {path.name for path in MEMORY.glob("mpich*")}
    done = job.run(size, "all", "8")
    assert [code for code, _, _ in done] == [0] * size, done[0][1][-3000:]
    assert {path.name for path in MEMORY.glob("mpich*")} <= before, "memory that outlives its processes"


@pytest.mark.whole(beyond=3)
@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("killed", "HcomAllReduce sum waits for rank 1, which has ended with exit code -9"),
        ("killed in the middle", "HcomAllReduce sum waits for rank 1, which has ended with exit code -9"),
        ("early", "HcomAllReduce sum waits for rank 1, which has ended with exit code 0"),
        ("operation", "the ranks call different operations at the same time: rank 0 HcomAllReduce sum; rank 1 HcomAllReduce max"),
        ("shape", "the ranks bring tensors that differ: rank 0 float32[3000000], rank 1 float32[7]"),
        ("type", "the ranks bring tensors that differ: rank 0 float32[3000000], rank 1 int32[3000000]"),
    ],
)
def test_what_goes_wrong_is_told_to_all_others(job, what, said):
    first, second, third = job.run(3, what)
    for code, words, seconds in (first, third):
        assert code == 1 and said in words and "Traceback" not in words
        assert seconds < second[2] + 2 or what in ("operation", "shape", "type")


def test_strangers_at_the_port_of_mpi_do_not_disturb(job):
    """It listens on this machine alone, and goes on with the right numbers whatever is sent there."""
    done = job.run(2, "disturbed")
    assert [code for code, _, _ in done] == [0, 0], done[0][1][-3000:]


@pytest.mark.whole
def test_a_late_rank_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("HCCL_EXEC_TIMEOUT", "20")
    made = Coordinator(tmp_path)
    job = Job(made)
    ending = threading.Timer(45, job.end)
    ending.start()
    first, _, third = job.run(3, "late")
    ending.cancel()
    made.close()
    for code, words, _ in (first, third):
        assert code == 1 and "has waited 20 s for rank 1 (HCCL_EXEC_TIMEOUT)" in words


def test_ranks_with_another_engine_are_told(tmp_path):
    made = Coordinator(tmp_path)
    made._meeting((0, 1), coordinators.EMBEDDED)
    with pytest.raises(ValueError, match="this rank has the engine mpi, another one embedded: give all the same --engine"):
        made._meeting((0, 1), coordinators.MPI)
    made.close()


@pytest.mark.parametrize(
    ("servers", "written"),
    [
        (["a", "a", "b", "b"], "(vector,(0,1,2),(1,1,2))"),
        (["a", "b", "a"], "(vector,(0,1,1),(1,1,1),(0,1,1))"),
        (["", "", ""], "(vector,(0,1,3))"),
    ],
)
def test_machines_of_ranks_as_mpi_reads_them(servers, written):
    assert process_mapping(servers) == written


def test_the_manager_answers_the_wire_protocol():
    """Source: the messages of PMI-1 in MPICH's documentation."""
    manager = ProcessManager("job", 1, 2, lambda keys: {**keys, "card0": "tcp 1.2.3.4"})
    with manager._theirs.makefile("rw") as line:
        for said, answer in [
            ("cmd=init pmi_version=1 pmi_subversion=1", "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0"),
            ("cmd=get_my_kvsname", "cmd=my_kvsname kvsname=kvs_job"),
            ("cmd=put kvsname=kvs_job key=card1 value=a value with blanks", "cmd=put_result rc=0 msg=success"),
            ("cmd=get kvsname=kvs_job key=card0", "cmd=get_result rc=-1 msg=unknown_key"),
            ("cmd=barrier_in", "cmd=barrier_out rc=0"),
            ("cmd=get kvsname=kvs_job key=card0", "cmd=get_result rc=0 msg=success value=tcp 1.2.3.4"),
            ("cmd=get kvsname=kvs_job key=card1", "cmd=get_result rc=0 msg=success value=a value with blanks"),
            ("cmd=spawn", "cmd=spawn rc=-1 msg=unknown_command"),
        ]:
            line.write(said + "\n")
            line.flush()
            assert line.readline() == answer + "\n"
