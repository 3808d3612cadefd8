"""Tables that HCCL refuses are refused here, with the file, the field and what to write; those that it takes are taken.

Source: the checks of HCCL's public parser, one reader for tables with a version and one for those without.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from npu_formats.ranks.rank_table_file import read_rank_table
from tests.ranks.test_rank_environment import cloud, instances, pods, servers
from tf2npu.ranks.rank_table import table_of

Change = Callable[[dict[str, Any]], Any]


@pytest.fixture
def read(tmp_path):
    def read_it(table: dict[str, Any]) -> tuple[str, ...]:
        path = tmp_path / "2p.json"
        path.write_text(json.dumps(table))
        return read_rank_table(path, None)

    return read_it


def first(table: dict[str, Any]) -> dict[str, Any]:
    return table["server_list"][0]


def device(table: dict[str, Any], number: int = 0) -> dict[str, Any]:
    return [one for server in table["server_list"] for one in server["device"]][number]


def group(table: dict[str, Any]) -> dict[str, Any]:
    return table["group_list"][0]


def instance(table: dict[str, Any], number: int = 0) -> dict[str, Any]:
    return group(table)["instance_list"][number]


def several_pods() -> dict[str, Any]:
    made = [
        {
            "pod_name": f"pod{number}",
            "server_id": f"10.0.0.{number}",
            "devices": [{"device_id": str(i), "device_ip": f"192.168.{number}.{i}"} for i in (0, 1)],
        }
        for number in (0, 1)
    ]
    return cloud(made, device_count="4", instance_count="2")


CHANGES_OF_1_0: list[tuple[Change, str]] = [
    (lambda t: device(t, 1).update(device_ip="192.168.0.0"), '"device_ip" 192.168.0.0 is that of device 0 of 10.0.0.0 and of'),
    (lambda t: device(t, 2).update(device_ip="192.168.0.0"), '"device_ip" 192.168.0.0 is that of .* device 0 of 10.0.0.1: each'),
    (lambda t: device(t).update(device_ip="192.168.0.300"), "\"device_ip\" '192.168.0.300' of device 0 .* is no IP address"),
    (lambda t: device(t).update(device_ip="eth0"), "\"device_ip\" 'eth0' .* is no IP address: write one"),
    (lambda t: device(t).update(device_ip="1.1.1.1,,1.1.1.2"), "\"device_ip\" '' of device 0 .* is no IP address"),
    (lambda t: device(t).update(device_ip="1.1.1.1,1.1.1.2"), '"device_ip" has 1 addresses for .* and 2 for device 0'),
    (lambda t: device(t).update(device_ip="fd00::1"), '"device_ip" has addresses of IPv4 and of IPv6'),
    (lambda t: device(t).pop("device_ip"), '"device_ip" is missing for device 0 of 10.0.0.0, and HCCL needs it'),
    (lambda t: device(t).update(device_ip=7), '"device_ip" is 7 .*: write it as text, "7"'),
    (lambda t: device(t, 1).update(device_id="0"), "\"device_id\" 0 is there twice for server '10.0.0.0'"),
    (lambda t: device(t).update(device_id="16"), "\"device_id\" is '16': write a whole number from 0 to 15"),
    (lambda t: device(t).update(device_id="-1"), "\"device_id\" is '-1': write a whole number"),
    (lambda t: device(t).update(device_id=0), '"device_id" is 0: write it as text, "0"'),
    (lambda t: device(t).pop("device_id"), '"device_id" is missing'),
    (lambda t: device(t).update(rank_id=0), '"rank_id" is 0: write it as text, "0"'),
    (lambda t: device(t).pop("rank_id"), '"rank_id" is missing, and HCCL needs it'),
    (lambda t: t["server_list"][1].update(server_id="10.0.0.0"), "\"server_id\" '10.0.0.0' is there twice: each has its own"),
    (lambda t: first(t).update(server_id=""), '"server_id" is empty'),
    (lambda t: first(t).update(server_id="s" * 128), '"server_id" has 128 characters: HCCL takes 127'),
    (lambda t: first(t).update(server_id=None), '"server_id" is None: write it as text'),
    (lambda t: first(t).pop("server_id"), '"server_id" is missing'),
    (lambda t: first(t).update(device=[]), "\"device\" of server '10.0.0.0' is empty"),
    (lambda t: first(t).update(host_ip="here"), "\"host_ip\" 'here' is no IP address"),
    (lambda t: first(t).update(host_ip="10.0.0.1"), '"host_ip" is there for 1 of 2 servers'),
    (lambda t: [one.update(host_ip=ip) for one, ip in zip(t["server_list"], ("::1", "1.1.1.1"), strict=True)], '"host_ip" .*6'),
    (lambda t: t.update(server_count=2), '"server_count" is 2: write it as text, "2"'),
    (lambda t: t.update(server_count="two"), '"server_count" is two, and "server_list" has 2: write "2"'),
    (lambda t: t.update(server_list=[]), '"server_list" is empty'),
    (lambda t: t.pop("version"), '"version" is missing'),
    (lambda t: t.update(version="2.0"), "\"version\" is '2.0': write a table of version \"1.0\""),
    (lambda t: t.update(version=1.0), '"version" is 1.0: write it as text, "1.0"'),
]  # fmt: skip

CHANGES_OF_LABORATORIES: list[tuple[Change, str]] = [
    (lambda t: instance(t, 1)["devices"][0].update(device_ip="192.168.1.0"), '"device_ip" 192.168.1.0 is that of device 0 .*'),
    (lambda t: instance(t)["devices"][0].update(device_ip="1.1.1.1,1.1.1.2"), '"device_ip" .* is no IP address'),
    (lambda t: instance(t)["devices"][0].pop("device_ip"), '"device_ip" is missing for device 0'),
    (lambda t: instance(t, 1)["devices"][0].update(device_id="0"), '"device_id" 0 is there twice'),
    (lambda t: instance(t)["devices"].append({"device_id": "5", "device_ip": "1.1.1.1"}), '"device_num" is 2, and .* 3 devices'),
    (lambda t: instance(t).update(devices=[]), '"device_num" is 2, and its instances have 1 devices'),
    (lambda t: instance(t).update(rank_id=0), '"rank_id" is 0: write it as text'),
    (lambda t: instance(t).pop("server_id"), '"server_id" is missing'),
    (lambda t: group(t).update(instance_count="3"), '"instance_count" is 3, and "instance_list" has 2: write "2"'),
    (lambda t: group(t).pop("device_num"), '"device_num" is missing'),
    (lambda t: group(t).update(server_num="2"), '"server_num" is 2, and there are 1 different "server_id": write "1"'),
    (lambda t: group(t).pop("group_name"), '"group_name" is missing'),
    (lambda t: t.update(group_count="0"), '"group_count" is 0, and "group_list" has 1: write "1"'),
    (lambda t: t["group_list"].append(group(t)) or t.update(group_count="2"), "\"group_name\" 'g' is there twice"),
    (lambda t: t.pop("para_plane_nic_location"), '"para_plane_nic_location" is missing'),
    (lambda t: t.update(para_plane_nic_location="host"), '"para_plane_nic_location" is not "device"'),
    (lambda t: t.pop("deploy_mode"), '"device_count" is missing'),
]  # fmt: skip

CHANGES_OF_CLOUDS: list[tuple[Change, str]] = [
    (lambda t: instance(t, 1)["devices"][0].update(device_ip="192.168.0.0"), '"device_ip" 192.168.0.0 is that of device 0 of'),
    (lambda t: instance(t)["devices"][0].update(device_ip="x"), "\"device_ip\" 'x' of device 0 .* is no IP address"),
    (lambda t: instance(t)["devices"][0].pop("device_ip"), '"device_ip" is missing for device 0'),
    (lambda t: instance(t)["devices"][1].update(device_id="0"), '"device_id" 0 is there twice'),
    (lambda t: instance(t)["devices"][1].update(device_id="8"), "\"device_id\" is '8': write a whole number from 0 to 7"),
    (lambda t: instance(t, 1).update(pod_name="pod0"), "\"pod_name\" 'pod0' is there twice"),
    (lambda t: instance(t).pop("pod_name"), '"pod_name" is missing'),
    (lambda t: instance(t).update(devices=[]), '"device_count" is 4, and its instances have 2 devices'),
    (lambda t: group(t).update(device_count="8"), '"device_count" is 8, and its instances have 4 devices: write "4"'),
    (lambda t: group(t).update(instance_count=2), '"instance_count" is 2: write it as text, "2"'),
    (lambda t: t.pop("group_count"), '"group_count" is missing'),
]  # fmt: skip


@pytest.mark.parametrize(
    ("table", "change", "said"),
    [
        *((lambda: servers(2, 2), *one) for one in CHANGES_OF_1_0),
        *((lambda: instances(2, has_ranks=True), *one) for one in CHANGES_OF_LABORATORIES),
        *((several_pods, *one) for one in CHANGES_OF_CLOUDS),
    ],
)
def test_one_field_that_hccl_refuses(read, table, change, said):
    made = table()
    read(made)
    change(made)
    with pytest.raises(ValueError, match=r"^RANK_TABLE_FILE=.*2p\.json: .*" + said):
        read(made)


def test_three_devices_of_a_server_of_a_laboratory(read):
    with pytest.raises(ValueError, match='"device_num" is 3 on 1 servers'):
        read(instances(3, has_ranks=True))


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.pop("server_count"),
        lambda t: [one.pop("device_ip") for one in first(t)["device"]],
        lambda t: [one.update(device_ip="") for one in first(t)["device"]],
        lambda t: device(t).update(device_ip="192.168.0.0,"),
        lambda t: [one.update(device_ip=f"192.168.0.{i},192.168.1.{i}") for i, one in enumerate(first(t)["device"])],
        lambda t: first(t).update(host_ip="10.0.0.1", device=[{"device_id": "9", "rank_id": str(i)} for i in (0,)]),
        lambda t: first(t).update(server_id="a name that is no address"),
        lambda t: device(t).update(device_ip="fd00::1"),
        lambda t: device(t).update(device_id="15", super_device_id="0"),
    ],
)
def test_what_hccl_takes_is_taken(read, change):
    made = servers(2)
    change(made)
    assert read(made)


def test_one_pod_needs_no_addresses(read):
    made = pods(2)
    for one in instance(made)["devices"]:
        one.pop("device_ip")
    assert read(made) == ("10.0.0.1",) * 2


def test_clouds_count_by_the_names_of_servers(read):
    made = several_pods()
    group(made)["instance_list"].reverse()
    assert read(made) == ("10.0.0.0", "10.0.0.0", "10.0.0.1", "10.0.0.1")


@pytest.mark.parametrize(("n_hosts", "n_devices"), [(1, 8), (2, 16), (200, 2)])
def test_a_table_of_ours_is_one_that_hccl_takes(read, n_hosts, n_devices):
    hosts = [f"10.1.{number // 100}.{number % 100}" for number in range(n_hosts)]
    assert len(read(table_of(hosts, n_devices))) == n_hosts * n_devices
