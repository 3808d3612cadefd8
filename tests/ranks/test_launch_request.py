"""Requests to `tf2npu run` for ranks, and the reasons that one cannot be met: one line that says what to do."""

from __future__ import annotations

import json
import os

import pytest

from npu_formats.ranks.rank_table_file import servers_of
from npu_formats.ranks.servers import is_here
from tf2npu.ranks import hosts, launch_request, rank_table
from tf2npu.ranks.launch_request import LaunchRequest, prepare, problem_of


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"hosts": ("a", "b"), "rank_table": "t.json"}, "--hosts and --rank-table say the same thing twice: leave one out"),
        ({"devices": 2, "rank_table": "t.json"}, "--rank-table says how many devices there are: leave --devices out"),
        ({"hosts": ("a", "b"), "engine": "embedded"}, "--engine embedded is for one machine"),
        ({"hosts": ("a", "b"), "devices": 20_000}, "are more than 32768 ranks"),
        ({"hosts": ("a", "b"), "devices": 17}, "--devices 17: with --hosts a rank table is made, whose servers have 16 at most"),
        ({"hosts": ("a", "b", "a")}, "--hosts names a host twice: name each once, and say by --devices how many ranks it has"),
    ],
)
def test_options_that_do_not_go_together(given, said):
    assert said in str(problem_of(LaunchRequest(**given)))


@pytest.mark.parametrize("given", [{"hosts": ("a", "b"), "devices": 2}, {"devices": 2, "engine": "mpi"}])
def test_without_the_extra_it_is_named(given, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("npu_formats.ranks.mpi_packages._is_there", lambda name: False)
    said = 'the engine mpi needs mpi4py and mpich, which are not installed: pip install "tf2npu[mpi]"'
    assert problem_of(LaunchRequest(**given)) == said
    assert problem_of(LaunchRequest(devices=2)) is None


def test_ranks_of_mpiexec_are_ranks(monkeypatch):
    """Source: the variables that MPICH's mpiexec gives to each process."""
    for name, value in {
        "PMI_RANK": "1",
        "PMI_SIZE": "3",
        "MPI_LOCALNRANKS": "3",
        "RANK_ID": "",
        "RANK_SIZE": "",
        "JOB_ID": "",
    }.items():
        monkeypatch.setenv(name, value)
    prepare(LaunchRequest())
    assert [os.environ[name] for name in ("RANK_ID", "RANK_SIZE")] == ["1", "3"]
    assert os.environ["JOB_ID"] == f"mpiexec-{os.getppid()}"
    monkeypatch.setenv("MPI_LOCALNRANKS", "2")
    with pytest.raises(ValueError, match="mpiexec has started 2 of 3 ranks on this machine: start them by --hosts"):
        prepare(LaunchRequest())


def test_the_table_of_hosts_is_one_that_we_read(tmp_path):
    assert servers_of(rank_table.table_of(["a", "b"], 2), 4, "--hosts") == ("a", "a", "b", "b")


def test_the_key_is_on_no_command_line(monkeypatch, tmp_path):
    """Other users of a machine see the words of every process."""
    started = []
    monkeypatch.setattr(hosts, "Host", lambda number, name, command, handed: started.append((name, list(command), handed)))
    monkeypatch.setattr(hosts.job, "run_processes", lambda kind, start: list(start(None)) and 0)
    table = rank_table.table_of(["127.0.0.1", "far"], 1)
    hosts.run_hosts(["127.0.0.1", "far"], table, "the key of it", "ssh -x", ["train.py", "a b; rm *"], tmp_path)
    (here, own, handed), (far, command, _) = started
    assert (here, far, command[:3]) == ("127.0.0.1", "far", ["ssh", "-x", "far"])
    assert own[-2:] == ["train.py", "a b; rm *"] and command[-1].endswith("train.py 'a b; rm *'")
    assert "--report" in own and "--report" not in command[-1], "the report is rank 0's"
    assert "the key of it" not in str([own, command]) and json.loads(handed)["environment"]["TF2NPU_JOB_KEY"] == "the key of it"


def test_a_table_of_other_machines_is_told(tmp_path):
    path = tmp_path / "t.json"
    path.write_text(json.dumps(rank_table.table_of(["198.51.100.1", "198.51.100.2"], 1)))
    with pytest.raises(ValueError, match=r"none of its servers, 198.51.100.1, 198.51.100.2, is an address of this machine"):
        launch_request.run(LaunchRequest(rank_table=str(path)), ["train.py"], None)


def test_addresses_of_this_machine():
    assert is_here("127.0.0.1") and not is_here("198.51.100.1") and not is_here("no such host")
