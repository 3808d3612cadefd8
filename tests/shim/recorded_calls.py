"""Results of calls of TensorFlow's functions here, beside those of TensorFlow 1.15 (tests/fixtures/shim/calls)."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

CALLS = Path(__file__).parents[1] / "fixtures" / "shim" / "calls"
TOLERANCES = {"float16": (2e-3, 2e-3), "float64": (1e-6, 1e-7)}
"""Relative and absolute, by type; recordings have seven digits, and two releases sum fp32 in other orders."""
_TOLERANCE = (2e-5, 2e-6)


def evaluation() -> ModuleType:
    """The module that evaluates a call, which TensorFlow 1.15 has run as well."""
    spec = importlib.util.spec_from_file_location("evaluation", CALLS / "evaluation.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def recorded() -> dict[str, Any]:
    """Results of TensorFlow 1.15, by call."""
    return json.loads((CALLS / "recorded.json").read_text(encoding="utf-8"))["calls"]


def listed_differences() -> dict[str, tuple[str, str]]:
    """(kind, reason) of each call that gives something else here; a section is `[kind] reason` and its calls."""
    found: dict[str, tuple[str, str]] = {}
    kind = reason = ""
    for line in (CALLS / "differences").read_text(encoding="utf-8").splitlines():
        if line.startswith("[") and "] = " in line:
            kind, _, reason = line[1:].partition("] = ")
        elif line.strip():
            assert line not in found, line
            found[line] = kind, reason
    return found


def difference(wanted: dict[str, Any], found: dict[str, Any]) -> str | None:
    """The kind of difference between two results of a call, or None."""
    if "error" in wanted and "error" in found:
        return None if wanted["error"] == found["error"] else "another error"
    if "error" in wanted or "error" in found:
        return "1.15 refuses it" if "error" in wanted else "refused here"
    if wanted["structure"] != found["structure"] or wanted["variables"] != found["variables"]:
        return "another structure"
    kinds = [_of_leaves(*pair) for pair in zip(wanted["values"], found["values"], strict=True)]
    return min((kind for kind in kinds if kind is not None), default=None)


def _of_leaves(wanted: list[Any], found: list[Any]) -> str | None:
    if wanted[0] != found[0] or len(wanted) != len(found) or wanted[1:2] != found[1:2]:
        return "another type"
    kind = wanted[1] if len(wanted) > 1 else ""
    if wanted[0] != "tensor":
        return None if _are_close(wanted[2:], found[2:], kind) else "another value"
    if not _are_close(wanted[3:], found[3:], kind):
        return "another value"
    return None if wanted[2] == found[2] else "another static shape"


def _are_close(wanted: Any, found: Any, kind: str) -> bool:
    pairs = list(zip(_flat(wanted), _flat(found), strict=False))
    if len(pairs) != len(list(_flat(wanted))) or len(pairs) != len(list(_flat(found))):
        return False
    relative, absolute = TOLERANCES.get(kind, _TOLERANCE)
    return all(
        abs(a - b) <= absolute + relative * max(abs(a), abs(b)) if isinstance(a, float) and isinstance(b, float) else a == b
        for a, b in pairs
    )


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for one in value:
            yield from _flat(one)
    else:
        yield value
