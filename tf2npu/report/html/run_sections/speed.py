"""The speed of each kind of run, and the memory that it needed."""

from __future__ import annotations

from typing import Any

from tf2npu.report.formats.render_context import View
from tf2npu.report.html.page_types import Section
from tf2npu.report.html.run_sections.figures import a_second, percent, seconds, size
from tf2npu.report.runs.document import RunDocument

_MOST_ROWS = 30
"""Kinds of runs that are shown, those with most steps first."""
_MOST_FETCHES = 3
"""Names of what was fetched: they tell which run it is."""


def section(view: View, run: RunDocument) -> Section | None:
    kinds = [kind for session in run["sessions"] for kind in session["runs"]]
    if not kinds:
        return None
    kinds.sort(key=lambda kind: -kind["steps"])
    peak = max(kind.get("arena_bytes", 0) + kind.get("variable_bytes", 0) for kind in kinds)
    values = {
        "rows": [_row(kind) for kind in kinds[:_MOST_ROWS]], "n_more": max(0, len(kinds) - _MOST_ROWS),
        "peak": size(peak), "memory": size(run["memory_bytes"]) if run.get("memory_bytes") else "",
        "share": percent(peak / run["memory_bytes"]) if run.get("memory_bytes") else "",
    }  # fmt: skip
    return Section("speed", view.texts.text("Speed and memory"), values)


def _row(kind: dict[str, Any]) -> dict[str, Any]:
    more = ", ..." if len(kind["fetches"]) > _MOST_FETCHES else ""
    name = kind.get("function") or ", ".join(kind["fetches"][:_MOST_FETCHES]) + more
    step = kind.get("step_seconds", 0.0)
    types = ", ".join(f"{name} {count}" for name, count in kind.get("device_types", {}).items())
    return {
        "fetches": name, "steps": kind["steps"], "step": seconds(step) if step else "", "rate": a_second(step),
        "arena": size(kind.get("arena_bytes", 0)), "live": size(kind.get("live_bytes", 0)),
        "variables": size(kind.get("variable_bytes", 0)), "nodes": f"{kind['device_nodes']} / {kind['host_nodes']}",
        "share": f"{100 * kind['device_share']:.2f} %", "types": types,
    }  # fmt: skip
