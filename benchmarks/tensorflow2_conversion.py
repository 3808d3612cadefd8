"""The conversion of other people's scripts for TensorFlow 2: ones that have moved, texts before a move, and tutorials.

    python -m benchmarks.tensorflow2_conversion [--model-zoo DIR] [--scripts DIR ...] [--first N] [--limit SECONDS]

DIR: a checkout of the vendor's ModelZoo-TensorFlow; checkouts of tutorials for TensorFlow 2, whose scripts, notebooks and texts
are shortened and run on made-up data.  Exit codes: 0 no file that has moved is edited, each edit of the vendor's people has an
answer, each script's conversion runs where the script does, and a second conversion changes nothing; 1 otherwise; 77 without any.
"""

from __future__ import annotations

import argparse
import filecmp
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.public_scripts import running, texts, vendor_edits

ABSENT = 77
_PROJECT = re.compile(r"_for_tensorflow2(?:\.x)?$", re.IGNORECASE)
_REPORT = "tf2npu-report"
_IN_CODE = re.compile(r"^[^#\n]*npu_device", re.MULTILINE)


def main(argv: list[str] | None = None) -> int:
    options = _options(argv)
    zoo = options.model_zoo / "TensorFlow2" if options.model_zoo is not None else None
    if (zoo is None or not zoo.is_dir()) and not options.scripts:
        print(f"--model-zoo {options.model_zoo}: no checkout of ModelZoo-TensorFlow, and no --scripts")
        return ABSENT
    with tempfile.TemporaryDirectory(prefix="tensorflow2-conversion-") as temporary:
        scratch = Path(temporary)
        good = True
        if zoo is not None and zoo.is_dir():
            good = all([moved_stay(zoo, scratch / "moved"), edits_have_answers(zoo, scratch / "edits")])
        if options.scripts:
            good = scripts_run(options.scripts, scratch / "scripts", options.first, options.limit) and good
    return 0 if good else 1


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tensorflow2_conversion", description=__doc__.splitlines()[0])
    parser.add_argument("--model-zoo", type=Path)
    parser.add_argument("--scripts", type=Path, nargs="*", default=[])
    parser.add_argument("--first", type=int, default=60, help="scripts that run before and are run converted")
    parser.add_argument("--limit", type=int, default=60, help="seconds a script")
    return parser.parse_args(argv)


def convert(source: Path, out: Path, *flags: str) -> int:
    """The exit code of a conversion."""
    command = [sys.executable, "-m", "tf2npu", "convert", str(source), str(out), "-q", "--no-cache", "--jobs", "1", *flags]
    return subprocess.run(command, capture_output=True, check=False).returncode


def moved_stay(zoo: Path, scratch: Path) -> bool:
    """Convert each project that has a file with npu_device, twice; no such file may differ, and the second time nothing."""
    named = [path for path in sorted(zoo.rglob("*.py")) if b"npu_device" in path.read_bytes()]
    moved = [path for path in named if _IN_CODE.search(path.read_text(errors="replace"))]
    projects = sorted({parent for path in named for parent in path.parents if _PROJECT.search(parent.name)})
    edited, changed, codes = [], [], []
    for number, project in enumerate(projects):
        out, again = scratch / f"{number}-1", scratch / f"{number}-2"
        codes.append(convert(project, out))
        edited += [path for path in moved if path.is_relative_to(project) and not _is_same(path, project, out)]
        convert(out, again, "--exclude", _REPORT)
        changed += [path for path in sorted(out.rglob("*.py")) if not _is_same(path, out, again)]
    print(f"files that name npu_device: {len(named)} in {len(projects)} projects, {len(named) - len(moved)} in comments alone")
    print(f"of the {len(moved)} that use it {len(edited)} are edited")
    print("".join(f"  edited: {path.relative_to(zoo)}\n" for path in edited), end="")
    print(f"conversions that ended with 0, 1, 3: {[codes.count(code) for code in (0, 1, 3)]}; others: {set(codes) - {0, 1, 3}}")
    print(f"files that a second conversion changes: {len(changed)}")
    print("".join(f"  changed again: {path.relative_to(scratch)}\n" for path in changed), end="", flush=True)
    return not edited and not changed and set(codes) <= {0, 1, 3}


def _is_same(path: Path, source: Path, out: Path) -> bool:
    other = out / path.relative_to(source)
    return other.exists() and filecmp.cmp(path, other, shallow=False)


def edits_have_answers(zoo: Path, scratch: Path) -> bool:
    """Take the NPU out of the models, convert them, and print what answers each edit."""
    results = []
    for model in vendor_edits.MODELS:
        results.append(vendor_edits.answered(zoo, model, scratch / model))
        print(vendor_edits.line(results[-1]), flush=True)
        print("".join(f"  no answer: {edit}\n" for edit in results[-1].missed), end="")
    n_missed = sum(len(result.missed) for result in results)
    print(f"edits of {len(results)} models: {sum(len(r.answers) for r in results)}, without an answer: {n_missed}")
    return n_missed == 0


def scripts_run(repositories: list[Path], scratch: Path, first: int, limit: int) -> bool:
    """Shorten the scripts of some repositories, run them, and run the conversions of those that end with 0."""
    paths = []
    for repository in repositories:
        found = texts.copy_tree(repository, scratch / "before" / repository.name)
        paths += [f"{repository.name}/{path}" for path in found]
        convert(scratch / "before" / repository.name, scratch / "after" / repository.name, "--target", "tf2")
        convert(
            scratch / "after" / repository.name, scratch / "again" / repository.name, "--target", "tf2", "--exclude", _REPORT
        )  # fmt: skip
    opened = [path for path in paths if running.is_opened(scratch / "after" / path)]
    changed = [path for path in paths if not _is_same(scratch / "after" / path, scratch / "after", scratch / "again")]
    before = running.run(scratch / "before", opened, limit, first)
    good = [path for path, outcome in before.items() if outcome.code == 0]
    after = running.run(scratch / "after", good, 3 * limit)
    failed = {path: outcome for path, outcome in after.items() if outcome.code != 0}
    print(f"scripts: {len(paths)}, run by themselves: {len(opened)}, tried: {len(before)}, end with 0: {len(good)}")
    print(f"conversions that run: {len(good) - len(failed)} of {len(good)}; changed by a second one: {len(changed)}")
    print("".join(f"  {path}: exit code {o.code}, {o.last_line}\n" for path, o in failed.items()), end="")
    print("".join(f"  changed again: {path}\n" for path in changed), end="")
    return not failed and not changed and len(good) >= first


if __name__ == "__main__":
    sys.exit(main())
