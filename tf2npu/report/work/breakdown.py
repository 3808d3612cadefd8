"""The projects of a tree that holds many, and how the places of a report spread over folders, rules and workflows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

from tf2npu.findings import Level
from tf2npu.report.model.counts import n_places
from tf2npu.report.model.report import FileReport, Report
from tf2npu.report.work.labels import label_of_work
from tf2npu.rules import rule_parts

WORKFLOWS = {
    "session": "Sessions", "estimator": "Estimators", "keras": "Keras", "distributed": "Several devices", "input": "Input",
    "ops": "Operators", "device": "Devices", "outdated": "Old Python and TensorFlow", "names": "Names", "engine": "Whole files",
}  # fmt: skip
"""The folders of the rules, which are the parts of a migration, by their titles."""
_SETTINGS = frozenset({"setup.py", "setup.cfg", "pyproject.toml", "requirements.txt", "environment.yml"})
"""Files that stand at the top of a project."""


@dataclass
class Bar:
    """A name and what was done and is open there, in places.  rule: the id that it stands for, or ""."""

    name: str
    done: int = 0
    open: int = 0
    rule: str = ""

    @property
    def total(self) -> int:
        return self.done + self.open


def of_projects(report: Report) -> list[Bar]:
    """Done and open by project, the one with most open places first; none where the tree is one project."""
    tops = _tops(report.files)
    if len(tops) < 2:
        return []
    bars = {top: Bar(top) for top in tops}
    for file in report.files:
        top = next((folder for folder in _folders(file.path) if folder in bars), None)
        if top is not None:
            _count(bars[top], file)
    return sorted(bars.values(), key=lambda bar: (-bar.open, -bar.done, bar.name))


def _count(bar: Bar, file: FileReport) -> None:
    bar.done += n_places(finding for finding in file.findings if finding.level is Level.FIXED)
    bar.open += n_places(finding for finding in file.new_findings() if label_of_work(file, finding))


def _tops(files: Iterable[FileReport]) -> list[str]:
    """The highest folders that hold a file which refers to TensorFlow, or a file that stands at the top of a project."""
    own: set[str] = set()
    for file in files:
        if file.references or PurePosixPath(file.path).name in _SETTINGS:
            own.add(file.path.rpartition("/")[0])
    referring = {folder for file in files if file.references for folder in _folders(file.path)}
    tops = [folder for folder in own if folder in referring and not any(above in own for above in _folders(folder))]
    return sorted(tops)


def _folders(path: str) -> Iterable[str]:
    """The folders above a path, the highest, which is "", first; the path of a folder is not among them."""
    parts = path.split("/")[:-1] if path else []
    return ("/".join(parts[:n]) for n in range(len(parts) + 1)) if path else ()


def of_rules(report: Report) -> list[Bar]:
    """Done and open by rule, the one with most open places first."""
    bars: dict[str, Bar] = {}
    for key, done, left in _findings(report):
        bar = bars.setdefault(key, Bar(key, rule=key))
        bar.done, bar.open = bar.done + done, bar.open + left
    return sorted((bar for bar in bars.values() if bar.total), key=lambda bar: (-bar.open, -bar.done, bar.name))


def of_workflows(report: Report) -> list[Bar]:
    """Done and open by part of the migration, by its English title."""
    bars: dict[str, Bar] = {}
    for bar in of_rules(report):
        title = WORKFLOWS.get(_topics().get(bar.rule, "engine"), WORKFLOWS["engine"])
        whole = bars.setdefault(title, Bar(title))
        whole.done, whole.open = whole.done + bar.done, whole.open + bar.open
    return sorted(bars.values(), key=lambda bar: (-bar.open, -bar.done, bar.name))


def _findings(report: Report) -> Iterable[tuple[str, int, int]]:
    """The rule of each finding that counts, and its places that are done and that are open."""
    for file in report.files:
        for number, finding in enumerate(file.findings):
            if finding.level is Level.FIXED:
                yield finding.rule, n_places([finding]), 0
            elif number not in file.known and label_of_work(file, finding):
                yield finding.rule, 0, n_places([finding])


@lru_cache(maxsize=1)
def _topics() -> dict[str, str]:
    """The folder of each rule's first part."""
    found: dict[str, str] = {}
    for part in rule_parts():
        words = part.check.__module__.split(".")
        found.setdefault(part.id, words[2] if words[:2] == ["tf2npu", "rules"] and len(words) > 3 else "engine")
    return found


def first_and_others(bars: list[Bar], most: int, name: str) -> list[Bar]:
    """The first bars, and the rest added up under a name."""
    if len(bars) <= most:
        return bars
    rest = bars[most - 1 :]
    return [*bars[: most - 1], Bar(name, sum(bar.done for bar in rest), sum(bar.open for bar in rest))]
