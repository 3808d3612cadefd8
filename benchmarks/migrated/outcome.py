"""Runs a script in a process of its own and reads from its output what happened."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ENVIRONMENT = {
    "JOB_ID": "1", "RANK_ID": "0", "RANK_SIZE": "1", "DEVICE_ID": "0", "ASCEND_DEVICE_ID": "0", "DEVICE_INDEX": "0",
}  # fmt: skip
_NUMBER = r"(-?\d+\.?\d*(?:[eE][-+]?\d+)?)"
_LOSS = re.compile(r"(?<!val_)(?<![^\W_])loss(?:_value| for final step)?['\"]?\s*[:=]*\s*[(\[]*" + _NUMBER, re.IGNORECASE)
_SAID_TWICE = re.compile(r"[IWE]\d{4} \d\d:")  # TensorFlow's logger and absl's both print a line
_DEVICE = re.compile(r"npu_runtime: .*?: (\d+) sessions?, (\d+) runs?, ([0-9.]+) % of (\S+) floating-point operations")
_REASON = re.compile(r"npu_runtime:   on the host: (.*?)(?: and \d+ more)?: (.*)")
_SKIPPED_SO_FAR = "npu_bridge: on a host the training never ends"
_CHANGED = re.compile(r"npu_runtime:   precision: (the types of the graph from run .*)")
TIMED_OUT = 124


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run; losses in the order of the output, share in per cent, reasons of nodes on the host.

    Losses of steps that a loss-scale optimizer skipped for ever are left out.
    changed: what the device did not go on with as the script asked.
    """

    code: int
    seconds: float
    losses: tuple[float, ...] = ()
    sessions: int = 0
    share: float | None = None
    reasons: tuple[str, ...] = field(default=())
    changed: tuple[str, ...] = ()

    @property
    def quarters(self) -> tuple[float, float] | None:
        """Mean loss of the first and of the last quarter."""
        if not self.losses:
            return None
        n = max(1, len(self.losses) // 4)
        return sum(self.losses[:n]) / n, sum(self.losses[-n:]) / n


def read(code: int, seconds: float, text: str) -> Outcome:
    """Find losses and the runtime's last block in a process' output."""
    lines = [line for line in re.split(r"[\r\n\x08]+", text) if not _SAID_TWICE.match(line)]
    skipped = max((n for n, line in enumerate(lines) if line.startswith(_SKIPPED_SO_FAR)), default=0)
    losses = [float(found.group(1)) for line in lines[skipped:] for found in [_LOSS.search(line)] if found]
    blocks = _DEVICE.findall(text)
    reasons = tuple(dict.fromkeys(found.group(2) for line in lines for found in [_REASON.match(line)] if found))
    changed = tuple(found.group(1) for line in lines for found in [_CHANGED.match(line)] if found)
    if not blocks:
        return Outcome(code, seconds, tuple(losses), reasons=reasons)
    sessions, _, share, _ = blocks[-1]
    return Outcome(code, seconds, tuple(losses), int(sessions), float(share), reasons, changed)


def run(
    how: str,
    script: Path,
    arguments: Sequence[str],
    folder: Path,
    search: Sequence[Path],
    log: Path,
    limit: float,
) -> Outcome:
    """Run a script by "run" (``tf2npu run``) or "python" in ``folder``; its output goes to ``log``."""
    prefix = [str(Path(sys.executable).with_name("tf2npu")), "run"] if how == "run" else [sys.executable]
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    environment = {**kept, **ENVIRONMENT, "PYTHONPATH": os.pathsep.join(map(str, search)), "PYTHONUNBUFFERED": "1"}
    started = time.monotonic()
    with log.open("ab") as output:
        try:
            code = subprocess.run(
                [*prefix, str(script), *arguments], cwd=folder, env=environment, stdout=output, stderr=output,
                stdin=subprocess.DEVNULL, timeout=limit, check=False,
            ).returncode  # fmt: skip
        except subprocess.TimeoutExpired:
            code = TIMED_OUT
    return read(code, time.monotonic() - started, log.read_text(errors="replace"))
