"""The conversion of other people's PyTorch code for CUDA: what is left, what is edited, and what the vendor's converter does.

    python -m benchmarks.pytorch_conversion [CHECKOUT=DIR ...] [--projects DIR ...] [--others DIR ...]
                                            [--vendor DIR --vendor-python PYTHON] [--edits FILE] [--details FILE] [--turns N]

CHECKOUT is one of the repositories in benchmarks/cuda_code/scripts.py.  --projects: folders of repositories that use PyTorch;
--others: folders of repositories that do not.  --vendor: its converter, compared on its own examples and on public scripts;
PYTHON has the packages that it needs.  Nothing in a folder is changed.  Exit codes: 0 each file compiles, a second conversion
changes nothing, no name of CUDA is left unsaid, no file without PyTorch is edited and each of the vendor's changes has an answer;
1 otherwise; 77 something is not there.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks.acceptance.checkouts import Brought
from benchmarks.acceptance.trial import REPORT, Trial, attempt
from benchmarks.cuda_code import vendor
from benchmarks.cuda_code.looked_at import Looked, look_at
from benchmarks.cuda_code.scripts import CHECKOUTS, FOLDERS, VENDOR_FOLDERS
from benchmarks.cuda_code.turns import against_vendor

ABSENT = 77
_MAY_BE = ("undefined_by_star", "lone_imports")


def main(argv: list[str] | None = None) -> int:
    options = _options(argv)
    given = {name: Path(folder) for name, _, folder in (word.partition("=") for word in options.checkouts)}
    missing = [_wanted(name, where) for name, where in CHECKOUTS.items() if not given.get(name, Path("/nonexistent")).is_dir()]
    missing += [f"{folder} is not there" for folder in (*options.projects, *options.others) if not folder.is_dir()]
    is_vendor_there = options.vendor is not None and (options.vendor / vendor.PROGRAM).is_dir()
    missing += [] if is_vendor_there else [f"the vendor's converter: give --vendor DIR, {vendor.WHERE}"]
    good = []
    with tempfile.TemporaryDirectory(prefix="tf2npu-pytorch-conversion-") as temporary:
        scratch = Path(temporary)
        folders = [given[name] / below for name, below in FOLDERS if name in given and (given[name] / below).is_dir()]
        good += [_looked(folder, scratch, options, uses_torch=True, is_named=True) for folder in folders]
        good += [_looked(folder, scratch, options, uses_torch=True) for root in options.projects for folder in _below(root)]
        good += [_looked(folder, scratch, options, uses_torch=False) for root in options.others for folder in _below(root)]
        if is_vendor_there:
            own = _below(options.vendor / vendor.EXAMPLES / "net")
            public = [given[name] / below for name, below in VENDOR_FOLDERS if name in given]
            good.append(against_vendor(options.vendor, options.vendor_python, [*own, *public], scratch / "vendor", options.turns))
    print("".join(f"absent: {line}\n" for line in missing), end="")
    return 1 if not all(good) else ABSENT if missing else 0


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.pytorch_conversion", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("checkouts", nargs="*", metavar="CHECKOUT=DIR")
    parser.add_argument("--projects", type=Path, nargs="*", default=[], metavar="DIR")
    parser.add_argument("--others", type=Path, nargs="*", default=[], metavar="DIR")
    parser.add_argument("--vendor", type=Path, metavar="DIR")
    parser.add_argument("--vendor-python", type=Path, metavar="PYTHON", default=Path(sys.executable))
    parser.add_argument("--edits", type=Path, metavar="FILE", help="where every edit is listed, to be read")
    parser.add_argument("--details", type=Path, metavar="FILE", help="where all that is wrong is listed")
    parser.add_argument("--turns", type=int, default=3, help="conversions by each converter for the ratio of times")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args(argv)
    for file in (options.edits, options.details):
        if file is not None:
            file.write_text("", encoding="utf-8")
    return options


def _wanted(name: str, where: str) -> str:
    return f"{name}: give {name}=DIR, a checkout of {where}"


def _below(root: Path) -> list[Path]:
    return sorted(folder for folder in root.iterdir() if folder.is_dir()) if root.is_dir() else []


def _looked(folder: Path, scratch: Path, options: argparse.Namespace, *, uses_torch: bool, is_named: bool = False) -> bool:
    """Convert a folder, print a line of what came of it, and list what is to be read.  Returns: whether all is as it must be."""
    place = scratch / "trial"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    name = f"{folder.parent.name}/{folder.name}" if is_named else folder.name
    trial = attempt(Brought(name, folder, ""), place, options.jobs, measure_cpu=False)
    report = place / "out" / REPORT
    files = json.loads(report.read_text(encoding="utf-8"))["files"] if report.exists() else []
    looked = look_at(name, folder, place / "out", files)
    wrong = _wrong(trial, looked, uses_torch=uses_torch)
    print(_line(trial, looked, wrong), flush=True)
    _append(options.edits, (str(edit) for edit in looked.edits))
    _append(options.details, wrong)
    return not wrong and trial.first is not None


def _append(file: Path | None, lines) -> None:
    if file is not None:
        with file.open("a", encoding="utf-8", errors="backslashreplace") as target:
            target.writelines(f"{line}\n" for line in lines)


def _wrong(trial: Trial, looked: Looked, *, uses_torch: bool) -> list[str]:
    lines = [f"{trial.name}\t{kind}\t{text}" for kind, found in trial.violations.items() if kind not in _MAY_BE for text in found]
    lines += [f"{trial.name}\tunsaid\t{text}" for text in looked.unsaid]
    return lines + [f"{trial.name}\tedited without PyTorch\t{path}" for path in looked.without_torch if not uses_torch]


def _line(trial: Trial, looked: Looked, wrong: list[str]) -> str:
    seconds = trial.first.seconds if trial.first else 0.0
    kinds = ", ".join(f"{kind} {len(found)}" for kind, found in trial.violations.items() if found)
    told = ", ".join(f"{level} {count}" for level, count in trial.findings.items() if count)
    return (
        f"{trial.name}: {trial.n_files} files, {trial.n_lines} lines, {seconds:.1f} s; {trial.n_changed} converted, "
        f"{len(looked.edits)} edits, {len(looked.without_torch)} files without an import of torch edited; names of CUDA: "
        f"{looked.n_before} before, {looked.n_after} after, {len(looked.unsaid)} unsaid; findings: {told or 'none'}; "
        f"{'GOOD' if not wrong else 'WRONG'}{f' ({kinds})' if kinds else ''}"
    )


if __name__ == "__main__":
    sys.exit(main())
