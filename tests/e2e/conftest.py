"""The converted programs, made once for each worker."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import fork_server
from tests.e2e.programs import ProgramUnderTest

TF2NPU = Path(sys.executable).with_name("tf2npu")


def convert(source: Path, out: Path) -> Path:
    """Runs the converter; its exit code 1 says that a person has work left."""
    done = fork_server.converter(["convert", source, out], os.environ, Path.cwd())
    assert done.returncode in (0, 1), f"exit {done.returncode}\n{done.stdout}{done.stderr}"
    return out


@pytest.fixture(scope="session")
def converted(tmp_path_factory) -> Callable[[ProgramUnderTest], Path]:
    """Gives the folder that holds a program's converted source; every source folder is converted once."""
    folders: dict[Path, Path] = {}

    def folder(program: ProgramUnderTest) -> Path:
        if program.source not in folders:
            folders[program.source] = convert(program.source, tmp_path_factory.mktemp("converted") / "out")
        return folders[program.source]

    return folder
