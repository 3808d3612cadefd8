"""Running a launcher with `tf2npu run` in the script's folder, as a user does, and what its ranks left behind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.launchers.launcher import Launcher, prepare

_SAID_OF_RANKS = re.compile(r"RANK_|DEVICE_|ASCEND_|JOB_ID|CM_|TF2NPU_")
"""Variables of this process that a launcher would inherit."""
_OWN_STATISTICS = ("moving_mean", "moving_variance", "ExponentialMovingAverage")
"""In the names of variables that each rank has for its own data: nobody averages them."""


@dataclass(frozen=True)
class Outcome:
    """status: the exit code, None where its time was over.  losses: of each rank, as it printed them.

    weights: how many variables of the ranks' checkpoints have the same bits on all ranks, and how many there are; (0, 0) where
    the ranks save none of their own.  minutes: of all of it.
    """

    status: int | None
    losses: tuple[tuple[str, ...], ...]
    weights: tuple[int, int]
    minutes: float

    def went_well(self) -> bool:
        """Every rank ended with 0 and has shown as many steps as the others, at least one; what they saved is the same."""
        steps = {len(losses) for losses in self.losses}
        return self.status == 0 and len(steps) == 1 and steps != {0} and self.weights[0] == self.weights[1]


def run_launcher(launcher: Launcher, checkout: Path, data: Path, ranks: int, place: Path, seconds: float) -> Outcome:
    """place: a folder that does not exist yet; it keeps the copy with its logs.  seconds: then it is ended."""
    script = prepare(launcher, checkout, data, ranks, place)
    environment = {name: value for name, value in os.environ.items() if not _SAID_OF_RANKS.match(name)}
    words = [argument.format(data=data) for argument in launcher.arguments]
    started = time.monotonic()
    with (place / "launcher.out").open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "tf2npu", "run", script.name, *words],
            cwd=script.parent, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
        )  # fmt: skip
        status = _ended(process, seconds)
    minutes = (time.monotonic() - started) / 60
    outputs = [script.parent / "output" / str(rank) for rank in range(ranks)]
    losses = tuple(_losses(output, launcher.loss) for output in outputs)
    return Outcome(status, losses, _same_weights(outputs), minutes)


def _ended(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.terminate()  # and with it the ranks
        process.wait()
        return None


def _losses(output: Path, pattern: str) -> tuple[str, ...]:
    """The matches of the pattern in the log of a rank."""
    log = output / f"train_{output.name}.log"
    return tuple(re.findall(pattern, log.read_text("utf-8", "replace"))) if log.is_file() else ()


def _same_weights(outputs: list[Path]) -> tuple[int, int]:
    """As in `Outcome`, by the newest checkpoint below the folder of each rank."""
    import tensorflow as tf

    found = [max(output.rglob("*.index"), key=lambda path: path.stat().st_mtime, default=None) for output in outputs]
    readers = [tf.train.load_checkpoint(str(path.with_suffix(""))) for path in found if path is not None]
    if len(readers) < len(outputs):
        return 0, 0
    names = [name for name in readers[0].get_variable_to_shape_map() if not any(own in name for own in _OWN_STATISTICS)]
    same = sum(all(np.array_equal(readers[0].get_tensor(name), other.get_tensor(name)) for other in readers) for name in names)
    return same, len(names)
