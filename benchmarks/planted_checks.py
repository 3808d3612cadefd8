"""Planted errors, forty and seven in functions of TensorFlow 2, and 22 scripts without one through `tf2npu check`: what it names,
and what it says of the rest.

python -m benchmarks.planted_checks [WORD ...]    only those with a word in their name; 1 where too few are right
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.check.plant import FUNCTIONS, NAMES, clean, judged
from tests.check.plants import CLEAN_MODES, PLANTS
from tests.check.plants_of_functions import FUNCTION_PLANTS

MISSED_NODES, MISSED_CAUSES = 2, 4
"""Of all: how many first nodes, with their lines, and how many causes may be wrong."""


def main(words: list[str]) -> int:
    planted = [plant for plant in (*PLANTS, *FUNCTION_PLANTS) if _is_chosen(plant.name, words)]
    n_nodes = n_lines = n_causes = 0
    for plant in planted:
        with tempfile.TemporaryDirectory() as folder:
            found = judged(plant, Path(folder))
        n_nodes, n_lines, n_causes = n_nodes + found.has_node, n_lines + found.has_line, n_causes + found.has_cause
        print(f"{found}  (planted: {plant.name})", flush=True)
    n_wrong = n_clean = 0
    for script, mode in [(name, "") for name in (*NAMES, *FUNCTIONS)] + list(CLEAN_MODES):
        if not _is_chosen(f"clean {script}", words):
            continue
        with tempfile.TemporaryDirectory() as folder:
            code = clean(script, Path(folder), (mode,) if mode else ()).code
        n_clean, n_wrong = n_clean + 1, n_wrong + (code != 0)
        print(f"clean {script} {mode}: exit code {code}", flush=True)
    print(f"{len(planted)} planted: {n_nodes} nodes, {n_lines} lines, {n_causes} causes right")
    print(f"{n_clean} clean: {n_wrong} differ")
    is_enough = len(planted) - n_nodes <= MISSED_NODES and n_lines == n_nodes and len(planted) - n_causes <= MISSED_CAUSES
    return 0 if is_enough and not n_wrong else 1


def _is_chosen(name: str, words: list[str]) -> bool:
    return not words or any(word in name for word in words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
