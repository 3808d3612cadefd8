"""A comparison as lines for a terminal: what was taken, what came out, where the difference begins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from npu_formats.escape import visible
from tf2npu.comparison.comparison import Comparison
from tf2npu.comparison.origin import SOURCES, Origin
from tf2npu.comparison.rows import Row
from tf2npu.comparison.verdicts import AGREES, DIFFERS, NOT_COMPARED, ROUNDING
from tf2npu.report.formats.as_text import Line
from tf2npu.report.languages.language import counted

_SHOWN = 20
"""Lines of one kind before the rest is counted."""


def lines(found: Comparison) -> Iterator[Line]:
    """All of it but where the files went."""
    yield Line(f"dump       {visible(str(found.chosen.dump.path))}")
    yield Line(f"reference  {visible(str(found.chosen.reference.path))}")
    if found.graph is not None:
        yield Line(f"graph      {visible(str(found.graph.path))}")
    yield from _some([Line(f"note       {visible(note)}", "dim") for note in found.notes])
    yield from _some([Line(f"unreadable {visible(str(error))}", "bold red") for error in found.unreadable])
    yield Line(_counted(found), "bold")
    yield from (Line(f"           {count} {visible(reason)}", "dim") for reason, count in reasons(found.rows))
    yield from first_difference_lines(found)


def _some(told: list[Line]) -> Iterator[Line]:
    yield from told[:_SHOWN]
    if len(told) > _SHOWN:
        yield Line(f"           and {len(told) - _SHOWN} more", "dim")


def _counted(found: Comparison) -> str:
    counts = found.counts()
    n_compared = counts[AGREES] + counts[DIFFERS] + counts[ROUNDING]
    text = f"compared   {counted(n_compared, 'tensor')}: {counts[AGREES]} agree, {counts[DIFFERS]} differ"
    text += f", {counts[ROUNDING]} differ by rounding alone" if counts[ROUNDING] else ""
    return text + f"; not compared: {counted(counts[NOT_COMPARED], 'row')}"


def reasons(rows: list[Row], most: int | None = _SHOWN) -> list[tuple[str, int]]:
    """The reasons why rows are not compared, by kind, with the number of rows, the most frequent first.  most: None for all."""
    return Counter(_kind(row) for row in rows if row.verdict == NOT_COMPARED).most_common(most)


def _kind(row: Row) -> str:
    """A reason without the names in it."""
    why = row.why or row.reason
    if "no dump file for my output operator" in why:
        return f"have no dump file: {row.op_type}"
    if "no the ground truth dump file" in why:
        return "have no tensor in the reference"
    return why.partition("] ")[2] or why


def first_difference_lines(found: Comparison) -> Iterator[Line]:
    """The lines on the place where the difference begins, and on what it is; none where nothing differs."""
    origin = found.origin
    if origin is None:
        return
    row = origin.row
    seen = visible(f"{row.operator} ({row.op_type}), {place_of(row)}")
    yield Line("")
    if origin.is_outside:
        yield Line(f"The difference begins at {visible(origin.name)}, {SOURCES[origin.op_type]} read by {seen}", "bold red")
    elif origin.name != row.operator:
        yield Line(f"The difference begins at {visible(origin.name)} ({visible(origin.op_type)}), read by {seen}", "bold red")
    else:
        yield Line(f"The difference begins at {seen}", "bold red")
    yield Line(f"  {visible(row.why)}")
    template, values = inputs_of(found, origin)
    yield Line(f"  {visible(template.format(*values))}")
    if origin.line:
        yield Line(f"  {visible(origin.line)}")


def place_of(row: Row) -> str:
    """`output 0`, of the row's tensor."""
    return " ".join(row.tensor.rsplit(":", 2)[-2:])


def inputs_of(found: Comparison, origin: Origin) -> tuple[str, tuple[object, ...]]:
    """A template, with its values, for what is known of the inputs of the operator where the difference begins."""
    rows = [row for row in found.rows if row.operator == origin.row.operator and row.is_input]
    agreeing = sum(row.verdict in (AGREES, ROUNDING) for row in rows)
    if origin.is_outside:
        return "no operator makes this difference: {} ({}) brings it in", (origin.name, origin.op_type)
    if origin.row.is_input or any(row.verdict == DIFFERS for row in rows):
        return "an input differs too, and no operator before it makes that difference: it comes in from outside", ()
    if not rows:
        return "it has no inputs in its dump file", ()
    if agreeing == len(rows):
        return "its inputs agree", ()
    return "{} of its {} inputs agree, the others have no reference", (agreeing, len(rows))
