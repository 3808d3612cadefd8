"""Runs scripts of a tree by the runner, and tells how each ended."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

_OPENS = re.compile(r"\.open\(\)\.as_default\(\)")
_NEEDS = re.compile(r"\b(?:gym|pandas|cv2|tensorflow_datasets|tensorflow_addons|google\.colab)\b|get_file\(|urlretrieve|wget")
"""Libraries and downloads that are not here, so that a script could not run."""


@dataclass(frozen=True)
class Outcome:
    """code: of the process, negative for a signal.  last_line: of its output."""

    code: int
    last_line: str


def is_opened(script: Path) -> bool:
    """Whether a converted script opens the NPU, and can be run here."""
    text = script.read_text(errors="replace") if script.exists() else ""
    return _OPENS.search(text) is not None and not _NEEDS.search(text)


def run(folder: Path, paths: list[str], limit: int, wanted: int = 0) -> dict[str, Outcome]:
    """Run scripts one after the other.  wanted: enough of those that end with 0, where not all are to be run."""
    found: dict[str, Outcome] = {}
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "2", "PYTHONWARNINGS": "ignore"}
    with tempfile.TemporaryDirectory(prefix="logs-") as logs:
        command = [sys.executable, "-m", "benchmarks.public_scripts.runner", str(folder), logs, str(limit)]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | quiet
        ) as runner:  # fmt: skip
            for path in paths:
                print(path, file=runner.stdin, flush=True)
                told = json.loads(runner.stdout.readline())
                log = (Path(logs) / f"{told['log']}.log").read_text(errors="replace").strip().splitlines()
                found[path] = Outcome(told["code"], log[-1][:150] if log else "")
                if wanted and sum(outcome.code == 0 for outcome in found.values()) >= wanted:
                    break
            runner.stdin.close()
    return found
