"""Texts that a check of the accuracy adds to a report, for a terminal and for the index page."""

from __future__ import annotations

from typing import Any

CheckDocument = dict[str, Any]
"""The document that report.json holds under "check"; its form is in the schema."""
_CAUSES = {
    "conversion": "because of the conversion", "kernel": "because of a kernel", "folding": "because of folding",
    "fusion": "because of fusion", "precision": "because of low precision", "overflow": "because of the overflow mode",
    "randomness": "because of randomness",
}  # fmt: skip
STALE = "Stale: sources have changed since this check. Check the script again."
_SHOWN_NAMES = 3
"""Names of a least change that are shown; check.json has all."""


def sentences(check: CheckDocument) -> list[str]:
    """Sentences about what was checked and, where the check no longer counts, about that."""
    told = f"{check['script']} beside the original; steps that were compared: {check['steps']}."
    return [told, STALE] if check.get("is_stale") else [told]


def verdict(mode: dict[str, Any]) -> str:
    """The verdict on a precision mode, in words."""
    if mode["verdict"] == "differs":
        return f"differs from the original {_CAUSES[mode['cause']]}" if mode["cause"] else "differs from the original"
    others = {"agrees": "agrees with the original", "failed": "failed in its run", "not run": "was not run to its end"}
    return others[mode["verdict"]]


def first_difference(mode: dict[str, Any]) -> str:
    """The node where the difference begins, with its operator and line; "" where there is none."""
    first = mode["first_difference"]
    if first is None:
        return ""
    operator = f" ({first['op']})" if first["op"] else ""
    return f"{first['node']}{operator}" + (f", {first['place']}" if first["place"] else "")


def least_change(mode: dict[str, Any]) -> str:
    """The names of the least change, the first few; "" where none is known."""
    names = mode["least_change"]
    more = len(names) - _SHOWN_NAMES
    shown = ", ".join(names[:_SHOWN_NAMES])
    return f"{shown} and {more} more" if more > 0 else shown


def lines(check: CheckDocument) -> list[str]:
    """The sentences, then each mode with where it begins to differ and what mends it."""
    told = sentences(check)
    for mode in check["modes"]:
        told.append(f"  precision mode {mode['mode']}: {verdict(mode)}")
        if where := first_difference(mode):
            told.append(f"    first difference: {where}")
        if change := least_change(mode):
            told.append(f"    least change: {change}")
    return told
