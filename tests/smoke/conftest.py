"""A smoke run of a small project, in a fork that has TensorFlow loaded."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

import pytest

from tests.fork_server import COMMAND, Forked
from tf2npu.launch.smoke_needs import SmokeResult
from tf2npu.launch.smoke_run import SmokeProject, pristine_folder, smoke_run


def forked(command: Sequence[str], environment: Mapping[str, str], folder: Path, log: BinaryIO) -> Forked:
    """command: python -c SOURCE LAUNCHER run ..., where a fork's parent is no launcher."""
    own = {name: text for name, text in environment.items() if name != "MPLBACKEND"}
    kept = {**own, "TF_CPP_MIN_LOG_LEVEL": "3"}
    for name in ("PYTHONUSERBASE", "PYTHONDONTWRITEBYTECODE"):  # read while Python is loaded: each would have its own server
        kept.pop(name, None)
    return Forked({"source": COMMAND, "argv": ["tf2npu", *command[4:]]}, kept, log, folder)


@pytest.fixture
def smoke(tmp_path, monkeypatch):
    """smoke(text, *words, steps=5, seconds=300): the result of a script train.py, or of another one that is there."""
    monkeypatch.setitem(os.environ, "TF_CPP_MIN_LOG_LEVEL", "3")

    def run(
        text: str, *words: str, steps: int = 5, seconds: float = 300.0, script: str = "train.py"
    ) -> SmokeResult:  # fmt: skip
        project = SmokeProject(pristine_folder(tmp_path / "smoke"), tmp_path / "smoke", forked)
        project.pristine.mkdir(exist_ok=True)
        if text:
            (project.pristine / script).write_text(text)
        return smoke_run(project, script, words, (), steps, seconds)

    return run
