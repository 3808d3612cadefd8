"""Scripts for CUDA, run by `tf2npu run` in a process each."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def environment(**variables: str) -> dict[str, str]:
    """The variables of a process that has nothing of this one's runs."""
    ours = ("TF2NPU_", "TORCH_", "PYTEST_", "PYTHONPATH")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return kept | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **variables}


def tf2npu_run(*words: object, cwd: Path, **variables: str) -> subprocess.CompletedProcess:
    """`tf2npu run WORDS...` in a folder."""
    command = [sys.executable, "-m", "tf2npu", "run", *map(str, words)]
    return subprocess.run(command, cwd=cwd, env=environment(**variables), capture_output=True, text=True, check=False)


def python(*words: object, cwd: Path) -> subprocess.CompletedProcess:
    """`python WORDS...` in a folder, on plain PyTorch."""
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, cwd=cwd, env=environment(), capture_output=True, text=True, check=False)
