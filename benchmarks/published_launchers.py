"""Launchers of eight ranks of the vendor's model zoo, run with two ranks and with eight on synthetic data.

    python -m benchmarks.published_launchers CHECKOUT [--only NAME,NAME] [--ranks 2,8] [--keep DIR]

CHECKOUT: a local copy of the zoo (https://gitee.com/ascend/ModelZoo-TensorFlow), with its folder `TensorFlow`. Nothing of it is
changed: each launcher runs in a copy of its model's folder, with its counts of steps cut. Exit code: 0 when every rank of every
launcher ended well; 77 where the checkout is absent; else 1.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks.launchers.catalogue import LAUNCHERS
from benchmarks.launchers.launcher import Launcher
from benchmarks.launchers.run import Outcome, run_launcher

ABSENT = 77
"""Exit code of a check that could not be made for want of what it checks; the one that automake has for it."""
SECONDS = 1800.0
"""Of one launcher at most; eight ranks on two cores take up to ten minutes."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=Path, nargs="?", default=Path("ModelZoo-TensorFlow"))
    parser.add_argument("--only", default=",".join(one.name for one in LAUNCHERS), help="names, with commas")
    parser.add_argument("--ranks", default="2,8", help="how many, with commas")
    parser.add_argument("--keep", type=Path, help="an empty folder for the copies and their logs")
    options = parser.parse_args()
    if not (options.checkout / "TensorFlow" / "built-in").is_dir():
        print(f"{options.checkout}: no checkout of the vendor's model zoo (ModelZoo-TensorFlow); nothing was run")
        return ABSENT
    with tempfile.TemporaryDirectory(prefix="launchers-") as folder:
        place = (options.keep or Path(folder)).resolve()
        place.mkdir(exist_ok=True)
        return _run(options, place)


def _run(options: argparse.Namespace, place: Path) -> int:
    wanted = options.only.split(",")
    failed = 0
    print(
        "| launcher | ranks | exit code | steps shown | last loss of each rank | weights the same | minutes |\n"
        + "|---" * 7
        + "|"
    )
    for launcher in (one for one in LAUNCHERS if one.name in wanted):
        data = place / "data" / launcher.data.__name__
        if not data.is_dir():
            data.mkdir(parents=True)
            launcher.data(data)
        for ranks in map(int, options.ranks.split(",")):
            at = place / f"{launcher.name}-{ranks}"
            outcome = run_launcher(launcher, options.checkout.resolve(), data, ranks, at, SECONDS)
            failed += not outcome.went_well()
            print(_row(launcher, ranks, outcome), flush=True)
    return int(failed > 0)


def _row(launcher: Launcher, ranks: int, outcome: Outcome) -> str:
    status = "ended after its time" if outcome.status is None else outcome.status
    steps = "/".join(map(str, sorted({len(losses) for losses in outcome.losses})))
    last = " ".join(losses[-1] if losses else "-" for losses in outcome.losses)
    weights = f"{outcome.weights[0]} of {outcome.weights[1]}" if outcome.weights[1] else "none saved"
    return f"| {launcher.name} | {ranks} | {status} | {steps} | {last} | {weights} | {outcome.minutes:.1f} |"


if __name__ == "__main__":
    sys.exit(main())
