"""HCCL's rules for a rank table, so that a table which works here works there.

Source: HCCL's documentation of rank tables, and the checks of its public parser, one reader for tables with a version and one for
those without.  Of what it asks of one chip alone, only what no chip takes is refused, as a table does not name its chip.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from npu_formats.whole_number import whole_number

MOST_DEVICE_ID = 15
"""The highest device_id of a server, on the chips that have most."""
MOST_CLOUD_DEVICE_ID = 7
"""The same in tables without version and deploy_mode, which are older than those chips."""
LONGEST_NAME = 127
"""Characters of a server_id, group_name or pod_name."""
_DEVICES_OF_SERVER = (1, 2, 4, 8, 16)
"""Allowed numbers of devices for each server of a laboratory's table."""
Entry = tuple[dict[str, Any], dict[str, Any]]
"""A server, or an instance, and one device of it."""


class TableRules:
    """shown: what messages call the table.  Each method raises ValueError that names the field and says what to write."""

    def __init__(self, table: dict[str, Any], shown: str) -> None:
        self._table, self.shown = table, shown

    def check(self, devices: Sequence[Entry]) -> None:
        """All rules of the table's layout, but for the numbers of its ranks."""
        if "version" in self._table or "server_list" in self._table:
            self._check_version()
            self._check_servers(devices)
        else:
            self._check_groups(devices)
        self._check_device_ids(devices)

    def _fail(self, field: str, problem: str) -> None:
        raise ValueError(f'{self.shown}: "{field}" {problem}')

    def text(self, place: dict[str, Any], field: str, where: str = "") -> str:
        """A value, which has to be text: HCCL takes no numbers."""
        value = place.get(field)
        if field not in place:
            self._fail(field, f"is missing{where}, and HCCL needs it: add it")
        if not isinstance(value, str):
            self._fail(field, f'is {value!r:.40}{where}: write it as text, "{value!s:.40}"')
        return str(value)

    def count(self, place: dict[str, Any], field: str, found: int, what: str) -> None:
        """A number of entries, which the table has to keep."""
        text = self.text(place, field)
        if whole_number(text) != found:
            self._fail(field, f'is {text:.20}, and {what}: write "{found}"')

    def _names(self, field: str, names: Iterable[str]) -> None:
        """Names that are neither empty nor too long, and there once."""
        seen: set[str] = set()
        for name in names:
            if not name:
                self._fail(field, "is empty: give it a name")
            if len(name) > LONGEST_NAME:
                self._fail(field, f"has {len(name)} characters: HCCL takes {LONGEST_NAME}")
            if name in seen:
                self._fail(field, f"{name!r:.60} is there twice: each has its own; put the devices of one server into one list")
            seen.add(name)

    def _check_version(self) -> None:
        version = self.text(self._table, "version")
        if version != "1.0":
            self._fail("version", f'is {version!r:.20}: write a table of version "1.0"')

    def _check_servers(self, devices: Sequence[Entry]) -> None:
        servers = self._table["server_list"]
        if not servers:
            self._fail("server_list", "is empty: list the servers with their devices")
        if "server_count" in self._table:
            self.count(self._table, "server_count", len(servers), f'"server_list" has {len(servers)}')
        self._names("server_id", [self.text(server, "server_id") for server in servers])
        for server in servers:
            if not server["device"]:
                self._fail("device", f"of server {server['server_id']!r:.60} is empty: list its devices, or leave the server out")
            if "host_ip" in server:
                self._address("host_ip", self.text(server, "host_ip"), "")
        with_host = [server for server in servers if "host_ip" in server]
        if with_host and len(with_host) < len(servers):
            self._fail("host_ip", f"is there for {len(with_host)} of {len(servers)} servers: give it for all, or for none")
        if len(servers) > 1:
            self._check_families("host_ip", [server["host_ip"] for server in with_host])
        if not with_host:
            self._check_device_ips(devices, is_needed=len(servers) > 1, is_list=True)

    def _check_groups(self, devices: Sequence[Entry]) -> None:
        groups = self._table["group_list"]
        is_laboratory = "deploy_mode" in self._table
        if is_laboratory and self.text(self._table, "para_plane_nic_location") != "device":
            self._fail("para_plane_nic_location", 'is not "device", which is the only one that training takes')
        self.count(self._table, "group_count", len(groups), f'"group_list" has {len(groups)}')
        self._names("group_name", [self.text(group, "group_name") for group in groups])
        for group in groups:
            self._check_group(group, is_laboratory)
        instances = [instance for group in groups for instance in group["instance_list"]]
        if is_laboratory:
            self._check_device_ips(devices, is_needed=True, is_list=False)
        else:
            self._names("pod_name", [self.text(instance, "pod_name") for instance in instances])
            if len(instances) > 1:
                self._check_device_ips(devices, is_needed=True, is_list=False)

    def _check_group(self, group: dict[str, Any], is_laboratory: bool) -> None:
        instances = group["instance_list"]
        n_devices = sum(len(instance["devices"]) for instance in instances)
        self.count(group, "instance_count", len(instances), f'"instance_list" has {len(instances)}')
        self.count(group, "device_num" if is_laboratory else "device_count", n_devices, f"its instances have {n_devices} devices")
        for instance in instances:
            self.text(instance, "server_id")
            if is_laboratory and len(instance["devices"]) != 1:
                self._fail(
                    "devices", f"of rank {instance.get('rank_id')!r:.20} has {len(instance['devices'])}: one for each rank"
                )
            if not instance["devices"]:
                self._fail("devices", f"of pod {instance.get('pod_name')!r:.60} is empty: list them, or leave the pod out")
        if is_laboratory:
            n_servers = len({instance["server_id"] for instance in instances})
            self.count(group, "server_num", n_servers, f'there are {n_servers} different "server_id"')
            each, left = divmod(n_devices, n_servers)
            if left or (each not in _DEVICES_OF_SERVER and each % 8):
                self._fail("device_num", f"is {n_devices} on {n_servers} servers: each has 1, 2, 4 or a multiple of 8")

    def _check_device_ips(self, devices: Sequence[Entry], *, is_needed: bool, is_list: bool) -> None:
        """is_needed: or may it be missing.  is_list: may it be several, with commas between them."""
        seen: dict[str, str] = {}
        counts = {}
        for server, device in devices:
            who = f"device {device.get('device_id')!s:.20} of {server.get('server_id')!s:.60}"
            if "device_ip" not in device and not is_needed:
                continue
            text = self.text(device, "device_ip", f" for {who}")
            addresses = text.removesuffix(",").split(",") if is_list and text else [text] * bool(text)
            counts[len(addresses) or 1] = who
            for address in addresses:
                self._address("device_ip", address, f" of {who}")
                if address in seen:
                    self._fail("device_ip", f"{address} is that of {seen[address]} and of {who}: each device has its own")
                seen[address] = who
        if is_list and len(counts) > 1:
            (few, one), (many, other), *_ = sorted(counts.items())
            self._fail("device_ip", f"has {few} addresses for {one} and {many} for {other}: give all equally many")
        if len({server["server_id"] for server, _ in devices}) > 1:
            self._check_families("device_ip", list(seen))

    def _address(self, field: str, text: str, of_what: str) -> None:
        try:
            ipaddress.ip_address(text)
        except ValueError:
            self._fail(field, f'{text!r:.60}{of_what} is no IP address: write one, as "192.168.100.101"')

    def _check_families(self, field: str, addresses: Sequence[str]) -> None:
        if len({ipaddress.ip_address(address).version for address in addresses}) > 1:
            self._fail(field, "has addresses of IPv4 and of IPv6: write all in one of them")

    def _check_device_ids(self, devices: Sequence[Entry]) -> None:
        is_cloud = "server_list" not in self._table and "deploy_mode" not in self._table
        most = MOST_CLOUD_DEVICE_ID if is_cloud else MOST_DEVICE_ID
        numbers = []
        for server, device in devices:
            text = self.text(device, "device_id")
            number = whole_number(text)
            if number is None or number > most:
                self._fail("device_id", f"is {text!r:.40}: write a whole number from 0 to {most}")
            numbers.append((server["server_id"], number))
        for (server_id, number), times in Counter(numbers).items():
            if times > 1:
                self._fail("device_id", f"{number} is there twice for server {server_id!r:.60}: give each device its own")
