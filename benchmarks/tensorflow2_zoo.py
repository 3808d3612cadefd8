"""Scripts of the vendor's model zoo for TensorFlow 2, unchanged, on the simulated device and on plain TensorFlow.

    python -m benchmarks.tensorflow2_zoo ZOO [SCRIPT ...] [--packages DIR] [--spread] [--logs DIR]

ZOO is a checkout of https://gitee.com/ascend/ModelZoo-TensorFlow; nothing in it is changed, and nothing is downloaded. A script
runs on synthetic data in a copy of its folder, with the same seeds on both sides, one process at a time. Losses of its batches
are compared, or those that it prints where Keras does not train. With --spread TensorFlow runs once more, with one thread and
without oneDNN, and three times that distance is allowed, else 1e-4. Processor time is of a step behind the first ten, or of the
whole script. Exit codes: 0 all agree, 1 one does not, 77 the zoo is not there.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import click

from benchmarks.zoo_scripts import made_data
from benchmarks.zoo_scripts.script_table import OTHERS, SCRIPTS, Script
from benchmarks.zoo_scripts.side import DEVICE, PLAIN

ABSENT = 77
ROOT = Path(__file__).parents[1]
BUILT_IN = "TensorFlow2/built-in"
MOST_SECONDS = 150
ALLOWED, SPREADS = 1e-4, 3
WARM_UP_STEPS = 10
"""Steps whose time does not count: the first ones trace and compile, also for a last batch of another size."""
OTHER_TENSORFLOW = {"TF_ENABLE_ONEDNN_OPTS": "0", "TF_NUM_INTRAOP_THREADS": "1", "OMP_NUM_THREADS": "1"}
ORIGIN_TYPES = {"TF2NPU_OPTIONS": json.dumps({"precision_mode": "must_keep_origin_dtype"})}
"""The scripts ask for mixed precision, which TensorFlow's CPU has not; a launcher's options win over a script's."""
_NUMBER = r"(-?\d+\.\d+(?:e[-+]?\d+)?|nan|inf)"
_PRINTED = re.compile(rf"(?i)\b\w*loss\w*\s*[:=]?\s*(?:tf\.Tensor\()?{_NUMBER}")


class Run(NamedTuple):
    """code: exit code, -9 after too long a time.  losses: of batches, or printed.  ms: of a step, or 0.  record: of side.py."""

    code: int
    losses: list[float]
    ms: float
    record: dict[str, Any]
    log: str


class Zoo(NamedTuple):
    """place: of the scripts.  work: for copies.  data: the synthetic files.  packages: a folder of more packages, or None."""

    place: Path
    work: Path
    data: Path
    packages: Path | None

    def run(self, script: Script, side: str, environment: dict[str, str]) -> Run:
        """One run in a fresh copy of the script's folder."""
        with tempfile.TemporaryDirectory(dir=self.work) as copy:
            folder, record = Path(copy) / "script", Path(copy) / "record.json"
            shutil.copytree(self.place / script.folder, folder)
            for place in ("log", "model", "output"):
                (folder / place).mkdir(exist_ok=True)
            words = [word.replace("DATA", str(self.data)) for word in script.words]
            given = [side, record, script.most_steps, script.file, *words]
            command = [sys.executable, "-m", "benchmarks.zoo_scripts.side", *map(str, given)]
            code, output = _finished(command, folder, {**self._environment(), **environment})
            told = json.loads(record.read_text()) if record.exists() else {"steps": [], "seconds": 0.0}
        return Run(code, _losses(told["steps"], output), _step_ms(told["steps"]), told, output)

    def _environment(self) -> dict[str, str]:
        paths = [str(ROOT), *([str(self.packages)] if self.packages else []), os.environ.get("PYTHONPATH", "")]
        quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "MPLBACKEND": "Agg", "HOME": str(self.data)}
        return {**os.environ, **quiet, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def _finished(command: list[str], folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    process = subprocess.Popen(command, cwd=folder, env=environment, text=True, errors="replace", **both)
    try:
        output, _ = process.communicate(timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
        return -9, output
    return process.returncode, output


def _losses(steps: list[list[Any]], output: str) -> list[float]:
    """The losses of the batches; without any, the numbers that were printed behind a word with "loss"."""
    told = [value for numbers, _ in steps for name, value in numbers.items() if "loss" in name]
    return told or [float(number) for number in _PRINTED.findall(output)]


def _step_ms(steps: list[list[Any]]) -> float:
    ends = [end for _, end in steps]
    took = [after - before for before, after in itertools.pairwise(ends)]
    return 1000 * statistics.median(took[WARM_UP_STEPS:] or took) if took else 0.0


def apart(ours: list[float], theirs: list[float]) -> float:
    """The largest difference of two losses, relative to the loss, or to 1e-2 where it is smaller; infinite for other lengths."""
    if len(ours) != len(theirs) or not theirs:
        return math.inf
    pairs = [pair for pair in zip(ours, theirs, strict=True) if not (math.isnan(pair[0]) and math.isnan(pair[1]))]
    found = [abs(a - b) / max(abs(b), 1e-2) for a, b in pairs]
    return math.inf if any(map(math.isnan, found)) else max(found, default=math.inf)


class Row(NamedTuple):
    """A line of the table, and whether the script agrees; None for one that plain TensorFlow cannot run."""

    line: str
    agrees: bool | None


def compared(zoo: Zoo, script: Script, has_spread: bool, logs: Path | None) -> Row:
    """Runs a script on both sides."""
    missing = [name for name in script.needs if not _is_there(name, zoo.packages)]
    if missing:
        return Row(f"| {script.name} | needs {', '.join(missing)} | | | | | | |", None)
    theirs = zoo.run(script, PLAIN, {})
    _keep(logs, script, PLAIN, theirs)
    if theirs.code:
        return Row(f"| {script.name} | TensorFlow: {_reason(theirs)} | | | | | | |", None)
    ours = zoo.run(script, DEVICE, ORIGIN_TYPES)
    _keep(logs, script, DEVICE, ours)
    if ours.code:
        return Row(f"| {script.name} | **device: {_reason(ours)}** | | | | | | |", False)
    return _row(
        script, theirs, ours, apart(zoo.run(script, PLAIN, OTHER_TENSORFLOW).losses, theirs.losses) if has_spread else 0.0
    )


def _row(script: Script, theirs: Run, ours: Run, spread: float) -> Row:
    far, share = apart(ours.losses, theirs.losses), ours.record["share"]
    agrees = far <= max(ALLOWED, SPREADS * spread) and share >= 0.95
    times = (theirs.ms, ours.ms) if theirs.ms else (1000 * theirs.record["seconds"], 1000 * ours.record["seconds"])
    cells = [
        script.name, "agrees" if agrees else "**differs**", str(len(theirs.losses)), f"{far:.1e}", f"{spread:.1e}",
        f"{100 * share:.2f}", f"{times[0]:.1f}", f"{times[1]:.1f} ({times[1] / times[0]:.2f})",
    ]  # fmt: skip
    return Row(f"| {' | '.join(cells)} |", agrees)


def _is_there(package: str, packages: Path | None) -> bool:
    return importlib.util.find_spec(package) is not None or (packages is not None and (packages / package).is_dir())


def _reason(run: Run) -> str:
    lines = [line for line in run.log.splitlines() if re.match(r"^[\w.]*(Error|Exception|Exit|Interrupt)\b", line)]
    return f"over {MOST_SECONDS} s" if run.code == -9 else (lines[-1][:110] if lines else f"exit code {run.code}")


def _keep(logs: Path | None, script: Script, side: str, run: Run) -> None:
    if logs is not None:
        logs.mkdir(parents=True, exist_ok=True)
        (logs / f"{script.name}-{side}.log").write_text(run.log)
        (logs / f"{script.name}-{side}.json").write_text(json.dumps({"losses": run.losses, "ms": run.ms, **run.record}, indent=1))


@click.command(help="The scripts of these names (all of them without a name), from a checkout of the zoo.")
@click.argument("zoo", type=click.Path(path_type=Path), required=False)
@click.argument("names", nargs=-1, metavar="[SCRIPT]...")
@click.option("--packages", type=click.Path(path_type=Path, exists=True), help="A folder of packages that the scripts import.")
@click.option("--spread", is_flag=True, help="Run TensorFlow once more with other settings, and allow three times the distance.")
@click.option("--logs", type=click.Path(path_type=Path), help="A folder for what each run printed and recorded.")
def main(zoo: Path | None, names: tuple[str, ...], packages: Path | None, spread: bool, logs: Path | None) -> None:
    if zoo is None or not (zoo / BUILT_IN).is_dir():
        print(f"absent: {zoo or 'ZOO'}/{BUILT_IN}: give a checkout of https://gitee.com/ascend/ModelZoo-TensorFlow")
        sys.exit(ABSENT)
    if packages is not None:
        sys.path.append(str(packages.resolve()))
    with tempfile.TemporaryDirectory(prefix="tf2npu-zoo-") as work:
        data = Path(work) / "data"
        data.mkdir()
        made_data.write(data)
        place = Zoo(zoo.resolve() / BUILT_IN, Path(work), data, packages and packages.resolve())
        sys.exit(_print_table(place, [one for one in SCRIPTS if not names or one.name in names], spread, logs))


def _print_table(zoo: Zoo, scripts: list[Script], spread: bool, logs: Path | None) -> int:
    print(
        "| script | outcome | losses | apart | TensorFlow's spread | % of flop on the device | ms of TensorFlow | of the device |"
    )
    print("|---|---|---|---|---|---|---|---|", flush=True)
    rows = []
    for script in scripts:
        rows.append(compared(zoo, script, spread, logs))
        print(rows[-1].line, flush=True)
    count = [sum(row.agrees is outcome for row in rows) for outcome in (True, False, None)]
    print(f"\n{count[0]} agree, {count[1]} differ, {count[2]} do not run on plain TensorFlow 2.15. Others are not tried:\n")
    print("\n".join(f"- {name}: {reason}" for name, reason in OTHERS.items()))
    return int(count[1] > 0)


if __name__ == "__main__":
    main()
