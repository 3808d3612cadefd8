"""The settings of context.set_context, which every other module reads here."""

from __future__ import annotations

from typing import Any

GRAPH_MODE, PYNATIVE_MODE = 0, 1
settings: dict[str, Any] = {"mode": PYNATIVE_MODE, "device_target": "Ascend", "device_id": 0}
"""The default of `mode` is PYNATIVE_MODE.  Source: the docstring of context.set_context in r1.1 and r1.0."""


def is_graph_mode() -> bool:
    """Whether a cell that Python calls becomes one graph."""
    return bool(settings["mode"] == GRAPH_MODE)
