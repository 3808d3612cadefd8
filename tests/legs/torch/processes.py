"""Programs that run in a process each, with PyTorch and its simulated device."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests import fork_server

ROOT = Path(__file__).parents[3]
ADAPTER = ROOT / "tf2npu" / "adapters" / "pytorch"
"""The folder that `tf2npu run` puts on the path."""


def environment(**more: str) -> dict[str, str]:
    """This process's variables, with the simulated device on Python's path and one thread of PyTorch."""
    path = os.pathsep.join([str(ROOT), str(ADAPTER), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path.rstrip(os.pathsep), "OMP_NUM_THREADS": "1", **more}


def run(source: str, folder: Path | None = None, words: Sequence[str] = (), **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; an exit code below zero is a signal that ended it."""
    return fork_server.python(["-c", source, *words], environment(**variables), folder, loaded=fork_server.TORCH)
