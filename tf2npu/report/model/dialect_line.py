"""The sentence about the TensorFlow that scripts are written for, where that is not 1.15 or is not told: it begins the report."""

from __future__ import annotations

from collections.abc import Iterable

from tf2npu.findings import Finding, Level

_DIALECT = "NPU903"
"""The rule about scripts for TensorFlow 2, or for either."""
_OF_2, _COMPAT = "tensorflow_2", "version_1_on_2"
"""The parts of that rule that name a script for TensorFlow 2, and one that uses its version 1 behaviour."""
_ADAPTER2 = "npu_device"
"""A word of every text that shows a script to use the adapter of TensorFlow 2 already."""
_FOR_COMPAT = (
    "Converted for TensorFlow 2 with its version 1 behaviour (npu_device.compat.v1), as asked. "
    "`tf2npu convert SRC OUT --target tf1` converts it as TensorFlow 1.15."
)
_MOST_SHOWN = 60
"""Characters of the text that tells: a line of the report holds no more beside the rest of the sentence."""


def dialect_line(found: Iterable[tuple[str, Finding]]) -> str:
    """The sentences about scripts for TensorFlow 2 and scripts that either runs; nothing where there are none.

    found: findings with the paths of their files.
    """
    told = [(path, finding) for path, finding in found if finding.rule == _DIALECT]
    of_2 = [(path, f) for path, f in told if f.part == _OF_2 and f.level is not Level.MANUAL]
    of_either = [(path, f) for path, f in told if f.level is Level.MANUAL and not f.before]
    is_compat = any(f.part == _COMPAT for _, f in told)
    return " ".join(part for part in (_of_2(of_2), _assumed(of_either), _FOR_COMPAT if is_compat else "") if part)


def _of_2(found: list[tuple[str, Finding]]) -> str:
    if not found:
        return ""
    # A script that tells it itself says more than one that another tells, and one that is converted more than one that moved.
    told = [(path, f) for path, f in found if f.before]
    new = [(path, f) for path, f in told if _ADAPTER2 not in f.before]
    first, finding = next(iter([*new, *told, *found]))
    place = f"{_place(first, finding)}{_more(found)}"
    if told and not new:
        return f"Written for TensorFlow 2: {place}; left as it is."
    line = f"Written for TensorFlow 2: {place}; converted for npu_device."
    return f"{line} `tf2npu convert SRC OUT --target tf1` converts it as TensorFlow 1.15."


def _assumed(of_either: list[tuple[str, Finding]]) -> str:
    if not of_either:
        return ""
    return (
        f"Nothing tells TensorFlow 1.15 from 2 in {of_either[0][0]}{_more(of_either)}; converted as TensorFlow 1.15. "
        "`tf2npu convert SRC OUT --target tf1` says that this is right, --target tf2 converts it for npu_device."
    )


def _place(path: str, finding: Finding) -> str:
    """The place with the text that tells, as far as a line holds it."""
    lines = finding.before.splitlines()
    if not lines:
        return path
    text = lines[0] if len(lines[0]) <= _MOST_SHOWN else f"{lines[0][:_MOST_SHOWN]}..."
    return f"{path}:{finding.span.line} ({text})"


def _more(places: list[tuple[str, Finding]]) -> str:
    n_more = len({path for path, _ in places}) - 1
    return f" and {n_more} more" if n_more > 0 else ""
