"""Messages on environments and rank tables that are wrong: the variable or the file, its field, and the way out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from npu_formats.ranks.rank_environment import rank_environment


def servers(*sizes: int, **changed: Any) -> dict[str, Any]:
    """A table of layout 1.0 with servers of so many devices."""
    number = 0
    made = []
    for server, size in enumerate(sizes):
        devices = [{"device_id": str(i), "device_ip": f"192.168.{server}.{i}", "rank_id": str(number + i)} for i in range(size)]
        made.append({"server_id": f"10.0.0.{server}", "device": devices})
        number += size
    return {"version": "1.0", "status": "completed", "server_count": str(len(sizes)), "server_list": made, **changed}


def instances(count: int, *, has_ranks: bool, status: str = "completed") -> dict[str, Any]:
    """A table of the older layouts: an instance for each rank of a lab, one for all of a server of the cloud."""
    devices = [{"device_id": str(i), "device_ip": f"192.168.1.{i}"} for i in range(count)]
    if not has_ranks:
        group = {"device_count": str(count), "instance_count": "1"}
        return cloud([{"pod_name": "pod", "server_id": "10.0.0.1", "devices": devices}], status=status, **group)
    group = {"device_num": str(count), "server_num": "1", "instance_count": str(count)}
    ranks = [{"rank_id": str(i), "server_id": "10.0.0.1", "devices": [device]} for i, device in enumerate(devices)]
    laboratory = {"deploy_mode": "lab", "para_plane_nic_location": "device"}
    return {**cloud(ranks, status=status, **group), **laboratory}


def cloud(instance_list: list[dict[str, Any]], status: str = "completed", **group: str) -> dict[str, Any]:
    return {
        "status": status, "group_count": "1", "group_list": [{"group_name": "g", **group, "instance_list": instance_list}]
    }  # fmt: skip


@pytest.fixture
def asked(tmp_path):
    """The environment of rank 1 of two, with a table and other variables."""

    def ask(table: Any = None, **changed: str) -> Any:
        given = {"RANK_ID": "1", "RANK_SIZE": "2", "JOB_ID": "7", **changed}
        if table is not None:
            path = tmp_path / "2p.json"
            path.write_text(table if isinstance(table, str) else json.dumps(table))
            given["RANK_TABLE_FILE"] = str(path)
        return rank_environment({name: value for name, value in given.items() if value != "unset"})

    return ask


@pytest.mark.parametrize("table", [servers(2), instances(2, has_ranks=True), instances(2, has_ranks=False), None])
def test_one_server_of_any_layout_is_this_machine(asked, table):
    found = asked(table)
    assert (found.rank, found.size, found.seconds) == (1, 2, 120.0)


def pods(*sizes: int) -> dict[str, Any]:
    """A table of the cloud with pods `pod0`, `pod1` and so on, all on one server."""
    ids = iter(range(sum(sizes)))
    made = [
        {
            "pod_name": f"pod{number}",
            "server_id": "10.0.0.1",
            "devices": [{"device_id": str(i), "device_ip": f"192.168.1.{i}"} for _, i in zip(range(size), ids, strict=False)],
        }
        for number, size in enumerate(sizes)
    ]
    return cloud(made, device_count=str(sum(sizes)), instance_count=str(len(sizes)))


@pytest.mark.parametrize("variable", ["ASCEND_DEVICE_ID", "DEVICE_ID"])
def test_a_pod_and_a_device_of_it_are_a_rank(asked, variable):
    assert asked(pods(2, 2), RANK_ID="pod1", RANK_SIZE="4", **{variable: "3"}).rank == 3


def test_without_a_rank_id_the_chief_counts_by_device(asked):
    chief = {"CM_CHIEF_IP": "10.0.0.1", "CM_CHIEF_PORT": "6000", "CM_WORKER_SIZE": "8", "RANK_SIZE": "unset", "RANK_ID": "unset"}
    found = asked(ASCEND_DEVICE_ID="5", **chief)
    assert (found.rank, found.size) == (5, 8)
    assert asked(**chief) is None  # nothing says which one it is


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"RANK_ID": "pod7"}, "RANK_ID='pod7': RANK_TABLE_FILE=.* has no such \"pod_name\"; write a number, or one of 'pod0'"),
        ({"RANK_ID": "pod0", "ASCEND_DEVICE_ID": "2"}, "ASCEND_DEVICE_ID='2': write a whole number from 0 to 1"),
        ({"RANK_ID": "pod0", "ASCEND_DEVICE_ID": "unset"}, "RANK_ID='pod0': write a whole number from 0 to 1"),
    ],
)
def test_pods_that_the_table_does_not_have(asked, changed, said):
    with pytest.raises(ValueError, match=said):
        asked(pods(2), **{"ASCEND_DEVICE_ID": "1", **changed})


def test_a_table_without_pods_wants_a_number(asked):
    with pytest.raises(ValueError, match="RANK_ID='pod0': write a whole number from 0 to 1"):
        asked(servers(2), RANK_ID="pod0", ASCEND_DEVICE_ID="1")


def test_a_device_that_a_pod_does_not_have(asked):
    with pytest.raises(ValueError, match='"pod_name" \'pod1\' has no "device_id" 2'):
        asked(pods(3, 1), RANK_ID="pod1", RANK_SIZE="4", ASCEND_DEVICE_ID="2")


def test_jobs_differ_by_number_table_and_size(asked):
    jobs = {
        asked().job,
        asked(JOB_ID="8").job,
        asked(servers(2)).job,
        asked(RANK_SIZE="3").job,
        asked(CM_CHIEF_IP="10.0.0.1").job,
    }
    assert len(jobs) == 5 and asked().job == asked(RANK_ID="0").job


@pytest.mark.parametrize(
    "changed",
    [{"RANK_SIZE": "1", "RANK_ID": "0"}, {"RANK_SIZE": "0", "RANK_ID": "0"}, {"RANK_SIZE": "unset"}, {"RANK_ID": "unset"}],
)
def test_a_process_that_is_alone(asked, changed):
    assert asked(**changed) is None


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"RANK_ID": "2"}, "RANK_ID='2': write a whole number from 0 to 1"),
        ({"RANK_ID": "-1"}, "RANK_ID='-1'"),
        ({"RANK_SIZE": "two"}, "RANK_SIZE='two': write a whole number from 0 to 32768"),
        ({"TF2NPU_COLLECTIVE_ENGINE": "nccl"}, "TF2NPU_COLLECTIVE_ENGINE='nccl': write embedded or mpi, or unset it"),
        ({"HCCL_CONNECT_TIMEOUT": "soon"}, "HCCL_CONNECT_TIMEOUT='soon': write a number of seconds"),
        ({"RANK_TABLE_FILE": "/absent.json"}, "RANK_TABLE_FILE=/absent.json: it cannot be read: No such file"),
    ],
)
def test_wrong_variables(asked, changed, said):
    with pytest.raises(ValueError, match=said):
        asked(**changed)


def without(table: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name != key}


def renumbered(*numbers: object) -> dict[str, Any]:
    table = servers(len(numbers))
    for device, number in zip(table["server_list"][0]["device"], numbers, strict=True):
        device["rank_id"] = number
    return table


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (json.dumps(servers(2), indent=1)[:-2] + ",}", r"line \d+: no JSON: .*; a comma behind the last entry"),
        ("[]", "it is no JSON object"),
        ("[" * 100_000, "no JSON"),
        ("\udcff".encode("utf-8", "surrogateescape").decode("latin-1"), "no JSON"),
        (servers(2, status="initializing"), '"status" is \'initializing\': a table in use has "completed"'),
        (instances(2, has_ranks=True, status="failed"), "\"status\" is 'failed'"),
        (servers(2, server_count="3"), '"server_count" is 3, and "server_list" has 1'),
        (servers(8), "it has 8 devices, and RANK_SIZE is 2"),
        (servers(1, 1), 'rank 1 is on the server "10.0.0.1", which is no address of this machine'),
        (servers(2, super_pod_list=[]), '"super_pod_list": super-pods are not simulated'),
        (without(servers(2), "server_list"), '"group_list" is missing'),
        (servers(2, server_list=[{"device": 3}]), '"device" is missing, or is no list of objects'),
        (renumbered("0", "2"), '"rank_id" 2 is there where 1 is due'),
        (renumbered("0", "0"), '"rank_id" 0 is there twice'),
        (renumbered("0", "one"), '"rank_id" is one: write a whole number'),
    ],
)
def test_wrong_tables_are_told_by_file_and_field(asked, table, said):
    with pytest.raises(ValueError, match=r"RANK_TABLE_FILE=.*2p\.json.*" + said):
        asked(table)


def test_a_table_and_a_chief_exclude_each_other(asked):
    with pytest.raises(ValueError, match="RANK_TABLE_FILE and CM_CHIEF_IP are both set"):
        asked(servers(2), CM_CHIEF_IP="10.0.0.1", CM_CHIEF_PORT="6000")


def test_the_embedded_engine_is_for_one_machine(asked):
    here = servers(1, 1)
    for number, server in enumerate(here["server_list"]):
        server["host_ip"] = f"127.0.0.{number + 1}"
    several = {"TF2NPU_JOB_KEY": "k" * 16}
    assert asked(here, **several).servers.of_ranks == ("127.0.0.1", "127.0.0.2"), "host_ip stands before server_id"
    with pytest.raises(ValueError, match="TF2NPU_COLLECTIVE_ENGINE=embedded is for one machine, and these ranks are on several"):
        asked(here, TF2NPU_COLLECTIVE_ENGINE="embedded", **several)


def test_a_chief_and_a_key_mean_several_machines(asked):
    chief = {"CM_CHIEF_IP": "127.0.0.1", "CM_CHIEF_PORT": "6000", "CM_WORKER_IP": "127.0.0.2"}
    assert asked(**chief).servers is None, "without a key it is this machine"
    found = asked(TF2NPU_JOB_KEY="k" * 16, **chief).servers
    assert (found.chief, found.port, found.of_ranks[1]) == ("127.0.0.1", 6000, "127.0.0.2")
    assert "k" * 16 not in repr(found)
    for changed, said in [
        ({"CM_CHIEF_PORT": ""}, "CM_CHIEF_PORT is not: set it to a free port there"),
        ({"CM_WORKER_IP": "198.51.100.9"}, "CM_WORKER_IP='198.51.100.9' is no address of this machine"),
        ({"CM_CHIEF_PORT": "99"}, "CM_CHIEF_PORT='99': write a whole number from 1024 to 65520"),
    ]:
        with pytest.raises(ValueError, match=said):
            asked(TF2NPU_JOB_KEY="k" * 16, **{**chief, **changed})
