"""Runs scripts, each in a process forked from one that has TensorFlow: prints a line of JSON for each as it ends.

python -m benchmarks.public_scripts.runner FOLDER LOGS SECONDS < PATHS
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import sys
import time
from pathlib import Path


def main(folder: Path, logs: Path, seconds: int) -> None:
    import tensorflow as tf  # noqa: F401 - once for all scripts

    from benchmarks.public_scripts.small_data import put_in_place

    put_in_place()
    _shorten_fit()
    for number, line in enumerate(sys.stdin):
        path = line.rstrip("\n")
        started = time.monotonic()
        code = _forked(folder / path, logs / f"{number}.log", seconds)
        print(
            json.dumps({"path": path, "code": code, "seconds": round(time.monotonic() - started, 1), "log": number}), flush=True
        )


def _forked(script: Path, log: Path, seconds: int) -> int:
    """The exit code of a script; negative where a signal ended it."""
    child = os.fork()
    if not child:
        _run(script, log, seconds)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _run(script: Path, log: Path, seconds: int) -> None:
    """Be the script, and end the process with its exit code, by way of what it left to do at its end."""
    signal.alarm(seconds)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for descriptor in (1, 2):
        os.dup2(output, descriptor)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(script.parent)
    sys.path.insert(0, str(script.parent))
    sys.argv = [str(script)]
    runpy.run_path(str(script), run_name="__main__")
    sys.exit()


def _shorten_fit() -> None:
    """Let Keras train one epoch of two steps, whatever a script asks for."""
    from keras.src.engine import training

    fit = training.Model.fit

    def short(self, *arguments, **named):
        named.update(epochs=named.get("initial_epoch", 0) + 1, steps_per_epoch=2)
        if named.get("validation_data") is not None or named.get("validation_split"):
            named["validation_steps"] = None if named.get("validation_split") else 1
        return fit(self, *arguments[:3], **named)

    training.Model.fit = short


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
