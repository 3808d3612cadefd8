"""Share of findings with code to write among those that are work, in local copies of public repositories, which are only read.

    python -m benchmarks.findings_with_code TREE...

A row a tree, with the rules of which most findings have none; the last row is all of them. Exit code: 0 when 60 % or more have
code, 77 where a tree is absent, else 1.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from tf2npu.config import Config
from tf2npu.findings import Finding
from tf2npu.project.conversion import convert_project
from tf2npu.project.request import Request
from tf2npu.project.workers import default_jobs
from tf2npu.report.model.report import WORK_LEVELS

ABSENT = 77
"""Exit code of a check that could not be made for want of what it checks; the one that automake has for it."""
WANTED = 0.6
"""Share that is wanted: of the rest, what is to be written depends on the whole program."""
_MOST_RULES = 4


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trees", type=Path, nargs="+")
    trees = parser.parse_args(arguments).trees
    absent = [tree for tree in trees if not tree.is_dir()]
    if absent:
        print("\n".join(f"absent: {tree}" for tree in absent))
        return ABSENT
    print("| tree | findings that are work | with code | share | most without |\n" + "|---" * 5 + "|")
    every: list[Finding] = []
    for tree in trees:
        found = work(tree)
        every += found
        print(row(tree.name, found), flush=True)
    print(row("together", every))
    return 0 if share(every) >= WANTED else 1


def work(tree: Path) -> list[Finding]:
    done = convert_project(Request(tree, Config(), jobs=default_jobs(), use_cache=False))
    return [finding for result in done.results for finding in result.findings if finding.level in WORK_LEVELS]


def share(found: list[Finding]) -> float:
    return sum(bool(finding.after) for finding in found) / max(len(found), 1)


def row(name: str, found: list[Finding]) -> str:
    without = Counter(finding.rule for finding in found if not finding.after)
    most = ", ".join(
        f"{rule} {number}" for rule, number in sorted(without.items(), key=lambda one: (-one[1], one[0]))[:_MOST_RULES]
    )
    return f"| {name} | {len(found)} | {len(found) - without.total()} | {100 * share(found):.0f} % | {most} |"


if __name__ == "__main__":
    sys.exit(main())
