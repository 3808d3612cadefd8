"""Programs of this folder in processes of their own, which print lines of JSON."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests import fork_server

HERE = Path(__file__).parent
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}


class Said(NamedTuple):
    """lines: the objects that a program printed.  log: its stderr.  code: how it ended."""

    lines: list[dict[str, Any]]
    log: str
    code: int


def said_by(program: str, *words: object, environment: Mapping[str, str] | None = None) -> Said:
    """Runs a program in a folder that is then gone; TensorFlow is imported before its first line."""
    with tempfile.TemporaryDirectory() as folder:
        process = fork_server.python([HERE / program, *words], {**os.environ, **QUIET, **(environment or {})}, Path(folder))
    lines = [json.loads(line) for line in process.stdout.splitlines() if line.startswith("{")]
    return Said(lines, process.stderr, process.returncode)


def trained(side: str, out: Path, networks: list[str], bits: int = 0, environment: Mapping[str, str] | None = None) -> Said:
    """Networks, each as NAME:WAY, trained on a side.  Raises: AssertionError where one is not."""
    out.mkdir(parents=True, exist_ok=True)
    said = said_by("train_networks.py", side, out, bits, *networks, environment=environment)
    raised = [f"{line['network']} on {side}: {line['raised']}" for line in said.lines if "raised" in line]
    assert not raised, "\n".join(raised)
    assert said.code == 0 and len(said.lines) == len(networks), f"exit {said.code} behind {said.lines}\n{said.log[-4000:]}"
    return said
