"""Running a launcher as a user does: `bash` in the script's folder, python3 first in PATH, and what its ranks left behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.launchers.launcher import Launcher, prepare

_NAMES = ("python", "python3", "python3.7")
"""How the launchers call the interpreter."""
_WRAPPER = '#!/bin/sh\n"{python}" "$@"\nstatus=$?\necho "$status" > "{exits}/$$"\nexit "$status"\n'
"""An interpreter that notes its exit code: the launchers wait for their ranks and do not look."""
_LOG = re.compile(r"(?:train|device|nohup)?_?(\d+)\.log$|/(\d+)/[^/]*\.log$")


@dataclass(frozen=True)
class Outcome:
    """exits: of each process, sorted.  losses: of each rank that has a log.  minutes: of the whole launcher."""

    status: int | None
    exits: tuple[int, ...]
    losses: tuple[tuple[str, ...], ...]
    minutes: float

    def went_well(self, ranks: int) -> bool:
        """Every rank ended with 0, and has shown as many steps as the others, at least one."""
        steps = {len(losses) for losses in self.losses}
        return len(self.exits) >= ranks == len(self.losses) and not any(self.exits) and len(steps) == 1 and steps != {0}


def run_launcher(launcher: Launcher, checkout: Path, data: Path, ranks: int, place: Path, seconds: float) -> Outcome:
    """place: a folder that does not exist yet; it keeps the copy with its logs.  seconds: then it is ended, status None."""
    script = prepare(launcher, checkout, data, ranks, place)
    exits = place.with_name(place.name + ".exits")
    exits.mkdir()
    environment = _environment(exits, place.with_name(place.name + ".bin"))
    arguments = [argument.format(data=data) for argument in launcher.arguments]
    started = time.monotonic()
    with (place / "launcher.out").open("wb") as out:
        process = subprocess.Popen(
            ["bash", script.name, *arguments], cwd=script.parent, env=environment, stdin=subprocess.DEVNULL, stdout=out,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        status = _ended(process, seconds)
    minutes = (time.monotonic() - started) / 60
    codes = sorted(int(path.read_text()) for path in exits.iterdir())
    return Outcome(status, tuple(codes), _losses(script.parent, launcher.loss, ranks), minutes)


def _environment(exits: Path, folder: Path) -> dict[str, str]:
    """That of this process without what says which rank it is, with the interpreters of `folder` first."""
    folder.mkdir()
    for name in _NAMES:
        wrapper = folder / name
        wrapper.write_text(_WRAPPER.format(python=sys.executable, exits=exits), "utf-8")
        wrapper.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not re.match(r"RANK_|DEVICE_|ASCEND_|JOB_ID|CM_|TF2NPU_", name)}
    return {**kept, "PATH": f"{folder}:{os.environ['PATH']}"}


def _ended(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None


def _losses(folder: Path, pattern: str, ranks: int) -> tuple[tuple[str, ...], ...]:
    """What the pattern finds in the log of each rank, in the order of the ranks."""
    found = []
    for rank in range(ranks):
        logs = sorted(folder.glob(f"output/{rank}/*{rank}.log"))
        text = "".join(log.read_text("utf-8", "replace") for log in logs)
        found.append(tuple(re.findall(pattern, text)))
    return tuple(found)
