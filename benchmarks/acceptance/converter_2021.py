"""Speed of the Apache-licensed converter of 2021, run from a checkout in an environment of its own, beside ours."""

from __future__ import annotations

import venv
from pathlib import Path

from benchmarks.acceptance.checkouts import Brought
from benchmarks.acceptance.measured import run
from benchmarks.acceptance.trial import CONVERTER

# What it needed in its day; pandas 2 dropped DataFrame.append.
_NEEDS = ("pandas<2", "numpy<2", "astunparse", "openpyxl", "xlrd==1.2.0", "six", "wheel")


def speed_of_2021(converter: Path, corpora: list[Brought], scratch: Path) -> str:
    """Lines of text: seconds of both converters on each corpus."""
    python = scratch / "env-2021" / "bin" / "python"
    venv.create(python.parent.parent, with_pip=True)
    installed = run([str(python), "-m", "pip", "install", "--quiet", *_NEEDS])
    if installed.code:
        return f"2021 converter: its environment cannot be made ({installed.stderr.strip().splitlines()[-1]})"
    return "\n".join(_compare(converter, str(python), corpus, scratch) for corpus in corpora)


def _compare(converter: Path, python: str, corpus: Brought, scratch: Path) -> str:
    place = scratch / "2021" / corpus.name
    place.mkdir(parents=True)
    words = ["-i", str(corpus.folder), "-o", str(place / "out"), "-r", str(place / "report")]
    theirs = run([python, str(converter / "main.py"), *words], cwd=converter)
    ours = run([CONVERTER, "convert", str(corpus.folder), str(place / "ours"), "--jobs", "2", "--no-cache"])
    if theirs.code or not (place / "out").exists():
        return f"2021 converter on {corpus.name}: failed ({(theirs.stderr.strip() or 'no output').splitlines()[-1]})"
    ratio = theirs.seconds / ours.seconds
    return f"2021 converter on {corpus.name}: {theirs.seconds:.1f} s, ours {ours.seconds:.1f} s: {ratio:.0f} times as fast"


