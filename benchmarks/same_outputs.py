"""Two checkouts of tf2npu over the same corpora: whether they write the same bytes, and which of them is faster.

    python -m benchmarks.same_outputs OTHER CORPUS... [--kept DIR] [--turns N] [--jobs N] [--no-findings]

OTHER is a checkout of tf2npu, mostly of an older commit. Each CORPUS is a folder; nothing in it is changed. With --kept the
outputs of OTHER are written there, or read where they are already. With --turns both convert each corpus N times by turns, in
one process each; variables of OpenBLAS are taken out.
Exit codes: 0 all outputs are the same, 1 one is not, 77 OTHER or a corpus is not there.
"""

from __future__ import annotations

import argparse
import filecmp
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from benchmarks.acceptance.measured import Cost, run

ABSENT = 77
ROOT = Path(__file__).parents[1]
REPORT = "tf2npu-report"
_WITH = ["--no-cache", "--force", "--data", "skip", "--format", "json"]


class Compared(NamedTuple):
    """The differences of two outputs.  files: whose bytes differ, or that one side has not.  findings: places told otherwise."""

    n_files: int
    files: list[str]
    findings: list[str]
    codes: tuple[int, int]

    @property
    def is_same(self) -> bool:
        return not self.files and len(set(self.codes)) == 1


def main(argv: list[str] | None = None) -> int:
    options = _options(argv)
    missing = [str(path) for path in (options.other / "tf2npu", *options.corpora) if not path.is_dir()]
    if missing:
        print(f"not there: {', '.join(missing)}; give a checkout of tf2npu and folders of scripts")
        return ABSENT
    good = []
    with tempfile.TemporaryDirectory(prefix="tf2npu-same-outputs-") as temporary:
        for corpus in options.corpora:
            kept = (options.kept or Path(temporary) / "other") / corpus.name
            found = compared(options.other, corpus, kept, Path(temporary) / "here" / corpus.name, options.jobs)
            good.append(found.is_same)
            print(_line(corpus, found, with_findings=not options.no_findings), flush=True)
            if options.turns:
                print(by_turns(options.other, corpus, Path(temporary) / "turns", options.turns), flush=True)
    return 0 if all(good) else 1


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.same_outputs", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("other", type=Path)
    parser.add_argument("corpora", type=Path, nargs="+")
    parser.add_argument("--kept", type=Path, metavar="DIR", help="where the outputs of OTHER are, or are to be")
    parser.add_argument("--turns", type=int, default=0, help="times that each side converts a corpus, for the ratio of times")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--no-findings", action="store_true", help="do not list findings that differ")
    return parser.parse_args(argv)


def convert(checkout: Path, corpus: Path, out: Path, jobs: int = 1, *, weighs: bool = False) -> Cost:
    """Convert a corpus by the code of a checkout."""
    out.parent.mkdir(parents=True, exist_ok=True)
    taken = [name for name in os.environ if name.startswith(("OPENBLAS_", "TF2NPU_"))]
    environment = ["env", *(word for name in taken for word in ("-u", name)), f"PYTHONPATH={checkout.resolve()}"]
    command = [*environment, sys.executable, "-m", "tf2npu", "convert", str(corpus.resolve()), str(out.resolve()), *_WITH]
    command += ["--jobs", str(jobs)]
    return run(command, cwd=out.parent, weighs=weighs)


def compared(other: Path, corpus: Path, kept: Path, out: Path, jobs: int) -> Compared:
    """Convert by both, unless the outputs of the other are there already, and look at every byte."""
    record = kept.with_name(f"{kept.name}.exit_code")
    if not record.exists():
        record.parent.mkdir(parents=True, exist_ok=True)
        code = convert(other, corpus, kept, jobs).code
        record.write_text(str(code), encoding="ascii")
    codes = int(record.read_text(encoding="ascii")), convert(ROOT, corpus, out, jobs).code
    paths = sorted({path.relative_to(side) for side in (kept, out) for path in side.rglob("*") if _is_output(path, side)})
    files = [str(path) for path in paths if not _is_same(kept / path, out / path)]
    return Compared(len(paths), files, sorted(_findings(kept) ^ _findings(out)), codes)


def _is_output(path: Path, side: Path) -> bool:
    return path.relative_to(side).parts[0] != REPORT and (path.is_symlink() or not path.is_dir())


def _is_same(one: Path, other: Path) -> bool:
    if one.is_symlink() or other.is_symlink():
        return one.is_symlink() and other.is_symlink() and one.readlink() == other.readlink()
    return one.is_file() and other.is_file() and filecmp.cmp(one, other, shallow=False)


def _findings(out: Path) -> set[str]:
    report = out / REPORT / "report.json"
    files = json.loads(report.read_text(encoding="utf-8"))["files"] if report.exists() else []
    return {f"{file['path']}:{f['line']} {f['rule']} {f['level']} {f['message']}" for file in files for f in file["findings"]}


def _line(corpus: Path, found: Compared, *, with_findings: bool) -> str:
    lines = [f"{corpus.name}: {found.n_files} files, {len(found.files)} differ; exit codes {found.codes[0]}, {found.codes[1]}; "]
    lines[0] += f"{len(found.findings)} findings of one side alone"
    lines += [f"  differs: {path}" for path in found.files]
    return "\n".join([*lines, *(f"  finding: {text}" for text in found.findings if with_findings)])


def by_turns(other: Path, corpus: Path, scratch: Path, turns: int) -> str:
    """The processor times of both, a conversion each by turns; the side that begins changes."""
    seconds: dict[Path, list[float]] = {other: [], ROOT: []}
    for turn in range(turns):
        for checkout in (other, ROOT) if turn % 2 else (ROOT, other):
            seconds[checkout].append(convert(checkout, corpus, scratch / f"{corpus.name}-{checkout is ROOT}").cpu_seconds)
    ratios = [here / there for here, there in zip(seconds[ROOT], seconds[other], strict=True)]
    here, there = (statistics.median(seconds[checkout]) for checkout in (ROOT, other))
    spread = f"{min(ratios):.3f} to {max(ratios):.3f}"
    return f"  processor time: {here:.2f} s here, {there:.2f} s by the other; ratio {statistics.median(ratios):.3f} ({spread})"


if __name__ == "__main__":
    sys.exit(main())
