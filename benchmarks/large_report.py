"""A report of any size, as a tree of many projects gives it: the examples, many times over, with the lengths of real files."""

from __future__ import annotations

import dataclasses
import itertools
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tf2npu.findings import Finding, Status
from tf2npu.report.formats import as_json
from tf2npu.report.model.report import FileReport, Lines, Report

ROOT = Path(__file__).parent.parent
LINES_OF_A_FILE = 160
"""Lines of a file with a page, for pages as large as those of 18,872 files of three public trees: 36 kB each without their style
sheet and script, before unchanged lines stood on a page once."""
SHARE_WITH_PAGE = 0.6
"""Of 18,872 files of three public trees 11,200 had a page."""


def seeds() -> Report:
    """The report on the examples of this repository."""
    with tempfile.TemporaryDirectory() as name:
        words = ["scan", "examples", "--report", name, "--format", "json", "--jobs", "1"]
        subprocess.run([sys.executable, "-m", "tf2npu", *words], cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
        return as_json.load((Path(name) / "report.json").read_bytes())


def large_report(n_files: int, n_findings: int) -> Report:
    """A report of so many files and about so many findings, in folders of forty files each."""
    seed = seeds()
    with_page = [file for file in seed.files if file.has_page]
    texts = itertools.cycle(_fillers())
    files: list[FileReport] = []
    n_pages = int(n_files * SHARE_WITH_PAGE)
    mean = n_findings / n_pages
    left = 0.0
    for number in range(n_files):
        folder = f"project_{number // 400:03}/part_{number // 40 % 10}"
        if number % 100 >= 100 * SHARE_WITH_PAGE:
            files.append(FileReport(f"{folder}/module_{number}.py", Status.UNCHANGED))
            continue
        left += mean
        took = int(left)
        left -= took
        files.append(_repeated(with_page[number % len(with_page)], f"{folder}/train_{number}.py", took, next(texts)))
    return dataclasses.replace(seed, files=sorted(files, key=lambda file: file.path))


def _repeated(seed: FileReport, path: str, n_findings: int, filler: str) -> FileReport:
    """A seed under another name, with so many of its findings (again, where it has fewer) and lines below it."""
    found: list[Finding] = list(itertools.islice(itertools.cycle(seed.findings), n_findings))
    source = seed.source or ""
    missing = max(0, LINES_OF_A_FILE - len(Lines(source)))
    more = "".join(filler.splitlines(keepends=True)[:missing])
    return dataclasses.replace(seed, path=path, findings=found, source=source + more)


def _fillers() -> Iterator[str]:
    """Ordinary Python, of this project."""
    for path in sorted((ROOT / "npu_runtime").glob("*.py")):
        text = path.read_text(encoding="utf-8")
        if text.count("\n") > 150:
            yield text


def write_json(report: Report, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for piece in as_json.pieces(report):
            file.write(piece)
    json.loads(path.read_bytes())
