"""The sentence about the TensorFlow that scripts are written for, where that is not 1.15 or is not told: it begins the report."""

from __future__ import annotations

from collections.abc import Iterable

from tf2npu.findings import Finding, Level

_DIALECT = "NPU903"
"""The rule about scripts for TensorFlow 2, or for either."""
_ADAPTER2 = "npu_device"
"""A word of every text that shows a script to use the adapter of TensorFlow 2 already."""
_MOST_SHOWN = 60
"""Characters of the text that tells: a line of the report holds no more beside the rest of the sentence."""


def dialect_line(found: Iterable[tuple[str, Finding]]) -> str:
    """The sentences about scripts for TensorFlow 2 and scripts that either runs; nothing where there are none.

    found: findings with the paths of their files.
    """
    told = [(path, finding) for path, finding in found if finding.rule == _DIALECT]
    of_2 = [(path, finding) for path, finding in told if finding.level is Level.UNSUPPORTED]
    of_either = [(path, f) for path, f in told if f.level is Level.MANUAL and not f.before]
    return " ".join(part for part in (_left_alone(of_2), _assumed(of_either)) if part)


def _left_alone(of_2: list[tuple[str, Finding]]) -> str:
    if not of_2:
        return ""
    # A script that tells it itself says more than one that is told by another.
    first, finding = next(((path, f) for path, f in of_2 if f.before), of_2[0])
    line = f"Written for TensorFlow 2: {_place(first, finding)}{_more(of_2)}; left as it is."
    if all(_ADAPTER2 in f.before for _, f in of_2 if f.before) and finding.before:
        return line
    return f"{line} `tf2npu convert SRC OUT --target tf1` converts it as TensorFlow 1.15."


def _assumed(of_either: list[tuple[str, Finding]]) -> str:
    if not of_either:
        return ""
    return (
        f"Nothing tells TensorFlow 1.15 from 2 in {of_either[0][0]}{_more(of_either)}; converted as TensorFlow 1.15. "
        "`tf2npu convert SRC OUT --target tf1` says that this is right, --target tf2 leaves it as it is."
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
