"""Decisions for each 100 places of work in the vendor's model zoo, and sentences that stand twice in a list of decisions.

    python -m benchmarks.decisions_per_place CHECKOUT

CHECKOUT: a local copy of the zoo (https://gitee.com/ascend/ModelZoo-TensorFlow), with its folder `TensorFlow`. It is only read.
A row is a subject, with what both of its folders hold; the last one has all files in one report, where a decision of several
subjects counts once. Exit code: 0 when each row has 30 decisions or fewer for 100 places and no sentence twice; 77 where the
checkout is absent; else 1.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from tf2npu.config import Config
from tf2npu.project.conversion import convert_project
from tf2npu.project.request import Request
from tf2npu.project.workers import default_jobs
from tf2npu.report.model.build import build
from tf2npu.report.model.report import FileReport, Report
from tf2npu.report.model.rule_facts import RuleTexts
from tf2npu.report.work.decisions import decisions

ABSENT = 77
"""Exit code of a check that could not be made for want of what it checks; the one that automake has for it."""
SUBJECTS = {
    "nlp": ("built-in/nlp", "contrib/nlp"),
    "recommendation": ("built-in/recommendation", "contrib/recommendation"),
    "reinforcement_learning": ("built-in/reinforcement_learning", "contrib/reinforcement-learning"),
    "contrib/cv": ("contrib/cv",),
}
"""Folders below `TensorFlow`: of 12,000 files, those with most kinds of networks."""
MOST = 30.0
"""Decisions for 100 places: with more the list would hardly be shorter than one of the places by file."""


@dataclass(frozen=True)
class Row:
    """The decisions that a report leaves. twice: sentences beyond the first of those that stand twice or more."""

    name: str
    files: int
    decisions: int
    places: int
    twice: int

    @property
    def for_100_places(self) -> float:
        return 100 * self.decisions / max(self.places, 1)

    @property
    def is_reached(self) -> bool:
        return self.for_100_places <= MOST and not self.twice

    def __str__(self) -> str:
        figures = f"{self.files} | {self.decisions} | {self.places} | {self.for_100_places:.1f} | {self.twice}"
        return f"| {self.name} | {figures} |"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=Path, nargs="?", default=Path("ModelZoo-TensorFlow"))
    checkout = parser.parse_args(arguments).checkout
    absent = [folder for folders in SUBJECTS.values() for folder in folders if not (checkout / "TensorFlow" / folder).is_dir()]
    if absent:
        print(f"{checkout}: no checkout of the vendor's model zoo (ModelZoo-TensorFlow), as TensorFlow/{absent[0]} is not there")
        return ABSENT
    print("| tree | files | decisions | places | decisions for 100 places | sentences twice |\n" + "|---" * 6 + "|")
    found = {name: [_report(checkout / "TensorFlow", folder) for folder in folders] for name, folders in SUBJECTS.items()}
    rows = [row(name, reports) for name, reports in found.items()]
    rows.append(row("together", [report for reports in found.values() for report in reports]))
    print("\n".join(map(str, rows)))
    return 0 if all(one.is_reached for one in rows) else 1


def row(name: str, reports: list[Report]) -> Row:
    """The figures of several reports as those of one."""
    together = replace(reports[0], files=[file for report in reports for file in report.files])
    left = decisions(together, RuleTexts(together))
    said = Counter(decision.message for decision in left)
    places = sum(decision.n_places for decision in left)
    return Row(name, len(together.files), len(left), places, said.total() - len(said))


def _report(zoo: Path, folder: str) -> Report:
    """The report on a folder, with paths from the zoo on."""
    done = convert_project(Request(zoo / folder, Config(), jobs=default_jobs(), use_cache=False))
    report = build(done.results, command="scan", entries=done.entries, imports=done.imports)
    return replace(report, files=list(_below(folder, report.files)))


def _below(folder: str, files: Iterable[FileReport]) -> Iterable[FileReport]:
    return (replace(file, path=f"{folder}/{file.path}") for file in files)


if __name__ == "__main__":
    sys.exit(main())
