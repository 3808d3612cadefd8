"""Runs a script on genuine TensorFlow 1.15 and its migrated form on the simulated device, and compares the losses.

Both start from the variables that the first run on TensorFlow 1.15 wrote to a checkpoint, read the same data in the same order
and keep all in their dropouts: both_sides/sitecustomize.py sees to that from outside. TensorFlow's own spread is the difference
between its runs with one thread and with two.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.migrated.outcome import ENVIRONMENT, TIMED_OUT

HERE = Path(__file__).parent
BOTH_SIDES, STAND_IN = HERE / "both_sides", HERE / "stand_in"
N_LOSSES = 10
ALLOWED, ALLOWED_SPREADS = 1e-3, 3.0
FULL_PRECISION = ("--option", "precision_mode=must_keep_origin_dtype")


@dataclass(frozen=True)
class Trial:
    """One script in two forms. A folder is copied for each run and holds the data.

    original, migrated: folders.  script: path below them, run in its own folder.
    needs_stand_in: the original imports npu_bridge.
    """

    name: str
    original: Path
    migrated: Path
    script: str
    arguments: tuple[str, ...]
    needs_stand_in: bool = True
    search: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Run:
    """code: exit code.  losses: one a training step.  read, lacking: variables set from the checkpoint, and not in it."""

    code: int
    seconds: float
    losses: tuple[float, ...]
    read: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()


@dataclass(frozen=True)
class Agreement:
    """The three runs of a trial."""

    trial: Trial
    two_threads: Run
    one_thread: Run
    device: Run
    logs: tuple[Path, ...] = field(default=(), compare=False)

    @property
    def n(self) -> int:
        """Number of losses that are compared."""
        return min(N_LOSSES, *(len(run.losses) for run in (self.two_threads, self.one_thread, self.device)))

    @property
    def spread(self) -> float:
        """Largest relative difference between TensorFlow and itself."""
        return difference(self.two_threads, self.one_thread, self.n)

    @property
    def distance(self) -> float:
        """Largest relative difference between the device and TensorFlow with two threads."""
        return difference(self.two_threads, self.device, self.n)

    @property
    def allowed(self) -> float:
        """Largest distance that counts as agreement."""
        return max(ALLOWED, ALLOWED_SPREADS * self.spread)

    @property
    def problem(self) -> str:
        """The reason that this is no agreement, or ""."""
        runs = {"TensorFlow, two threads": self.two_threads, "TensorFlow, one thread": self.one_thread, "the device": self.device}
        for name, run in runs.items():
            if run.code:
                return f"{name}: exit code {run.code}"
        if self.n < N_LOSSES:
            return f"{self.n} losses of {N_LOSSES}"
        if self.device.lacking or not self.device.read:
            return f"variables not in the checkpoint: {', '.join(self.device.lacking) or 'all'}"
        if not all(math.isfinite(loss) for run in runs.values() for loss in run.losses[: self.n]):
            return "a loss is not a number"
        return "" if self.distance <= self.allowed else "the losses disagree"


def difference(first: Run, second: Run, n: int) -> float:
    """Largest relative difference of the first ``n`` losses; infinite when one is not a number."""
    pairs = [(first.losses[i], second.losses[i]) for i in range(n)]
    gaps = [abs(a - b) / max(abs(a), 1e-12) for a, b in pairs]
    return max((gap if gap == gap else float("inf") for gap in gaps), default=float("inf"))


def agree(trial: Trial, tf115: Path, out: Path, limit: float) -> Agreement:
    """Run the three and compare; folders, logs and records stay below ``out``."""
    out.mkdir(parents=True)
    shared = {"AGREEMENT_CHECKPOINT": str(out / "initial.ckpt"), "PYTHONHASHSEED": "0"}
    genuine = (*trial.search, *([STAND_IN] if trial.needs_stand_in else []))
    launcher = [str(Path(sys.executable).with_name("tf2npu")), "run", *FULL_PRECISION]
    threads = {"AGREEMENT_THREADS": "2", "AGREEMENT_WRITES": "1"}
    two = _run([str(tf115)], trial, trial.original, genuine, out / "two", {**shared, **threads}, limit)
    one = _run([str(tf115)], trial, trial.original, genuine, out / "one", {**shared, "AGREEMENT_THREADS": "1"}, limit)
    device = _run(launcher, trial, trial.migrated, trial.search, out / "device", shared, limit)
    return Agreement(trial, two, one, device)


def _run(
    launcher: Sequence[str], trial: Trial, source: Path, search: Sequence[Path], out: Path, more: Mapping[str, str], limit: float
) -> Run:
    shutil.copytree(source, out / source.name, symlinks=True)
    script = out / source.name / trial.script
    record = out / "record"
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    environment = {
        **kept, **ENVIRONMENT, **more, "AGREEMENT_RECORD": str(record), "PYTHONUNBUFFERED": "1", "TF_CPP_MIN_LOG_LEVEL": "3",
        "PYTHONPATH": os.pathsep.join(map(str, [BOTH_SIDES, *search])), "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    started = time.monotonic()
    with (out / "log").open("wb") as output:
        try:
            code = subprocess.run(
                [*launcher, str(script), *trial.arguments], cwd=script.parent, env=environment, stdout=output, stderr=output,
                stdin=subprocess.DEVNULL, timeout=limit, check=False,
            ).returncode  # fmt: skip
        except subprocess.TimeoutExpired:
            code = TIMED_OUT
    return read(code, time.monotonic() - started, record)


def read(code: int, seconds: float, record: Path) -> Run:
    """The record of a run."""
    lines = [json.loads(line) for line in record.read_text().splitlines()] if record.exists() else []
    start: dict[str, list[str]] = next((line for line in lines if "read" in line), {})
    losses = tuple(line["loss"][0] for line in lines if "loss" in line)
    return Run(code, seconds, losses, tuple(start.get("read", ())), tuple(start.get("lacking", ())))


HEADER = (
    f"{'script':44} {'losses':>6} {'first':>9} {'last':>9} {'distance':>9} {'spread':>9} {'allowed':>9} {'TF s':>5} {'dev. s':>6}"
)


def line(agreement: Agreement) -> str:
    """One row of the table, with what is wrong below it."""
    losses = agreement.device.losses[: agreement.n]
    first, last = (f"{losses[i]:.4g}" if losses else "-" for i in (0, -1))
    numbers = " ".join(f"{value:>9.2e}" for value in (agreement.distance, agreement.spread, agreement.allowed))
    seconds = f"{agreement.two_threads.seconds:>5.0f} {agreement.device.seconds:>6.0f}"
    row = f"{agreement.trial.name[:44]:44} {agreement.n:>6} {first:>9} {last:>9} {numbers} {seconds}"
    return "\n".join([row, *([f"  {agreement.problem}"] if agreement.problem else [])])
