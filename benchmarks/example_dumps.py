"""The four examples, dumped on the device without fusion and compared with what the originals compute.

    python -m benchmarks.example_dumps [--out DIR]

Each is converted and trained for 20 steps without dropout, of which steps 0 and 5 are dumped, and its original writes the
reference of the same steps.  Printed are, of the outputs in the first of them, how many have figures, and how many of those a
cosine of at least 0.9999 and a distance of at most 1e-3.  What is missing there are sums that cancel, elements of the gradient of
a maximum that were selected otherwise, and what the migration has replaced.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.programs import EXAMPLES, PROGRAMS, ProgramUnderTest
from tf2npu.comparison.comparison import Comparison, compare
from tf2npu.comparison.graph.search import find_graph
from tf2npu.comparison.step_folders import choose
from tf2npu.comparison.verdicts import COSINE, DISTANCE, Thresholds

STEPS = (0, 5)
LEAST_COSINE, MOST_DISTANCE = 0.9999, 1e-3
ROOT = Path(__file__).parent.parent
_OPTIONS = {"enable_dump": "true", "dump_step": "|".join(map(str, STEPS)), "dump_mode": "all", "fusion": "off"}


@dataclass(frozen=True)
class DumpedExample:
    """name: of the example.  folder: holds `dump`, `reference`, and graph files."""

    name: str
    folder: Path

    @property
    def dump(self) -> Path:
        return self.folder / "dump"

    @property
    def reference(self) -> Path:
        return self.folder / "reference"

    def first_step(self) -> tuple[Path, Path, Path]:
        """The folders of the first step on the device and of its reference, and the graph file."""
        chosen = choose(self.dump, self.reference, None)
        graph, _ = find_graph(chosen.dump.path, chosen.dump.model, self.folder)
        assert graph is not None
        return chosen.dump.path, chosen.reference.path, graph.path

    def compared(self) -> Comparison:
        step, reference, graph = self.first_step()
        return compare(step, reference, graph=graph, step=None, thresholds=Thresholds())


def tool(*words: str | Path, folder: Path) -> None:
    """Run tf2npu in a folder.  Raises: SystemExit where it fails; exit code 1 of the converter leaves work to a person."""
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONHASHSEED": "0", "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": paths}
    command = [sys.executable, "-m", "tf2npu", *map(str, words)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in ((0, 1) if words[0] == "convert" else (0,)):
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout[-1000:]}{done.stderr[-2000:]}")


def dumped_examples(folder: Path) -> Iterator[DumpedExample]:
    """The examples, one after another, below a folder of their own."""
    shutil.copytree(EXAMPLES, folder / "original")
    tool("convert", folder / "original", folder / "migrated", folder=folder)
    for program in PROGRAMS:
        made = DumpedExample(program.name, folder / program.name)
        made.dump.mkdir(parents=True)
        _run(program, made, folder)
        yield made


def _run(program: ProgramUnderTest, made: DumpedExample, above: Path) -> None:
    arguments = (*program.arguments, *program.without_dropout)
    options = [word for name, value in _OPTIONS.items() for word in ("--option", f"{name}={value}")]
    device = above / "migrated" / program.script
    tool("run", *options, "--option", f"dump_path={made.dump}", device, *arguments, folder=made.folder)
    steps = ",".join(map(str, STEPS))
    original = above / "original" / program.script
    tool("dump", "reference", original, "--out", made.reference, "--steps", steps, "--", *arguments, folder=made.folder)


def shares(found: Comparison) -> tuple[int, int, int]:
    """Outputs, those that have figures, and those whose figures are good."""
    outputs = [row for row in found.rows if ":output:" in row.tensor]
    known = [row for row in outputs if row.measures is not None]
    good = [row for row in known if row.values.get(COSINE, 1) >= LEAST_COSINE and row.values.get(DISTANCE, 0) <= MOST_DISTANCE]
    return len(outputs), len(known), len(good)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, metavar="DIR", help="keep the dumps here, in a new folder")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if given.out:
            folder = given.out.resolve()
            folder.mkdir(parents=True)
        for made in dumped_examples(folder):
            found = made.compared()
            n_outputs, n_known, n_good = shares(found)
            counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(found.counts().items()))
            print(f"{made.name}: {n_outputs} outputs, {n_known} with figures, {n_good} of them good; rows: {counts}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
