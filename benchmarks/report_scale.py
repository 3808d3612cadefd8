"""A report of many files: seconds and memory to write it, size of its pages, and how fast they open and filter in Chromium.

    python -m benchmarks.report_scale --files 19000 --findings 42000

Prints a row for each figure with what is asked for. Exit code 1 where one is missed. Times are Chromium's own, of pages from
file:// addresses; the median of --repeats.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.large_report import large_report, write_json
from tests.report.browser import Browser

PAGE_BYTES = 1_000_000
PAGE_ELEMENTS = 10_000
LIST_ELEMENTS = 3_000
INDEX_BYTES = 200_000
_TIMED = """
new Promise((resolve) => {{ const start = performance.now(); {};
  requestAnimationFrame(() => {{ document.body.offsetHeight; resolve(performance.now() - start); }}); }})
"""
_MEASURE = """
import os, subprocess, sys, time
start = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(time.perf_counter() - start, usage.ru_maxrss, os.waitstatus_to_exitcode(status))
"""
"""Run by a small process: the largest memory of a child counts what its parent held when it was forked."""
_OPENED = "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
_FIELD = "document.querySelector('.tools input')"
ACTIONS = {
    "findings.html": {
        "one filter": (f"const f = {_FIELD}; f.value = 'session config'; f.dispatchEvent(new Event('input'))", 50),
        "clear it": (f"const f = {_FIELD}; f.value = ''; f.dispatchEvent(new Event('input'))", 50),
    },
    "files.html": {
        "sort the files": ("document.querySelectorAll('#files thead button')[2].click()", 100),
        "sort them by name": ("document.querySelectorAll('#files thead button')[0].click()", 100),
    },
}


@dataclass(frozen=True)
class Figure:
    name: str
    found: float
    most: float
    unit: str

    def __str__(self) -> str:
        return f"{self.name:55} {self.found:12,.2f} {self.unit:9} asked for {self.most:,.2f}{'' if self.is_met else '  MISSED'}"

    @property
    def is_met(self) -> bool:
        return self.found <= self.most


def write_figures(document: Path, folder: Path) -> list[Figure]:
    """Seconds, memory of the largest process, and size."""
    words = [sys.executable, "-m", "tf2npu", "report", str(document), "--format", "html", "--report", str(folder)]
    measured = subprocess.run([sys.executable, "-c", _MEASURE, *words], stdout=subprocess.PIPE, check=True, text=True)
    seconds, memory, code = map(float, measured.stdout.split())
    assert code in (0, 1), code
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return [
        Figure("report --format html", seconds, 30, "s"),
        Figure("memory of the writer", memory / 1024, 400, "MB"),
        Figure("all files of the report", size / 1e6, 250, "MB"),
    ]


def size_figures(folder: Path) -> list[Figure]:
    """The largest page by bytes and by elements, over all files, and the first page."""
    sizes, elements = {}, {}
    for path in folder.rglob("*"):
        if path.suffix in (".html", ".js", ".css"):
            text = path.read_text(encoding="utf-8")
            sizes[path.name] = path.stat().st_size
            elements[path.name] = len(re.findall(r"<[a-z]", text)) if path.suffix == ".html" else 0
    lists = [name for name in elements if name in ("index.html", "findings.html", "files.html", "apis.html", "decisions.html")]
    return [
        Figure("index.html", sizes["index.html"] / 1e3, INDEX_BYTES / 1e3, "kB"),
        Figure("elements of the first page of a list", max(elements[name] for name in lists), LIST_ELEMENTS, ""),
        Figure(f"largest page ({max(sizes, key=sizes.__getitem__)})", max(sizes.values()) / 1e3, PAGE_BYTES / 1e3, "kB"),
        Figure(f"most elements ({max(elements, key=elements.__getitem__)})", max(elements.values()), PAGE_ELEMENTS, ""),
    ]


def browser_figures(folder: Path, profile: Path, repeats: int) -> list[Figure]:
    found: dict[tuple[str, float, str], list[float]] = {}
    browser = Browser(profile)
    for name in ("index.html", "findings.html", "files.html", "apis.html", "decisions.html"):
        for _ in range(repeats):
            browser.open((folder / name).as_uri())
            found.setdefault((f"open {name}", 0.5, "s"), []).append(browser.ask(_OPENED) / 1000)
            for action, (script, most) in ACTIONS.get(name, {}).items():
                taken = browser.ask(_TIMED.format(script), waits=True)
                found.setdefault((f"{name}: {action}", most, "ms"), []).append(taken)
    browser.close()
    return [Figure(name, statistics.median(taken), most, unit) for (name, most, unit), taken in found.items()]


def figures(n_files: int, n_findings: int, repeats: int) -> list[Figure]:
    """All figures of a report of that size."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        write_json(large_report(n_files, n_findings), place / "report.json")
        written = write_figures(place / "report.json", place / "report")
        return [*written, *size_figures(place / "report"), *browser_figures(place / "report", place / "profile", repeats)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=19_000)
    parser.add_argument("--findings", type=int, default=42_000)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    found = figures(given.files, given.findings, given.repeats)
    print(*found, sep="\n")
    return 0 if all(figure.is_met for figure in found) else 1


if __name__ == "__main__":
    raise SystemExit(main())
