"""The converter over public code it was not written for: properties that must hold, and what it costs.

    python -m benchmarks.corpora --bert DIR --examples DIR --alexnet DIR --models DIR --model-zoo DIR --converter-2021 DIR
                                 --sdists [--jobs N] [--no-cpu] [--only-speed] [--details FILE]

DIR is a checkout or a (bare) git directory, whose HEAD is then unpacked into a temporary folder. Nothing that is brought is
changed. With --sdists the releases are fetched from the package index. Without any option everything is asked for.
Exit codes: 0 all properties hold, 1 one is violated, 77 something that was asked for is absent.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks.acceptance import table
from benchmarks.acceptance.checkouts import (
    CONVERTER_2021,
    RELEASES,
    REPOSITORIES,
    TIMED_CORPORA,
    Absent,
    Brought,
    Repository,
    bring,
    download,
)
from benchmarks.acceptance.converter_2021 import speed_of_2021
from benchmarks.acceptance.trial import Trial, attempt

ABSENT = 77


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    scratch = Path(tempfile.mkdtemp(prefix="tf2npu-corpora-", dir=options.scratch))
    try:
        brought, missing = _bring_all(options, scratch / "corpora")
        trials = [_tried(one, scratch, options) for one in brought if not options.only_speed]
        if trials:
            print(table.render(trials), flush=True)
        _details(trials, options.details)
        if options.converter_2021:
            print(speed_of_2021(options.converter_2021, [one for one in brought if one.name in TIMED_CORPORA], scratch))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    for line in missing:
        print(f"absent: {line}")
    return ABSENT if missing else int(any(trial.has_failed for trial in trials))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpora", description=__doc__.splitlines()[0])
    for repository in (*REPOSITORIES, CONVERTER_2021):
        flag = "--" + repository.option.replace("_", "-")
        parser.add_argument(flag, type=Path, metavar="DIR", help=f"checkout or git directory of {repository.where}")
    parser.add_argument("--sdists", action="store_true", help="fetch the releases from the package index")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--no-cpu", action="store_true", help="leave out the comparison with bare parsing")
    parser.add_argument("--only-speed", action="store_true", help="no properties, only the race with the 2021 converter")
    parser.add_argument("--details", type=Path, metavar="FILE", help="where every violation is listed")
    parser.add_argument("--scratch", type=Path, metavar="DIR", help="where the temporary folder is made")
    return parser


def _bring_all(options: argparse.Namespace, into: Path) -> tuple[list[Brought], list[str]]:
    """The corpora that were asked for, and a line for each that is not there."""
    given = {r.option: getattr(options, r.option) for r in (*REPOSITORIES, CONVERTER_2021)}
    everything = not any(given.values()) and not options.sdists
    brought, missing = [], []
    for repository in (*REPOSITORIES, CONVERTER_2021):
        if given[repository.option] is None:
            missing += [_wanted(repository)] if everything else []
        else:
            _try(lambda r=repository: bring(r, given[r.option], into), brought, missing)
    for requirement, name in RELEASES if options.sdists else ():
        _try(lambda r=requirement, n=name: download(r, n, into), brought, missing)
    if everything:
        missing.append("the releases: say --sdists to fetch them from the package index")
    converter = [one for one in brought if one.name == CONVERTER_2021.name]
    options.converter_2021 = converter[0].folder if converter else None
    return [one for one in brought if one not in converter], missing


def _wanted(repository: Repository) -> str:
    flag = "--" + repository.option.replace("_", "-")
    return f"{repository.name}: give {flag} DIR; the public repository is {repository.where}"


def _try(get, brought: list[Brought], missing: list[str]) -> None:
    try:
        one = get()
    except Absent as absent:
        missing.append(str(absent))
        return
    note = f", {one.n_absent} files are not in the git directory" if one.n_absent else ""
    print(f"{one.name}: {one.version}{note}", flush=True)
    brought.append(one)


def _tried(one: Brought, scratch: Path, options: argparse.Namespace) -> Trial:
    place = scratch / "trials" / one.name.replace(" ", "-")
    place.mkdir(parents=True)
    trial = attempt(one, place, options.jobs, not options.no_cpu)
    shutil.rmtree(place, ignore_errors=True)
    print(table.line(trial), flush=True)
    return trial


def _details(trials: list[Trial], file: Path | None) -> None:
    lines = [f"{t.name}\t{kind}\t{text}" for t in trials for kind, found in t.violations.items() for text in found]
    if file is not None:
        file.write_text("\n".join(lines) + "\n", encoding="utf-8", errors="backslashreplace")
    for line in lines[:40] if file is None else ():
        print(line)


if __name__ == "__main__":
    sys.exit(main())
