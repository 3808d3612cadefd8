"""`tf2npu check` with its processes in forks that have TensorFlow imported: a check takes seconds instead of twenty."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from tests.fork_server import COMMAND, Forked
from tf2npu.commands.check import Wanted, check


@dataclass(frozen=True)
class ForkedStart:
    """prelude: source that the process of the device executes first, such as one that breaks a kernel."""

    prelude: str = ""

    def __call__(self, command: Sequence[str], environment: Mapping[str, str], log: BinaryIO) -> Forked:
        """command: of the check's own processes: python -c SOURCE LAUNCHER run ..., where a fork's parent is no launcher."""
        role = json.loads(environment["TF2NPU_CHECK"])["role"]
        source = f"{self.prelude}\n{COMMAND}" if role in ("migrated", "device") else COMMAND
        return Forked({"source": source, "argv": ["tf2npu", *command[4:]]}, environment, log)


@dataclass(frozen=True)
class Checked:
    """The results of a check.  document: check.json, {} where there is none.  text: what it printed, errors included."""

    code: int
    document: dict[str, Any]
    text: str


def checked(
    script: Path, words: Sequence[str], out: Path, *, migrated: Path | None = None, modes: Sequence[str] = (),
    pairs: Sequence[str] = (), steps: int = 2, prelude: str = "", frontend: str = "auto",
) -> Checked:  # fmt: skip
    """Run the check of a script in this process; what it runs are forks.  out: a folder that is made."""
    wanted = Wanted(tuple(modes), tuple(pairs), steps, out, "10m", migrated, False, "Ascend910A", None, "en", frontend)
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), _level("3"):
        code = check([str(script), *words], wanted, ForkedStart(prelude))
    path = out / "check.json"
    return Checked(code, json.loads(path.read_text()) if path.exists() else {}, said.getvalue())


@contextlib.contextmanager
def _level(value: str) -> Any:
    """One server serves all checks: the variables that TensorFlow reads while it is loaded are the same each time."""
    before = os.environ.get("TF_CPP_MIN_LOG_LEVEL")
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ["TF_CPP_MIN_LOG_LEVEL"]
        else:
            os.environ["TF_CPP_MIN_LOG_LEVEL"] = before
