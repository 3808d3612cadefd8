"""Runs migrated scripts written by others, untouched, on the simulated device, and says how each went.

    python -m benchmarks.migrated_scripts --model-zoo DIR [--rows 5,9] [--how run,python] [--keep FOLDER]

DIR: a checkout of the vendor's ModelZoo-TensorFlow or its bare git directory.  Exit code: 0 when, under `tf2npu run`, all end
with 0 and no loss of a run of 20 steps or more rises; 1 otherwise; 77 without the model zoo.  Under plain `python` scripts that
touch tensorflow.contrib ahead of npu_bridge must fail, so that count is printed only.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.migrated import zoo
from benchmarks.migrated.outcome import Outcome, run
from benchmarks.migrated.rows import ROWS, Row

ABSENT = 77
N_STEPS = 20


def main(argv: list[str] | None = None) -> int:
    """Run the rows and print the table."""
    options = _options(argv)
    if zoo.find(options.model_zoo) is None:
        print(f"--model-zoo {options.model_zoo}: no checkout and no git directory of ModelZoo-TensorFlow")
        return ABSENT
    wanted = [row for row in ROWS if not options.rows or row.number in options.rows]
    print(f"model zoo at commit {zoo.commit(options.model_zoo)}\n\n{_HEADER}", flush=True)
    counts = dict.fromkeys(options.how, 0)
    with tempfile.TemporaryDirectory(prefix="migrated-") as temporary:
        out = options.keep or Path(temporary)
        for row in wanted:
            for how in options.how:
                outcome = attempt(row, how, options.model_zoo, out / f"{row.number}-{how}", options.time_out)
                counts[how] += is_good(outcome)
                print(_line(row, how, outcome), flush=True)
    for how, n in counts.items():
        print(f"{'tf2npu run' if how == 'run' else 'python'}: {n} of {len(wanted)}")
    return 0 if counts.get("run", len(wanted)) == len(wanted) else 1


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model-zoo", type=Path, required=True)
    parser.add_argument("--rows", type=lambda text: {int(number) for number in text.split(",")}, default=set())
    parser.add_argument("--how", type=lambda text: text.split(","), default=["run", "python"])
    parser.add_argument("--keep", type=Path, help="folder for scripts, data and logs; a temporary one when not given")
    parser.add_argument("--time-out", type=float, default=900.0, help="seconds a script")
    return parser.parse_args(argv)


def attempt(row: Row, how: str, model_zoo: Path, out: Path, limit: float) -> Outcome:
    """Extract one script, make its data, run it; its output is in ``out/log``."""
    out.mkdir(parents=True)
    folder = zoo.extract(model_zoo, row.folder, out)
    script = folder / row.script
    prepare(row, folder)
    search = [stand_ins(out), *([folder] if row.is_root_searched else [])]
    for name, *arguments in row.before:
        first = run(how, script.parent / name, arguments, script.parent, search, out / "log-before", limit)
        if first.code:
            return first
    return run(how, script, row.arguments, script.parent, search, out / "log", limit)


def prepare(row: Row, folder: Path) -> None:
    """Make a row's data in the folder of its script, which lies below ``folder``."""
    make = [sys.executable, "-c", _PREPARE, str(row.number), str((folder / row.script).parent)]
    subprocess.run(make, check=True, capture_output=True, cwd=Path(__file__).parent.parent)


# In a process of its own, because the makers use TensorFlow.
_PREPARE = """
import sys
from pathlib import Path
from benchmarks.migrated.rows import ROWS
next(row for row in ROWS if row.number == int(sys.argv[1])).prepare(Path(sys.argv[2]))
"""


def stand_ins(out: Path) -> Path:
    """Empty modules for drawing libraries that scripts import and do not use without a screen."""
    folder = out / "stand-ins"
    (folder / "matplotlib").mkdir(parents=True)
    for name in ("__init__.py", "pyplot.py"):
        (folder / "matplotlib" / name).write_text("")
    return folder


def is_good(outcome: Outcome) -> bool:
    """Ended with 0, and learned if it ran long enough to."""
    quarters = outcome.quarters
    return outcome.code == 0 and (len(outcome.losses) < N_STEPS or quarters is None or quarters[1] < quarters[0])


_HEADER = f"{'row':>3} {'how':6} {'exit':>4} {'s':>5} {'losses':>6} {'first':>9} {'last':>9} {'sess.':>5} {'device %':>8}  script"


def _line(row: Row, how: str, outcome: Outcome) -> str:
    first, last = (f"{value:.4g}" for value in outcome.quarters) if outcome.quarters else ("-", "-")
    share = "-" if outcome.share is None else f"{outcome.share:.2f}"
    line = (
        f"{row.number:>3} {how:6} {outcome.code:>4} {outcome.seconds:>5.0f} {len(outcome.losses):>6} {first:>9} {last:>9} "
        f"{outcome.sessions:>5} {share:>8}  {Path(row.folder).name}/{row.script}"
    )
    told = [*outcome.changed, *(f"on the host: {reason}" for reason in outcome.reasons)]
    return "\n".join([line, *(f"{'':>12}{text}" for text in told)])


if __name__ == "__main__":
    sys.exit(main())
