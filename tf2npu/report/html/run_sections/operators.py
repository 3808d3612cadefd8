"""Operators of PyTorch on the device: limits of the chip that they met, copies, names that were switched, and memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tf2npu.report.formats.render_context import View
from tf2npu.report.html.page_types import Section
from tf2npu.report.html.run_sections.figures import size
from tf2npu.report.runs.document import RunDocument

_TEMPLATE = "place_table"
_MOST_ROWS = 200
"""Rows of a table that are shown: report.json has all."""


def limits(view: View, run: RunDocument) -> Section | None:
    """Refused operators, types and shapes, the certain ones first; what the CPU computes has a section of its own."""
    rest = [entry for entry in run.get("limit_lines", ()) if not (entry["is_certain"] and entry["kind"] == "falls_back")]
    told = sorted(rest, key=lambda entry: not entry["is_certain"])
    rows = [[view.texts.text(one["message"]), _certainty(view, one), str(one["count"])] for one in told]
    return _section(view, "limits", "Limits of the chip", ("Limit", "Certainty", "Times"), told, rows)


def _certainty(view: View, entry: Mapping[str, Any]) -> str:
    return view.texts.text("certain" if entry["is_certain"] else "not certain")


def copies(view: View, run: RunDocument) -> Section | None:
    """Copies, those made most often first; a step waits for each that goes to the host."""
    told = run.get("copy_lines", ())
    rows = [[view.texts.text(one["direction"]), str(one["count"]), size(one["bytes"])] for one in told]
    return _section(view, "copies", "Copies between host and device", ("Direction", "Times", "Bytes"), told, rows)


def switched(view: View, run: RunDocument) -> Section | None:
    """Names of CUDA's in the script that were taken for the NPU's, and what to write."""
    told = run.get("switched_lines", ())
    rows = [[one["name"], one["instead"], str(one["count"])] for one in told]
    return _section(view, "switched", "Names of CUDA that were switched to the NPU", ("Name", "To write", "Times"), told, rows)


def memory(view: View, run: RunDocument) -> Section | None:
    """The most memory that tensors of each device took, and the line that reached it."""
    told = run.get("memory_peaks", ())
    rows = [[f"npu:{one['device']}", size(one["bytes"]), size(one["capacity"])] for one in told]
    return _section(view, "memory", "Memory of the devices", ("Device", "At most in use", "Of the chip"), told, rows)


def _section(
    view: View, id: str, title: str, columns: Sequence[str], told: Sequence[Mapping[str, Any]], rows: Sequence[Sequence[str]]
) -> Section | None:  # fmt: skip
    if not rows:
        return None
    shown = [{**_place(view, entry), "cells": row} for entry, row in zip(told[:_MOST_ROWS], rows, strict=False)]
    heads = [view.texts.text(column) for column in columns]
    values = {"id": id, "columns": heads, "rows": shown, "n_more": max(0, len(rows) - _MOST_ROWS)}
    return Section(_TEMPLATE, view.texts.text(title), values)


def _place(view: View, entry: Mapping[str, Any]) -> dict[str, str]:
    at = entry["at"]
    place = f"{at['path']}:{at['line']}" if at else entry["place"]
    return {"place": place, "href": view.href_of_place(place) if at else ""}
