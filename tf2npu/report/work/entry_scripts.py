"""The scripts that start a project, how far each has been proven, and the commands that take it further."""

from __future__ import annotations

import posixpath
import shlex
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from tf2npu.findings import EntryScript, Status
from tf2npu.report.languages.language import counted
from tf2npu.report.model.report import FileReport, Report
from tf2npu.report.work.labels import label_of_work
from tf2npu.report.work.smoke_runs import is_seen, not_seen, seen
from tf2npu.scanner.notebooks.path import is_notebook

RUNGS = ("not converted", "converted", "loads", "trains", "agrees with the original")
"""The ladder of evidence: each rung is shown by what was done, never supposed."""
CHECKED = RUNGS[-1]
"""The rung that a check shows; a run shows those below."""
HOST_EXPORTS = "export JOB_ID=1 RANK_ID=0 RANK_SIZE=1 DEVICE_ID=0 ASCEND_DEVICE_ID=0 DEVICE_INDEX=0"
"""Environment variables that an NPU host needs for one device. The shim sets the same where they are missing."""


@dataclass(frozen=True)
class Entry:
    """A script that is run.

    rung: its place in RUNGS.  evidence: what shows it, in English.  open_places: of work in the files that it needs.
    needs: paths of these files, its own first.
    """

    script: EntryScript
    rung: int
    evidence: str
    open_places: int
    needs: tuple[str, ...]


def entries(report: Report) -> list[Entry]:
    """The scripts that are run: those that train first, tests last, then those with less to do, each before its launchers."""
    files = {file.path: file for file in report.files}
    open_ = {path: _open(file) for path, file in files.items()}
    found: dict[str, Entry] = {}
    for script in sorted(report.entries, key=_is_launcher):
        needs = tuple(dict.fromkeys(path for start in script.runs or (script.path,) for path in reached(files, start)))
        of_its_own = [found[path] for path in script.runs if path in found]
        rung, evidence = _of_least(of_its_own) if of_its_own else _evidence(report, files, script, needs)
        found[script.path] = Entry(script, rung, evidence, sum(open_.get(path, 0) for path in needs), needs)
    return sorted(found.values(), key=_order)


def _order(entry: Entry) -> tuple[object, ...]:
    script = entry.script
    return script.starts == "test", not script.trains, -entry.rung, entry.open_places, _is_launcher(script), script.path


def _is_launcher(script: EntryScript) -> bool:
    return script.starts == "launcher"


def is_ordinary(script: EntryScript) -> bool:
    """Whether it does the project's own work: no test, and no launcher, which starts others."""
    return script.starts not in ("test", "launcher")


def _of_least(started: list[Entry]) -> tuple[int, str]:
    """The rung of a launcher: that of the script it starts of which least is known, as its own runs are not recorded."""
    least = min(started, key=lambda entry: entry.rung)
    return least.rung, f"It starts {least.script.path}. {least.evidence}"


def reached(files: Mapping[str, FileReport], start: str) -> tuple[str, ...]:
    """A file and those that it needs, by the imports that the conversion saw."""
    seen, todo = {start: None}, [start]
    while todo:
        file = files.get(todo.pop())
        for path in file.imports if file is not None else ():
            if path not in seen:
                seen[path] = None
                todo.append(path)
    return tuple(seen)


def scripts_reaching(report: Report) -> Counter[str]:
    """The number of scripts that need each file, tests and launchers apart."""
    files = {file.path: file for file in report.files}
    return Counter(path for script in report.entries if is_ordinary(script) for path in reached(files, script.path))


def _open(file: FileReport) -> int:
    return sum(1 for finding in file.new_findings() if label_of_work(file, finding))


def _evidence(report: Report, files: Mapping[str, FileReport], script: EntryScript, needs: tuple[str, ...]) -> tuple[int, str]:
    """The highest rung that something shows, and what does."""
    if report.command == "scan":
        return 0, "Only looked at: `tf2npu convert` has not written it."
    stuck = [path for path in needs if path in files and files[path].status in (Status.FAILED, Status.CONFLICT)]
    if stuck:
        return 0, f"{stuck[0]} was not converted."
    run = run_of(report, script)
    if run is not None and run.get("changed_files"):
        return 1, "Files have changed since its last run."
    rung, evidence = _of_run(script, run) if run is not None else (1, "Converted; no run has been recorded.")
    check = report.check
    if rung > 1 and check is not None and _is_of(check["script"], script.path) and _agrees(check):
        return 4, f"A check of {_steps(check['steps'])} agrees with the original."
    return rung, evidence


def run_of(report: Report, script: EntryScript) -> dict[str, Any] | None:
    """The last run of a script that the report holds."""
    return next((run for run in report.runs if _is_of(run["script"], script.path)), None)


def _of_run(script: EntryScript, run: Mapping[str, Any]) -> tuple[int, str]:
    if run.get("smoke"):
        return (3, seen(run)) if is_seen(run) else (2 if run["steps"] else 1, not_seen(run))
    runs, code, trained = run["steps"], run["exit_code"], run.get("training_steps")
    if code == 0 and trained:
        return 3, f"A run trained for {_steps(trained)} on the simulated device."
    if runs or code == 0:
        ended = "" if code == 0 else f", and ended with exit code {code}"
        made = _steps(trained) if trained else counted(runs, "session run")
        may_train = trained is None and code == 0 and runs and script.trains  # the report is from before steps were told apart
        return 3 if may_train else 2, f"A run made {made} on the simulated device{ended}."
    return 1, f"A run ended with exit code {code} before its first step."


def _steps(number: int) -> str:
    return "1 step" if number == 1 else f"{number} steps"


def _agrees(check: Mapping[str, Any]) -> bool:
    """Whether the first mode, which has the graph's own types, agrees."""
    modes = check["modes"]
    return bool(modes) and modes[0]["verdict"] == "agrees"


def _is_of(named: str, path: str) -> bool:
    """Whether a run or check named this script, by a path that ends as the report's does or by its module."""
    if named == path or named.replace("\\", "/").endswith(f"/{path}"):
        return True
    return "/" not in named and named.replace(".", "/") in (path.removesuffix(".py"), path.removesuffix("/__main__.py"))


@dataclass(frozen=True)
class Command:
    """A line to type.  what: what it is for, in English.  text: the line."""

    what: str
    text: str


def commands(report: Report, script: EntryScript) -> list[Command]:
    """The commands to type in the folder that the conversion wrote: run the script, prove more of it, run it on a host."""
    if _is_launcher(script):
        return _of_launcher(script)
    if is_notebook(script.path):
        line = f"jupyter nbconvert --to notebook --execute {_quoted(script.path)}"
        return [Command("Run all cells", line), Command("Run it on an NPU host", f"{HOST_EXPORTS} && {line}")]
    start = start_of(replace(script, path=report.paths.name or script.path))
    arguments = "".join(f" {shlex.quote(word)}" for word in script.arguments)
    words = f"{start}{arguments}"
    devices = "--devices 2 " if report.mode != "none" else ""
    folder = _quoted(report.paths.report or "tf2npu-report")
    found = [
        Command("Run it", f"python {words}"),
        Command("Run it, and put the run into this report", f"tf2npu run {devices}--report {folder} {words}"),
        Command("Run it on an NPU host", f"{HOST_EXPORTS} && python {words}"),
    ]
    if report.paths.source and not start.startswith("-m "):
        original = _quoted(posixpath.join(report.paths.source, script.path))
        compare = f"tf2npu check --migrated {start} --report {folder} {original}{arguments}"
        found.insert(2, Command("Compare it with the original", compare))
    return found


def _of_launcher(script: EntryScript) -> list[Command]:
    """A launcher tells its ranks what a host needs in the environment, so that nothing is exported for it."""
    go = f"cd {_quoted(script.folder)} && " if script.folder else ""
    name = _quoted(posixpath.relpath(script.path, script.folder or "."))
    return [
        Command("Run it on the simulated device", f"{go}tf2npu run {name}"),
        Command("Run it on an NPU host", f"{go}bash {name}"),
    ]


def _quoted(path: str) -> str:
    """A path for a shell, which takes it for no option."""
    return shlex.quote(path if not path.startswith("-") else f"./{path}")


def start_of(script: EntryScript) -> str:
    """The arguments of `python` that start a script, quoted for a shell."""
    path = PurePosixPath(script.path)
    if script.starts == "package" and path.parent.parts:
        return f"-m {shlex.quote('.'.join(path.parent.parts))}"
    return _quoted(script.path)
