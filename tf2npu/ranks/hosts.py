"""A job on several hosts: one `tf2npu run` on each, started from here over ssh as mpirun starts its own."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from npu_formats.environment import PREFIX, TF2NPU_JOB_KEY
from npu_formats.ranks.servers import is_here
from tf2npu.ranks import job
from tf2npu.ranks.process import Host

_PASSED_ON = (PREFIX, "HCCL_", "ASCEND_", "TF_")
"""Prefixes of the environment variables that are passed to the hosts; ssh passes none on."""
_COMMAND = "import sys; sys.path[0] = sys.prefix; from tf2npu.cli import main; main()"


def run_hosts(
    hosts: Sequence[str], table: Mapping[str, Any], key: str, launcher_exec: str, words: Sequence[str], report: Path | None
) -> int:
    """Start a part of the job on each host and wait for them all; the exit code of the first one that fails, else 0.

    key: of the job; it goes through standard input, where no other user sees it.
    """
    environment = {name: value for name, value in os.environ.items() if name.startswith(_PASSED_ON)}
    handed = json.dumps({"table": table, "environment": {**environment, TF2NPU_JOB_KEY: key}})
    commands = []
    for number, host in enumerate(hosts):
        reporting = ["--report", str(report)] if report is not None and number == 0 else []
        command = [sys.executable, "-c", _COMMAND, "run", "--rank-table", "-", *reporting, *words]
        commands.append(command if is_here(host) else [*shlex.split(launcher_exec), host, _remote(command)])
    parts = zip(hosts, commands, strict=True)
    return job.run_processes("host", lambda _: (Host(i, host, command, handed) for i, (host, command) in enumerate(parts)))


def _remote(command: Sequence[str]) -> str:
    """The command for the other host's shell, which runs it in the same folder."""
    return f"cd {shlex.quote(os.getcwd())} && exec {shlex.join(command)}"


def stop_with_input() -> None:
    """End this process when whoever started it closes the line: ssh tells it in no other way."""
    while sys.stdin.readline():
        pass
    os.kill(os.getpid(), signal.SIGTERM)
