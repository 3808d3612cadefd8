"""Test suites of other packages, run module by module with their sessions on TensorFlow and on the simulated device."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import tempfile
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from benchmarks.one_sided import without_one_sided

ROOT = Path(__file__).parents[1]
_SESSIONS = re.compile(r"npu_runtime: simulated \S+: (\d+) sessions?")
_IDLE = re.compile(r"npu_runtime: (no session ran.*)")


@dataclass(frozen=True)
class Suite:
    """Tests of a package. package: its import name.  below: folder of its tests.  installs: arguments of pip, one call each."""

    package: str
    installs: tuple[tuple[str, ...], ...]
    below: str = ""


@dataclass(frozen=True)
class Outcome:
    """passed: names of tests.  sessions: how many ran on the device.  end: why the module as a whole failed, or "".

    idle: what the run log says of sessions when none of them ran.
    """

    passed: frozenset[str]
    sessions: int
    end: str
    idle: str = ""


def run_suite(suite: Suite, argv: list[str] | None, description: str) -> int:
    """Run all test modules and print the table. Returns: 0 when no test is lost, else 1."""
    options = _options(argv, description)
    if said := without_one_sided(os.environ, is_kept=options.as_set):
        print(said, end="\n\n")
    with tempfile.TemporaryDirectory(prefix=f"{suite.package}-") as temporary:
        python = options.python.absolute() if options.python else make_environment(Path(temporary) / "environment", suite)
        modules = [
            path for path in test_modules(python, suite) if not options.modules or any(m in str(path) for m in options.modules)
        ]
        print("| module | passed on TensorFlow | passed on the device | lost | sessions on the device |\n|---|---|---|---|---|")
        rows = [compare(python, path, suite.package, Path(temporary), options.time_out) for path in modules]
    base, device = (sum(len(row[side].passed) for row in rows) for side in (0, 1))
    lost = sum(len(theirs.passed - ours.passed) for theirs, ours in rows)
    print(f"\n{len(modules)} modules: {base} tests pass on TensorFlow, {device} on the device, {lost} are lost")
    return 1 if lost or not rows else 0


def _options(argv: list[str] | None, description: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--python", type=Path, help="interpreter of an environment that holds tf2npu, the package and pytest")
    parser.add_argument("--modules", type=lambda text: text.split(","), help="parts of the paths of the modules to run")
    parser.add_argument("--time-out", type=float, default=1200.0, help="seconds a module")
    parser.add_argument("--as-set", action="store_true", help="keep settings of the environment that choose one side's kernels")
    return parser.parse_args(argv)


def make_environment(folder: Path, suite: Suite) -> Path:
    """A virtual environment with this project and the package. Returns: its interpreter."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    for arguments in ((str(ROOT),), *suite.installs):
        subprocess.run([python, "-m", "pip", "install", "--quiet", *arguments], check=True)
    return python


def test_modules(python: Path, suite: Suite) -> list[Path]:
    """The test modules inside the installed package."""
    where = f"import importlib.util; print(importlib.util.find_spec({suite.package!r}).submodule_search_locations[0])"
    folder = subprocess.run([python, "-c", where], check=True, capture_output=True, text=True).stdout.strip()
    return sorted(Path(folder, suite.below).rglob("*_test.py"))


def compare(python: Path, module: Path, package: str, folder: Path, limit: float) -> tuple[Outcome, Outcome]:
    """Run one module on both sides and print its row."""
    theirs, ours = (run(python, module, folder, limit, options) for options in ([], ["--all-sessions"]))
    lost = sorted(theirs.passed - ours.passed)
    name = "/".join(module.parts[module.parts.index(package) + 1 :])
    print(f"| {name} | {len(theirs.passed)} | {len(ours.passed)} | {len(lost)} | {ours.sessions} |", flush=True)
    if not ours.sessions and not ours.end:
        print(f"  on device: {ours.idle or 'no session was made'}", flush=True)
    for test in lost:
        print(f"  lost: {test}", flush=True)
    for side, outcome in (("TensorFlow", theirs), ("device", ours)):
        if outcome.end:
            print(f"  on {side}: {outcome.end}", flush=True)
    return theirs, ours


def run(python: Path, module: Path, folder: Path, limit: float, options: Sequence[str]) -> Outcome:
    """One module in a process of its own."""
    results = folder / "results.xml"
    results.unlink(missing_ok=True)
    launcher = python.parent / "tf2npu"
    command = [launcher, "run", *options, "-m", "pytest", module, "-q", f"--junitxml={results}", "-p", "no:cacheprovider"]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return Outcome(frozenset(), 0, f"not done after {limit:g} s")
    said = done.stdout + done.stderr
    sessions = sum(int(count) for count in _SESSIONS.findall(said))
    if not results.exists():
        return Outcome(frozenset(), sessions, (said.strip().splitlines() or ["no output"])[-1])
    return Outcome(frozenset(passed(results)), sessions, "", "".join(_IDLE.findall(said)[:1]))


def passed(results: Path) -> list[str]:
    """Names of the tests that passed, from pytest's report."""
    bad = {"failure", "error", "skipped"}
    cases = ElementTree.parse(results).getroot().iter("testcase")
    return [f"{case.get('classname')}.{case.get('name')}" for case in cases if bad.isdisjoint(part.tag for part in case)]
