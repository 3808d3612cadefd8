"""The end of a run on a terminal: one block with a sentence, a table of what ran on the host, and what to do.

A pipe and a log get the lines of the run log, one by one, as programs read them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from npu_formats.escape import visible

_HOST = "  on the host: "
_MOST_ROWS = 10
"""Reasons that the table has: the report of --report has all."""

_ADVICE = {
    "sessions_on_tensorflow": "Convert the scripts whose sessions stayed on TensorFlow, or run them with --all-sessions: their "
    "config names no NpuOptimizer.",
    "new_shapes": "Pad what is fed to one shape, or to few: an NPU compiles the graph for each new shape.",
    "host_nodes": "Look at the nodes on the host: each step waits for them. `tf2npu run --report DIR` puts them into the report "
    "of the conversion, beside your lines.",
    "options_without_effect": "Check the options without effect on an NPU: what they change cannot be seen here.",
    "sessions_left_open": "Close the sessions that are still open, or use them in a with statement: on a host they hold the "
    "device.",
}
"""Advice by key of a run's document, the costliest problem first. Each is printed where the document has something under the
key."""


def show(lines: Sequence[str], document: Mapping[str, Any], stream: TextIO) -> None:
    """Draw the lines of the run log as a block. document: what the process ran, as for a report."""
    from rich.padding import Padding
    from rich.rule import Rule
    from rich.text import Text

    from npu_formats.console import console

    screen = console(stream)
    screen.print(Rule(Text("tf2npu: what ran on the simulated device"), style="dim", align="left"))
    sentence, *others = [line for line in lines if not line.startswith(_HOST)]
    screen.print(Text(visible(sentence), "bold"))
    for line in others:
        screen.print(Padding(Text(visible(line.strip())), (0, 0, 0, 2)))
    if document["host_nodes"]:
        screen.print(_table(document["host_nodes"]))
    todo = what_to_do(document)
    if todo:
        screen.print(Text("What to do:", "bold"))
    for number, text in enumerate(todo, 1):
        screen.print(Text(f"{number}. {visible(text)}"))


def _table(reasons: Sequence[Mapping[str, Any]]) -> Any:
    """A row for each reason why nodes ran on the host, the most frequent first."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("nodes on the host", justify="right", no_wrap=True)
    table.add_column("such as", overflow="fold")
    table.add_column("because", overflow="fold")
    for row in reasons[:_MOST_ROWS]:
        table.add_row(str(row["count"]), Text(visible(row["example"])), Text(visible(row["reason"])))
    if len(reasons) > _MOST_ROWS:
        table.add_row("", "", f"and {len(reasons) - _MOST_ROWS} more reasons")
    return table


def what_to_do(document: Mapping[str, Any]) -> list[str]:
    """Advice on a run, what costs most first; empty where all is as it should be."""
    return [text for key, text in _ADVICE.items() if document[key]]
