"""Compares migrated scripts written by others, untouched, on the simulated device and on genuine TensorFlow 1.15.

    python -m benchmarks.migrated_agreement --model-zoo DIR [--tf115 PYTHON] [--rows 5,9] [--keep FOLDER]

DIR: a checkout of the vendor's ModelZoo-TensorFlow or its bare git directory. Without --tf115 an environment with TensorFlow 1.15
is made of a Python 3.7 on the path or of pyenv's. Ten losses of each script must agree within 1e-3, or within three times what
TensorFlow differs from itself with one thread and two.
Exit code: 0 when all agree; 1 otherwise; 77 without model zoo or Python 3.7.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from benchmarks.acceptance.checkouts import Absent
from benchmarks.migrated import tf115, zoo
from benchmarks.migrated.agreement import HEADER, Agreement, Trial, agree, line
from benchmarks.migrated.rows import ROWS, Row
from benchmarks.migrated_scripts import prepare, stand_ins

ABSENT = 77
# Enough steps for ten losses; the rest of a row's arguments as they are.
MORE = {
    7: ("--training_epochs=100",), 9: ("--steps", "10"), 24: ("--max_train_steps=10",),
    30: ("--num_train_steps=10",), 33: ("--num_train_steps=10",),
}  # fmt: skip
COMPARED = (5, 7, 9, 12, 16, 24, 30, 33)


def main(argv: list[str] | None = None) -> int:
    """Run the rows and print the table."""
    options = _options(argv)
    if zoo.find(options.model_zoo) is None:
        print(f"--model-zoo {options.model_zoo}: no checkout and no git directory of ModelZoo-TensorFlow")
        return ABSENT
    with tempfile.TemporaryDirectory(prefix="agreement-") as temporary:
        out = options.keep or Path(temporary)
        try:
            python = tf115.bring(options.tf115, out)
        except Absent as error:
            print(error)
            return ABSENT
        print(f"model zoo at commit {zoo.commit(options.model_zoo)}\n\n{HEADER}", flush=True)
        rows = [row for row in ROWS if row.number in (options.rows or COMPARED)]
        done = [compare(row, options.model_zoo, python, out / str(row.number), options.time_out) for row in rows]
    good = sum(not agreement.problem for agreement in done)
    print(f"\n{good} of {len(done)} agree with TensorFlow 1.15")
    return 0 if good == len(done) else 1


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model-zoo", type=Path, required=True)
    parser.add_argument("--tf115", type=Path, metavar="PYTHON", help="interpreter of an environment with TensorFlow 1.15")
    parser.add_argument("--rows", type=lambda text: {int(number) for number in text.split(",")}, default=set())
    parser.add_argument("--keep", type=Path, help="folder for scripts, data and logs; a temporary one when not given")
    parser.add_argument("--time-out", type=float, default=900.0, help="seconds a run")
    return parser.parse_args(argv)


def compare(row: Row, model_zoo: Path, python: Path, out: Path, limit: float) -> Agreement:
    """Compare one row and print its line."""
    folder = zoo.extract(model_zoo, row.folder, out / "prepared")
    prepare(row, folder)
    row = replace(row, arguments=(*row.arguments, *MORE.get(row.number, ())))
    trial = Trial(f"{row.number} {Path(row.folder).name}", folder, folder, row.script, row.arguments, search=(stand_ins(out),))
    agreement = agree(trial, python, out / "runs", limit)
    print(line(agreement), flush=True)
    return agreement


if __name__ == "__main__":
    sys.exit(main())
