"""Runs the cases of a file of cases/ in one process:   run_cases.py SIDE FILE [CASE...]

It prints lines of JSON: a case with the list of its numbers and strings, or with the type and the lines of its error.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))

import numpy as np
import tensorflow as tf

from tests.legs.tf2 import sides
from tests.legs.tf2.case import cases_of

SEED = 5
OWN_NAMES = re.compile(
    r"\{\{function_node [^}]*\}\}\s*|\[Op:[^\]]*\]|__inference_\w+?_\d+|0x[0-9a-f]+|(?<=[a-z])_\d+\b| name: .*$| 0 0$"
)
"""Words of a message that name functions, objects and operations of one process, or where an op ran, and two flags that oneDNN's
product of matrices appends."""


def main(side: str, file: str, wanted: list[str]) -> None:
    sides.begin(side)
    for name, function in cases_of(importlib.import_module(f"tests.legs.tf2.cases.{file}")).items():
        if not wanted or name in wanted:
            print(json.dumps({"case": name, "within": function.__dict__["within"]}), flush=True)
            print(json.dumps({"case": name, **outcome(function)}), flush=True)
    print(json.dumps({"copies": sides.copies(side)}), flush=True)


def outcome(function: Callable[[], Any]) -> dict[str, Any]:
    """The result of a case, from the same seeds, or its error."""
    tf.keras.utils.set_random_seed(SEED)
    try:
        return {"gives": plain(function())}
    except Exception as error:
        return {"raises": [type(error).__name__, *lines_of(error)], "traceback": traceback.format_exc()[-3000:]}


def lines_of(error: BaseException) -> list[str]:
    """The first line of a message. Where that is a heading of Keras or AutoGraph, also the line behind the stacks."""
    lines = [stripped for line in str(error).splitlines() if (stripped := OWN_NAMES.sub("", line).strip())]
    if lines and lines[0] == "in user code:":
        return [lines[0], lines[-1]]
    if not lines or not lines[0].startswith("Graph execution error"):
        return lines[:1]
    ends = [place for place, line in enumerate(lines) if "[[{{node" in line]
    return [lines[0], lines[ends[0] - 1]] if ends and ends[0] > 0 else lines[:1]


def plain(result: Any) -> list[Any]:
    """A result as one list of numbers and strings, in the order of tf.nest."""
    return [item for leaf in tf.nest.flatten(result, expand_composites=True) for item in _items(leaf)]


def _items(leaf: Any) -> list[Any]:
    if leaf is None or isinstance(leaf, str):
        return [str(leaf)]
    array = leaf.numpy() if isinstance(leaf, (tf.Tensor, tf.Variable)) else np.asarray(leaf)
    array = np.ravel(array)
    if array.dtype.kind in "OSU":
        return [item.decode("utf-8", "replace") if isinstance(item, bytes) else str(item) for item in array]
    if array.dtype.kind == "c":
        return [part for number in array for part in (float(number.real), float(number.imag))]
    return array.tolist() if array.dtype.kind in "iub" else array.astype(np.float64).tolist()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
