"""Our converter and the vendor's over the same projects: whose changes, and whose time."""

from __future__ import annotations

import json
import statistics
import sys
from collections import Counter
from pathlib import Path

from benchmarks.acceptance.measured import Cost, run
from benchmarks.acceptance.trial import REPORT
from benchmarks.cuda_code import vendor


def against_vendor(program: Path, python: Path, projects: list[Path], scratch: Path, turns: int) -> bool:
    """Print a row for each project and each change of the vendor's that has no answer.  Returns: whether there is none."""
    print("| project | the vendor's changes | made | argued | missing | our s | the vendor's s | ratio |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    reasons: Counter[str] = Counter()
    missing: list[vendor.Place] = []
    for number, folder in enumerate(projects):
        project = vendor.copied(folder.resolve(), scratch / str(number))
        ours, theirs = _by_turns(program, python, project, scratch / f"{number}-out", turns)
        files = json.loads((scratch / f"{number}-out" / "ours" / REPORT).read_text(encoding="utf-8"))["files"]
        found = vendor.places(
            project, scratch / f"{number}-out" / f"{project.name}_msft", scratch / f"{number}-out" / "ours", files
        )
        counted = Counter(place.answer for place in found)
        reasons.update(place.reason for place in found if place.answer == "argued")
        missing += [place for place in found if place.answer == "missing"]
        times = [statistics.median(cost.cpu_seconds for cost in costs) for costs in (ours, theirs)]
        cells = [f"{folder.parent.name}/{folder.name}", len(found), counted["made"], counted["argued"], counted["missing"]]
        print("|", " | ".join([*map(str, cells), *(f"{s:.2f}" for s in times), f"{times[1] / times[0]:.1f}"]), "|", flush=True)
    print("".join(f"argued {count} times: {reason}\n" for reason, count in reasons.most_common()), end="")
    print("".join(f"missing: {place.edit}\n" for place in missing), end="")
    return not missing


def _by_turns(program: Path, python: Path, project: Path, out: Path, turns: int) -> tuple[list[Cost], list[Cost]]:
    """The costs of both, a conversion each by turns; one that the vendor's converter did not end is an error."""
    ours: list[Cost] = []
    theirs: list[Cost] = []
    command = [sys.executable, "-m", "tf2npu", "convert", str(project), str(out / "ours"), "--no-cache", "--jobs", "1", "--force"]
    for _ in range(max(1, turns)):
        ours.append(run(command, weighs=False))
        theirs.append(vendor.convert(program, python, project, out))
        if theirs[-1].code:
            raise SystemExit(f"{project}: the vendor's converter ended with {theirs[-1].code}: {theirs[-1].stdout[-600:]}")
    return ours, theirs
