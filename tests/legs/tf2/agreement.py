"""The results of a file of cases on both sides, side by side."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.legs.tf2 import sides
from tests.legs.tf2.child import Said, said_by

CASES = Path(__file__).parent / "cases"
FILES = [path.stem for path in sorted(CASES.glob("*.py")) if "@case" in path.read_text(encoding="utf-8")]


@functools.cache
def plain(file: str) -> Said:
    """The outcomes on TensorFlow, computed once for all tests of a process."""
    return said_by("run_cases.py", sides.PLAIN, file)


def differences(file: str, environment: Mapping[str, str] | None = None) -> tuple[int, list[str]]:
    """The number of cases, and a line for each that the device does not agree with."""
    theirs, ours = plain(file), said_by("run_cases.py", sides.DEVICE, file, environment=environment)
    assert theirs.code == 0, (
        f"TensorFlow itself ends with {theirs.code} in {list(_tolerances(theirs))[-1:]}: {theirs.log[-3000:]}"
    )
    within, expected, found = _tolerances(theirs), _outcomes(theirs), _outcomes(ours)
    lines = [line for name in expected if (line := difference(name, expected[name], found.get(name), within[name]))]
    if ours.code:
        lines.append(f"the process ended with {ours.code} in {list(_tolerances(ours))[-1:]}: {ours.log[-3000:]}")
    return len(expected), lines


def difference(name: str, theirs: dict[str, Any], ours: dict[str, Any] | None, within: float) -> str:
    """A line about two outcomes that differ, "" where they agree."""
    if ours is None:
        return f"{name}: it was not run to its end"
    if "raises" in theirs or "raises" in ours:
        said = f"{name}: TensorFlow {_short(theirs)}, the device {_short(ours)}\n{ours.get('traceback', '')}"
        return "" if theirs.get("raises") == ours.get("raises") else said
    expected, found = theirs["gives"], ours["gives"]
    if len(expected) != len(found):
        return f"{name}: {len(expected)} values, and {len(found)} of the device: {_short(theirs)}, {_short(ours)}"
    far = [place for place, pair in enumerate(zip(expected, found, strict=True)) if not _same(*pair, within)]
    if not far:
        return ""
    place = far[0]
    return (
        f"{name}: {len(far)} of {len(expected)} values differ, first [{place}]: {expected[place]}, of the device {found[place]}"
    )


def _same(theirs: Any, ours: Any, within: float) -> bool:
    if isinstance(theirs, str) or isinstance(ours, str) or within == 0:
        return theirs == ours or (theirs != theirs and ours != ours)
    return ours == pytest.approx(theirs, rel=within, abs=0.1 * within, nan_ok=True)


def _short(outcome: dict[str, Any]) -> str:
    return f"raises {' | '.join(outcome['raises'])}" if "raises" in outcome else f"gives {str(outcome['gives'])[:200]}"


def _outcomes(said: Said) -> dict[str, dict[str, Any]]:
    return {line["case"]: line for line in said.lines if "case" in line and "within" not in line}


def _tolerances(said: Said) -> dict[str, float]:
    return {line["case"]: line["within"] for line in said.lines if "within" in line}
