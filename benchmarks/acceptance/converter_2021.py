"""Speed of the Apache-licensed converter of 2021, run from a checkout in an environment of its own, beside ours."""

from __future__ import annotations

import shutil
import venv
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.acceptance.checkouts import Brought
from benchmarks.acceptance.measured import run
from benchmarks.acceptance.trial import CONVERTER

_TURNS = 3  # of ours, which take seconds where theirs take minutes; the median counts
# What it needed in its day; pandas 2 dropped DataFrame.append.
_NEEDS = ("pandas<2", "numpy<2", "astunparse", "openpyxl", "xlrd==1.2.0", "six", "wheel")


def speed_of_2021(converter: Path, corpora: list[Brought], scratch: Path) -> str:
    """Lines of text: seconds of both converters on each corpus."""
    python = scratch / "env-2021" / "bin" / "python"
    venv.create(python.parent.parent, with_pip=True)
    installed = run([str(python), "-m", "pip", "install", "--quiet", *_NEEDS])
    if installed.code:
        return f"2021 converter: its environment cannot be made ({installed.stderr.strip().splitlines()[-1]})"
    rows = [_compare(converter, str(python), corpus, scratch) for corpus in corpora]
    survived = [corpus for corpus, row in zip(corpora, rows, strict=True) if row.theirs]
    together = _compare(converter, str(python), _in_one_folder(survived, scratch), scratch)
    return "\n".join([*(row.text for row in rows), _total([row for row in rows if row.theirs]), together.text])


def _in_one_folder(corpora: list[Brought], scratch: Path) -> Brought:
    """The corpora side by side, so that a run is long enough for its start not to count."""
    folder = scratch / "together"
    for corpus in corpora:
        shutil.copytree(corpus.folder, folder / corpus.name, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    return Brought("these in one folder", folder, "")


@dataclass(frozen=True)
class _Row:
    """One corpus: lines of Python, seconds of either converter (theirs 0 where theirs fails) and the words about it."""

    lines: int
    theirs: float
    ours: float
    text: str


def _compare(converter: Path, python: str, corpus: Brought, scratch: Path) -> _Row:
    place = scratch / "2021" / corpus.name
    place.mkdir(parents=True)
    given = place / "corpus_of_the_race"  # it cuts paths at the name of the input folder, wherever that stands in them
    given.symlink_to(corpus.folder.resolve())
    words = ["-i", str(given), "-o", str(place / "out"), "-r", str(place / "report")]
    theirs = run([python, str(converter / "main.py"), *words], cwd=converter, weighs=False)
    ours = median(_our_seconds(corpus, place / f"ours-{turn}") for turn in range(_TURNS))
    lines = sum(path.read_bytes().count(b"\n") for path in corpus.folder.rglob("*.py") if path.is_file())
    if theirs.code or not (place / "out").exists():
        errors = [line for line in theirs.stderr.splitlines() if "Error" in line]
        reason = errors[-1] if errors else f"exit code {theirs.code}, no output"
        return _Row(lines, 0.0, ours, f"2021 converter on {corpus.name}: failed ({reason}), ours {ours:.1f} s")
    ratio = theirs.seconds / ours
    text = f"2021 converter on {corpus.name}: {theirs.seconds:.1f} s, ours {ours:.1f} s: {ratio:.1f} times as fast"
    return _Row(lines, theirs.seconds, ours, text)


def _our_seconds(corpus: Brought, out: Path) -> float:
    return run([CONVERTER, "convert", str(corpus.folder), str(out), "--jobs", "2", "--no-cache"], weighs=False).seconds


def _total(rows: list[_Row]) -> str:
    """The totals of both converters over the corpora that the other one survives."""
    lines, theirs, ours = (sum(values) for values in zip(*((r.lines, r.theirs, r.ours) for r in rows), strict=True))
    return (
        f"2021 converter on all {len(rows)}: {lines:,} lines, {lines / theirs:,.0f} lines/s, "
        f"ours {lines / ours:,.0f} lines/s with report: {theirs / ours:.1f} times as fast"
    )
