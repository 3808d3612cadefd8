"""Rank correlation of the estimate of effort with real changes: pairs of an original repository and its published NPU version.

    python -m benchmarks.effort_calibration PAIRS.txt       a line a pair: NAME ORIGINAL-FOLDER MIGRATED-FOLDER

Both folders are local copies of public repositories, which are only read; relative ones are looked for beside the file, and what
stands behind a # is passed over. For a pair it prints the estimate for the original's files that the other version has, too, and
the lines that people changed there beyond what our converter changes: code lines that their version adds or takes out and ours
does not. Spearman's rank correlation follows, with its interval of 95 % (bootstrap): with all these lines, and with those that
name TensorFlow or the NPU. Pairs whose files are not alike are left out and named. Exit code: 77 where the file or a folder that
it names is absent, 1 where fewer than three pairs are left, else 0, whatever the correlation is.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np
from scipy.stats import spearmanr

from tf2npu.config import Config
from tf2npu.findings import Status
from tf2npu.project.conversion import convert_project
from tf2npu.project.request import Request
from tf2npu.report.model.build import build
from tf2npu.report.model.report import Report
from tf2npu.report.model.rule_facts import RuleTexts
from tf2npu.report.work.decisions import decisions
from tf2npu.report.work.effort import effort

ABSENT = 77
"""Exit code of a check that could not be made for want of what it checks; the one that automake has for it."""
TARGET = 0.6
"""The correlation that is wanted; what is measured is published whatever it is."""
LEAST_PAIRS = 3
"""Pairs without which a rank correlation says nothing."""
LEAST_FILES = 1
"""Files that both versions must have, and that refer to TensorFlow."""
LEAST_ALIKE = 0.5
"""Least likeness of these files on the whole, as difflib counts: below, the published version is of another program."""
ABOUT = re.compile(r"\btf\b|tensorflow|npu|hccl|\bslim\b|keras|Session", re.IGNORECASE)
"""A line about TensorFlow or the NPU; the rest are paths, arguments, logging and layout."""
RESAMPLES = 10_000
"""Resamples of the bootstrap: its ends move by a hundredth or less."""


@dataclass(frozen=True)
class Pair:
    """Figures of a pair, for the files that both versions have.

    files: their number.  alike: 0 to 1.  ours, beyond: lines that were changed.
    about: of those beyond ours, lines that name TensorFlow or the NPU.
    """

    name: str
    files: int
    alike: float
    decisions: int
    places: int
    minutes: float
    ours: int
    beyond: int
    about: int


def converted(folder: Path) -> tuple[Report, dict[str, tuple[str, str]]]:
    """The report on a folder, and the text before and after of each file that refers to TensorFlow."""
    done = convert_project(Request(folder, Config(), use_cache=False))
    texts = {
        r.path: (r.before.decode("utf-8", "replace"), r.after.decode("utf-8", "replace"))
        for r in done.results
        if (r.apis or r.status is Status.FAILED) and r.path.endswith(".py") and r.before
    }
    report = build(done.results, command="scan", entries=done.entries, imports=done.imports)
    return report, texts


def partner(path: str, migrated: Path, others: dict[str, list[Path]]) -> Path | None:
    """The file of the migrated version: at the same path, or the one file of that name."""
    same = migrated / path
    named = others.get(PurePosixPath(path).name, [])
    return same if same.is_file() else named[0] if len(named) == 1 else None


def code_lines(text: str) -> list[str]:
    """Lines without what does not count: blanks, comments, spaces at either end."""
    stripped = (line.strip() for line in text.splitlines())
    return [line for line in stripped if line and not line.startswith("#")]


def changed(before: str, after: str) -> Counter[str]:
    """Code lines that are added or taken out, with the sign in front."""
    lines = list(difflib.unified_diff(code_lines(before), code_lines(after), n=0, lineterm=""))[2:]  # behind the two names
    return Counter(line for line in lines if not line.startswith("@@"))


def measured(name: str, original: Path, migrated: Path) -> Pair:
    """The figures of a pair."""
    report, texts = converted(original)
    others: dict[str, list[Path]] = {}
    for path in sorted(migrated.rglob("*.py")):
        others.setdefault(path.name, []).append(path)
    ours = beyond = about = 0
    compared: set[str] = set()
    alike: list[float] = []
    for path, (before, after) in texts.items():
        theirs = partner(path, migrated, others)
        if theirs is None:
            continue
        text = theirs.read_text(encoding="utf-8", errors="replace")
        by_us, by_them = changed(before, after), changed(before, text)
        compared.add(path)
        alike.append(difflib.SequenceMatcher(None, code_lines(before), code_lines(text), autojunk=False).ratio())
        ours += sum(by_us.values())
        more = by_them - by_us
        beyond += sum(more.values())
        about += sum(number for line, number in more.items() if ABOUT.search(line))
    report.files = [file for file in report.files if file.path in compared]
    left = decisions(report, RuleTexts(report))
    share = effort(report, left).left
    return Pair(name, len(compared), float(np.mean(alike or [0.0])), len(left), share.places, share.minutes, ours, beyond, about)


def interval(estimates: list[float], lines: list[int]) -> tuple[float, float]:
    """The ends between which 95 % of the resampled correlations lie."""
    random, pairs = np.random.default_rng(0), np.array([estimates, lines], dtype=float)
    drawn = (pairs[:, random.integers(0, pairs.shape[1], pairs.shape[1])] for _ in range(RESAMPLES))
    found = [spearmanr(*one).statistic for one in drawn if len({*one[0]}) > 1 and len({*one[1]}) > 1]
    return float(np.quantile(found, 0.025)), float(np.quantile(found, 0.975))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pairs", type=Path, nargs="?", metavar="PAIRS.txt", help="a line a pair: NAME ORIGINAL MIGRATED")
    file = parser.parse_args(arguments).pairs
    if file is None or not file.is_file():
        print(
            f"{file or 'PAIRS.txt'}: no file of pairs, so nothing was measured. Write one, a line a pair: NAME ORIGINAL MIGRATED,"
        )
        print("the last two folders with a public repository and its published NPU version (ModelZoo-TensorFlow has many).")
        return ABSENT
    lines = [line.partition("#")[0] for line in file.read_text(encoding="utf-8").splitlines()]
    named = [_words(line, file) for line in lines if line.strip()]
    absent = [f"absent: {name}, {folder}" for name, *folders in named for folder in folders if not folder.is_dir()]
    found = [measured(*pair) for pair in named if pair[1].is_dir() and pair[2].is_dir()]
    enough = show(found)
    print("\n".join(absent), end="\n" if absent else "")
    return ABSENT if absent else int(not enough)


def _words(line: str, file: Path) -> tuple[str, Path, Path]:
    """The name and the folders of a line."""
    words = line.split()
    if len(words) != 3:
        sys.exit(f"{file}: a line is no NAME ORIGINAL MIGRATED: {line.strip()!r}")
    return words[0], file.parent / words[1], file.parent / words[2]


def show(found: list[Pair]) -> bool:
    """Print the table and the correlations; False where too few pairs are alike."""
    kept = [pair for pair in found if pair.files >= LEAST_FILES and pair.alike >= LEAST_ALIKE]
    print("| project | files | alike | decisions | places | estimate, hours | lines ours | lines beyond | about TensorFlow |")
    print("|---|---|---|---|---|---|---|---|---|")
    for p in sorted(kept, key=lambda p: p.minutes):
        figures = f"{p.files} | {p.alike:.2f} | {p.decisions} | {p.places} | {p.minutes / 60:.1f}"
        print(f"| {p.name} | {figures} | {p.ours} | {p.beyond} | {p.about} |")
    for p in found:
        if p not in kept:
            print(f"Left out: {p.name}, {p.files} files that both versions have, {p.alike:.2f} alike.")
    if len(kept) < LEAST_PAIRS:
        print("Fewer than three pairs: no correlation is told.")
        return False
    estimates = [p.minutes for p in kept]
    for title, lines in (("all lines", [p.beyond for p in kept]), ("lines about TensorFlow", [p.about for p in kept])):
        if min(len({*estimates}), len({*lines})) < 2:
            print(f"Spearman with {title}: all pairs have the same, so that nothing is ranked.")
            continue
        low, high = interval(estimates, lines)
        found_here = spearmanr(estimates, lines).statistic
        print(f"Spearman with {title} over {len(kept)} pairs: {found_here:.2f} (95 %: {low:.2f} to {high:.2f}); target {TARGET}")
    return True


if __name__ == "__main__":
    sys.exit(main())
