"""Runs of scripts that are predicted, each in a fork of a process that has imported TensorFlow."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests import fork_server
from tests.predicted_steps import scripts
from tests.shim.conftest import plain_environment

_SEARCH_PATH = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
"""So that a checkout that is not installed tests itself."""


class Predicted(NamedTuple):
    """done: of the process.  document: what it wrote, None for nothing.  script: the file that ran."""

    done: subprocess.CompletedProcess
    document: Any
    script: Path


Predict = Callable[..., Predicted]


@pytest.fixture(scope="session")
def predict(tmp_path_factory) -> Predict:
    """Runs a script's body under prediction; the same run is made once."""
    known: dict[str, Predicted] = {}

    def run(
        body: str, *, soc: str = "Ascend910A", environment: dict[str, str] | None = None, again: int = 0, **asked
    ) -> Predicted:
        key = repr((body, soc, sorted((environment or {}).items()), again, sorted(asked.items())))
        if key not in known:
            folder = tmp_path_factory.mktemp("predicted")
            script, out = folder / "train.py", folder / "prediction.json"
            script.write_text(scripts.BEGIN + body)
            request = {"out": str(out), "socs": soc.split(","), **asked}
            variables = {**plain_environment(), **_SEARCH_PATH, "TF2NPU_PREDICT": json.dumps(request), **(environment or {})}
            done = fork_server.python([script], variables, folder)
            known[key] = Predicted(done, json.loads(out.read_text()) if out.exists() else None, script)
        return known[key]

    return run
