"""The timeline of a run: a row for the compiler, the device, the host and waiting."""

from __future__ import annotations

from typing import Any

from tf2npu.report.formats.render_context import View
from tf2npu.report.html.page_types import Section
from tf2npu.report.html.run_sections.figures import WIDTH, seconds
from tf2npu.report.runs.document import RunDocument

HEIGHT = 20
"""Height of a row's picture, in its own units."""
_NAMES = {"compile": "Compiling", "device": "Device", "host": "Host", "waiting": "Waiting for input or the script"}


def section(view: View, run: RunDocument) -> Section | None:
    timeline = run.get("timeline")
    if not timeline or not timeline["seconds"]:
        return None
    whole = timeline["seconds"]
    rows = [
        {
            "name": view.texts.text(_NAMES[stream["name"]]), "kind": stream["name"], "seconds": seconds(stream["seconds"]),
            "share": f"{100 * stream['seconds'] / whole:.1f} %", "path": path_of(stream["spans"], whole),
        }
        for stream in timeline["streams"]
    ]  # fmt: skip
    told = view.texts.text(f"The whole took {seconds(whole)}. A bar is as high as the share of its time that was work.")
    return Section("timeline", view.texts.text("Timeline"), {"rows": rows, "told": told, "height": HEIGHT})


def path_of(spans: list[Any], whole: float) -> str:
    """One SVG path with a rectangle for each span; its height is the share of the span that was work."""
    parts = []
    for start, end, busy in spans:
        left, right = (WIDTH * min(max(moment / whole, 0.0), 1.0) for moment in (start, end))
        share = min(1.0, busy / (end - start)) if end > start else 1.0
        high = max(1.0, HEIGHT * share)
        parts.append(f"M{left:.1f} {HEIGHT}v{-high:.1f}h{max(0.5, right - left):.1f}v{high:.1f}z")
    return "".join(parts)
