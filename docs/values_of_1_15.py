"""The page that says how far functions under npu_bridge give what TensorFlow 1.15 gave, and each difference with its reason."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from runpy import run_path

TESTS = Path(__file__).parents[1] / "tests" / "shim"
CALLS = TESTS.parent / "fixtures" / "shim" / "calls"
_NAME = re.compile(r"\btf\.([A-Za-z_][\w.]*)")
_AREA = re.compile(r"(?:contrib\.)?[a-z_]+(?=\.[A-Za-z_])")
AREAS = ("", "image", "losses", "metrics", "nn", "layers", "contrib.layers", "contrib.distributions", "train", "math")
HEAD = """# Values of TensorFlow 1.15

{n_calls:,} calls of the most used functions, with the types, ranks and defaults on which their behaviour depends, were run by
genuine TensorFlow 1.15, and are run in `make test` in a process with npu_bridge, on the simulated device. Types, shapes that
the graph knows, shapes, numbers, variables and the classes of errors are compared: {n_same:,} are the same, {n_other} are not and
stand below with a reason. Of the 400 names that public TensorFlow 1 code uses in most files (`most_used.txt`) all are called but
those that switch a process over or read records; parameters and defaults of all 400 are compared, too. The calls and what 1.15
gave are in `tests/fixtures/shim/calls`.

| functions of | called | calls | different |
|---|---|---|---|
"""
TAIL = """
## Given back

What 1.15 gave differs from TensorFlow 2.15's own here, and npu_bridge gives it back:

- `tf.image.per_image_standardization` keeps the type of an image: of uint8 comes uint8, cut off at 0 and 255.
- `tf.image.non_max_suppression_padded` gives a pair with names, and takes arrays.
- `tf.image.adjust_contrast`, `adjust_hue` and `adjust_saturation` take fp16.
- `tf.image.flip_left_right` and its kin know three dimensions of an image of unknown rank.
- `tf.divide` of numbers or arrays gives a number or an array.
- `tf.identity` of slices of a gradient gives a tensor.
- `isinstance(x, tf.Variable)` holds for resource variables, too.
"""


def values_page() -> str:
    """The page, from the recording and the list of differences."""
    tables = run_path(str(TESTS / "recorded_calls.py"))
    recorded, listed = tables["recorded"](), tables["listed_differences"]()
    different = {call for call in listed if call in recorded}
    n_same = len(recorded) - len(different)
    text = HEAD.format(n_calls=len(recorded), n_same=n_same, n_other=len(different)) + _areas(list(recorded), different)
    return text + "\n## Different\n" + _differences(listed) + TAIL


def _areas(calls: list[str], different: set[str]) -> str:
    """Rows: how many functions of each module are called, and how often."""
    functions, n_calls, n_other = defaultdict(set), defaultdict(int), defaultdict(int)
    for call in calls:
        name = _function_of(call)
        area = _AREA.match(name)
        where = area.group() if area and area.group() in AREAS else ""
        functions[where].add(name)
        n_calls[where] += 1
        n_other[where] += call in different
    rows = [f"| `tf.{area or '*'}` | {len(functions[area])} | {n_calls[area]} | {n_other[area]} |" for area in AREAS]
    return "\n".join(rows) + "\n"


def _function_of(call: str) -> str:
    found = _NAME.search(call)
    assert found is not None, call
    return found.group(1).rstrip(".")


def _differences(listed: dict[str, tuple[str, str]]) -> str:
    """One paragraph a reason, with the calls that it speaks of."""
    groups = defaultdict(list)
    for call, (kind, reason) in listed.items():
        groups[kind, reason].append(call)
    parts = [
        f"\n**{kind}** ({len(calls)}). {reason}\n\n```\n" + "\n".join(calls) + "\n```\n"
        for (kind, reason), calls in groups.items()
    ]
    return "".join(parts)
