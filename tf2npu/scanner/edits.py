"""Fixes as small changes of the text, and how the fixes of a file are put together without stepping on each other."""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from tf2npu.findings import Edit, Finding
from tf2npu.scanner.ranges import Covering, Disjoint

_NEWLINE = re.compile(r"(?:\r\n|\r|\n)(?=[^\r\n])")  # with something on the line behind it


@dataclass(frozen=True)
class Change:
    """Replace [start, end) by `new`, or, when `closing` is given, put `new` before and `closing` behind the range.

    is_indent: the indentation of a line, which goes when another fix replaces the text the line starts in.
    is_argument: an added argument that relies on the comma in front, or that comma; another one at its place needs a comma.
    """

    start: int
    end: int
    new: str
    closing: str | None = None
    is_indent: bool = False
    is_argument: bool = False

    @property
    def replaces(self) -> bool:
        """Whether text of the original goes away."""
        return self.closing is None and self.end > self.start


@dataclass
class Fix:
    """The fix of one rule at one site: all of its changes are made, or none.  part: of the rule, as in findings."""

    rule: str
    changes: list[Change] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    site: tuple[int, int] = (0, 0)
    symbols: list[tuple[str, object]] = field(default_factory=list)  # names of adapters used, with the scope of use
    # Ranges that other fixes replace by text without this name; a fix without changes may watch them, too.
    must_go: list[tuple[int, int, str]] = field(default_factory=list)
    part: str = ""
    otherwise: Callable[[list[tuple[int, int]]], list[Finding]] = lambda left: []  # what to say of those that stay, if any does


_Replacing = tuple[Fix, Change]  # a change that replaces text, and whose it is


@dataclass
class Composition:
    """Result of putting fixes together: what is done, what a larger fix made void, and what contradicts another fix."""

    kept: list[Fix]
    absorbed: list[Fix]
    refused: list[Fix]


def select_compatible(fixes: list[Fix]) -> Composition:
    """Keep the fixes that do not contradict each other; a fix inside text that another one replaces is absorbed by it."""
    kept: list[Fix] = []
    absorbed: list[Fix] = []
    refused: list[Fix] = []
    taken: Disjoint[_Replacing] = Disjoint()
    for fix in sorted(fixes, key=_widest_first):
        relation = _relation(fix, taken)
        (absorbed if relation == "inside" else refused if relation == "conflict" else kept).append(fix)
        if relation == "free":
            for change in fix.changes:
                if change.replaces:
                    taken.add(change.start, change.end, (fix, change))
    order = {id(fix): number for number, fix in enumerate(fixes)}
    kept.sort(key=lambda fix: order[id(fix)])
    return Composition([fix for fix in kept if _has_its_way(fix, taken)], absorbed, refused)


def _has_its_way(fix: Fix, taken: Disjoint[_Replacing]) -> bool:
    """Whether all that has to go does; where it does not, the fix only says so."""
    left = [(first, last) for first, last, name in fix.must_go if not _goes(fix, first, last, name, taken)]
    if left:
        fix.changes, fix.symbols, fix.findings = [], [], fix.otherwise(left)
    return not left


def _goes(fix: Fix, first: int, last: int, name: str, taken: Disjoint[_Replacing]) -> bool:
    """Whether another fix takes the range; not one that did not have its way itself, which has lost its changes."""
    around = [owner for _, _, owner in taken.around(first, last)]
    return any(other is not fix and other.changes and _takes(change, first, last, name) for other, change in around)


def _takes(change: Change, first: int, last: int, name: str) -> bool:
    """Whether a change replaces a range by text that does not hold the name, but as that of an attribute."""
    return change.start <= first and last <= change.end and not re.search(rf"(?<![\w.]){re.escape(name)}\b", change.new)


def _widest_first(fix: Fix) -> tuple[int, int]:
    widths = [c.end - c.start for c in fix.changes if c.replaces]
    return (-max(widths, default=0), min((c.start for c in fix.changes), default=0))


def _relation(fix: Fix, taken: Disjoint[_Replacing]) -> str:
    relation = "free"
    for change in fix.changes:
        for start, end, (owner, _) in taken.around(change.start, change.end) if not change.is_indent else ():
            if _encloses(start, end, change) or _wraps_what_goes(fix, change, owner, start, end):
                return "inside"
            if _crosses(start, end, change):
                relation = "conflict"
    return relation


def _encloses(start: int, end: int, change: Change) -> bool:
    if change.start == change.end:
        return start < change.start < end
    if change.closing is not None and (change.start, change.end) == (start, end):
        return False  # what is put around replaced text stays
    return start <= change.start and change.end <= end


def _wraps_what_goes(fix: Fix, change: Change, owner: Fix, start: int, end: int) -> bool:
    """Whether a node is wrapped for its own sake while the code around it puts something else in its place."""
    own = change.closing is not None and (change.start, change.end) == (start, end) == fix.site
    return own and owner.site != (start, end)


def _crosses(start: int, end: int, change: Change) -> bool:
    if change.end <= start or end <= change.start:
        return False
    return change.replaces or not (change.start <= start and end <= change.end)


def to_edits(fixes: list[Fix]) -> list[Edit]:
    """Non-overlapping edits in source order; insertions that meet at one place are joined, inner ones nearest the code."""
    pieces: list[tuple[tuple[int, ...], int, int, str, str]] = []
    replaced = Covering((c.start, c.end) for fix in fixes for c in fix.changes if c.replaces)
    bracket = next((n for n, fix in enumerate(fixes) if any(c.is_indent for c in fix.changes)), len(fixes))
    indents = _Indents(fixes[bracket].changes) if bracket < len(fixes) else None
    arguments: set[int] = set()
    for number, fix in enumerate(fixes):
        for change in fix.changes:
            if change.is_argument and change.start in arguments:
                change = _behind_another(change)
            arguments |= {change.start} if change.is_argument else set()
            if indents is not None and number != bracket:
                change = indents.applied_to(change, number < bracket)
            if not (change.is_indent and replaced.holds(change.start, change.start + 1)):
                pieces.extend(_pieces(change, fix.rule, number))
    pieces.sort(key=lambda piece: piece[0])
    edits: list[Edit] = []
    for _, start, end, new, rule in pieces:
        last = edits[-1] if edits else None
        if last is not None and last.end == start and (last.start == last.end or start == end):
            edits[-1] = Edit(last.start, end, last.new + new, last.rule)
        else:
            edits.append(Edit(start, end, new, rule))
    return edits


def _behind_another(change: Change) -> Change:
    """An added argument behind one that is added at the same place; a comma is there already."""
    comma = "" if change.new == "," else "," if change.new[0].isspace() else ", "
    return replace(change, new=comma + change.new.removeprefix(","))


class _Indents:
    """The lines that a bracket around them indents, which other fixes add lines among."""

    def __init__(self, bracket: Iterable[Change]) -> None:
        changes = list(bracket)
        lines = [c for c in changes if c.is_indent]
        self.first, self.last, self.step = lines[0].start, max(c.start for c in changes), lines[0].new
        self.starts = sorted(c.start for c in lines)

    def applied_to(self, change: Change, is_before: bool) -> Change:
        """A change with its lines further in, where it stands among those lines. is_before: of a fix before the bracket."""
        is_insertion = change.start == change.end
        if change.closing is not None or (is_insertion and is_before and change.start == self.first):
            return change  # around other text, or before the bracket
        at = bisect.bisect_left(self.starts, change.start)
        starts_line = is_insertion and self.starts[at : at + 1] == [change.start]
        lies_between = is_insertion and self.first < change.start <= self.last
        within = bisect.bisect_right(self.starts, change.start)
        holds_start = within < len(self.starts) and self.starts[within] < change.end
        if not (starts_line or lies_between or holds_start):
            return change
        new = _NEWLINE.sub(lambda m: m[0] + self.step, change.new)
        return replace(change, new=self.step + new if starts_line else new)


def _pieces(change: Change, rule: str, number: int) -> list[tuple[tuple[int, ...], int, int, str, str]]:
    """The pieces of a change. At one offset: closings (inner first), then insertions, then openings (outer first), then the
    replacement."""
    if change.closing is not None:
        width = change.end - change.start
        return [
            ((change.start, 2, -width, number), change.start, change.start, change.new, rule),
            ((change.end, 0, width, -number), change.end, change.end, change.closing, rule),
        ]
    kind = 1 if change.start == change.end else 3
    return [((change.start, kind, int(change.is_indent), number), change.start, change.end, change.new, rule)]


def splice(text: str, edits: list[Edit]) -> str:
    """Text with the edits made."""
    parts: list[str] = []
    position = 0
    for edit in edits:
        parts.append(text[position : edit.start])
        parts.append(edit.new)
        position = edit.end
    parts.append(text[position:])
    return "".join(parts)


def spliced_range(text: str, edits: list[Edit], start: int, end: int) -> str:
    """The text of [start, end) with the edits inside of it made."""
    inside = [e for e in edits if start <= e.start and e.end <= end]
    moved = [Edit(e.start - start, e.end - start, e.new, e.rule) for e in inside]
    return splice(text[start:end], moved)
