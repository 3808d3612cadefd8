"""Programs for tests of npu_device's names: processes of their own, in which functions run on TensorFlow."""

from __future__ import annotations

import os
import subprocess
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from npu_runtime.collectives.coordinator import Coordinator
from tests import fork_server

WITHOUT_EXECUTION = """
import sys, types
handed = []
package, module = types.ModuleType("npu_device._execution"), types.ModuleType("npu_device._execution.install")
package.__path__ = []
module.install = handed.append
sys.modules.update({package.__name__: package, module.__name__: module})
import tensorflow as tf
import npu_device as npu
"""
"""Puts a list in the place of what runs functions on the device, so that names are tested alone: `handed` has the options."""
SECONDS = 100
"""Seconds after which ranks hang that wait for each other: on a quiet machine a program takes five."""


def environment(**variables: str) -> dict[str, str]:
    """The part of this process' environment that a program sees, and more."""
    kept = ("PATH", "HOME", "LANG", "PYTHONPATH", "TF_CPP_MIN_LOG_LEVEL")
    return {name: value for name, value in os.environ.items() if name in kept} | variables


def run(source: str, before: str = WITHOUT_EXECUTION, **variables: str) -> subprocess.CompletedProcess[str]:
    """A program that has to end well."""
    done = attempt(source, before, **variables)
    assert done.returncode == 0, done.stderr[-4000:]
    return done


def attempt(source: str, before: str = WITHOUT_EXECUTION, **variables: str) -> subprocess.CompletedProcess[str]:
    """A program that may fail."""
    return fork_server.python(["-c", before + textwrap.dedent(source)], environment(**variables))


def refusal(source: str, **variables: str) -> str:
    """The last line of a program that raises."""
    done = attempt(source, **variables)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stderr.splitlines()[-1]


@contextmanager
def _job(folder: Path, n_ranks: int) -> Iterator[dict[str, str]]:
    """The variables that `tf2npu run --devices` gives to all ranks."""
    coordinator = Coordinator(folder)
    table = folder / "table.json"
    table.write_text("{}")
    try:
        yield {**coordinator.environment, "RANK_SIZE": str(n_ranks), "RANK_TABLE_FILE": str(table)}
    finally:
        coordinator.close()


_RANKS = """
import json, os, sys, traceback
text, n_ranks = sys.argv[1], int(sys.argv[2])
for rank in range(n_ranks):
    if not os.fork():
        os.environ.update(RANK_ID=str(rank), ASCEND_DEVICE_ID=str(rank))
        for number, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(f"{name}{rank}", os.O_WRONLY | os.O_CREAT), number)
        exec(compile(text, "<rank>", "exec"), {"__name__": "__main__"})
        sys.exit()
sys.exit(any([os.wait()[1] for _ in range(n_ranks)]))
"""
"""Forks the ranks of a job, which write into files of this folder."""


def ranks(source: str, n_ranks: int = 2, before: str = WITHOUT_EXECUTION) -> list[str]:
    """The output of each rank; all have to end well."""
    text = before + textwrap.dedent(source)
    with tempfile.TemporaryDirectory() as folder, _job(Path(folder), n_ranks) as shared:
        own = environment(HCCL_EXEC_TIMEOUT=str(SECONDS), **shared)
        done = fork_server.python(["-c", _RANKS, text, n_ranks], own, Path(folder))
        said, errors = ([Path(folder, f"{name}{rank}").read_text() for rank in range(n_ranks)] for name in ("out", "err"))
    if done.returncode:
        pytest.fail("\n".join([*said, *errors]))
    return said
