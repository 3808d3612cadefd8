"""Two hosts on one machine for tests: network namespaces with names and addresses of their own, joined by a cable."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ADDRESSES = ("10.177.5.1", "10.177.5.2")
_AGENT = """#!/bin/sh
host=$1; shift
case $host in {first}) n=0;; {second}) n=1;; *) exit 255;; esac
exec ip netns exec {name}$n unshare -u sh -c "hostname tf2npu-$n && cd / && $*"
"""


@dataclass(frozen=True)
class Hosts:
    """name: of the namespaces, with 0 and 1 behind it.  agent: a command that starts another on a host, as ssh does."""

    name: str
    agent: Path

    def on(self, number: int, command: Sequence[str | Path]) -> list[str]:
        """A command, as it runs on a host."""
        inner = ["unshare", "-u", "sh", "-c", f'hostname tf2npu-{number} && exec "$@"', "sh"]
        return ["ip", "netns", "exec", f"{self.name}{number}", *inner, *map(str, command)]

    def received(self, number: int) -> int:
        """Bytes that have come over the cable.  Source: the counters of sysfs-class-net-statistics in Linux' documentation."""
        done = subprocess.run(self.on(number, ["cat", "/proc/net/dev"]), check=True, capture_output=True, text=True)
        line = next(line for line in done.stdout.splitlines() if self._cable(number) in line)
        return int(line.split(":")[1].split()[0])

    def _cable(self, number: int) -> str:
        return f"{self.name}c{number}"


def why_none() -> str | None:
    """The reason that this machine cannot have them."""
    if os.geteuid() or shutil.which("ip") is None or shutil.which("unshare") is None:
        return "network namespaces need root, ip and unshare"
    done = subprocess.run(["unshare", "-n", "true"], check=False, capture_output=True)
    return "this machine makes no network namespaces" if done.returncode else None


@contextmanager
def two_hosts(folder: Path) -> Iterator[Hosts]:
    """folder: for the agent."""
    name = f"t2n{os.getpid() % 100000}"
    agent = folder / "agent"
    agent.write_text(_AGENT.format(first=ADDRESSES[0], second=ADDRESSES[1], name=name))
    agent.chmod(0o755)
    hosts = Hosts(name, agent)
    try:
        for number in (0, 1):
            _ip("netns", "add", f"{name}{number}")
        _ip(
            "link",
            "add",
            hosts._cable(0),
            "netns",
            f"{name}0",
            "type",
            "veth",
            "peer",
            "name",
            hosts._cable(1),
            "netns",
            f"{name}1",
        )
        for number, address in enumerate(ADDRESSES):
            _ip("-n", f"{name}{number}", "addr", "add", f"{address}/24", "dev", hosts._cable(number))
            for device in (hosts._cable(number), "lo"):
                _ip("-n", f"{name}{number}", "link", "set", device, "up")
        yield hosts
    finally:
        for number in (0, 1):
            subprocess.run(["ip", "netns", "del", f"{name}{number}"], check=False, capture_output=True)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)
