"""A source for a sister of a framework as one for the framework, and how places of the new text stand in the old one."""

from __future__ import annotations

import bisect
from collections.abc import Sequence

from tf2npu.findings import Edit, Seen
from tf2npu.frameworks.base import Rewriting
from tf2npu.scanner.text.edits import splice
from tf2npu.scanner.text.pragmas import Pragmas
from tf2npu.scanner.text.source import LineIndex


def rewriting_edits(rewriting: Rewriting) -> list[Edit]:
    """The edits of a rewriting, in the order of the text; insertions at one place are joined."""
    edits: list[Edit] = []
    for start, end, new in sorted({change for fix in rewriting.fixes for change in fix.changes}):
        if edits and edits[-1].start == edits[-1].end == start:
            edits[-1] = Edit(start, end, edits[-1].new + new, rewriting.rule)
        else:
            edits.append(Edit(start, end, new, rewriting.rule))
    return edits


def rewritten_text(text: str, rewriting: Rewriting) -> str:
    """The text with all changes of a rewriting."""
    return splice(text, rewriting_edits(rewriting))


def kept_places(path: str, text: str, rewriting: Rewriting) -> tuple[Seen, ...]:
    """Places that a comment keeps as they are, though the rewriting has something else for them."""
    pragmas = Pragmas(text, lambda offset: False)
    if not pragmas.all:
        return ()
    lines = LineIndex(text)
    places = [(lines.position(fix.start)[0], lines.position(fix.end)[0]) for fix in rewriting.fixes if fix.changes]
    return tuple(Seen(path, first, "# tf2npu:") for first, last in places if pragmas.ignores(rewriting.rule, first, last))


class OldPlaces:
    """Places of a text that edits have made, as places of the text before."""

    def __init__(self, edits: Sequence[Edit]) -> None:
        self._edits = edits
        self._starts: list[int] = []  # of what each edit put in, in the new text
        moved = 0
        for edit in edits:
            self._starts.append(edit.start + moved)
            moved += len(edit.new) - (edit.end - edit.start)

    def new_range(self, number: int) -> tuple[int, int]:
        """The range of the new text that one of the edits made."""
        return self._starts[number], self._starts[number] + len(self._edits[number].new)

    def old(self, offset: int, is_end: bool = False) -> int:
        """The offset in the old text; of one inside what an edit made, the start of what it replaced, or the end."""
        number = bisect.bisect_right(self._starts, offset) - 1
        if number < 0:
            return offset
        edit, (start, end) = self._edits[number], self.new_range(number)
        if offset >= end and offset > start:
            return edit.end + offset - end
        return edit.end if is_end and offset > start else edit.start

    def new(self, offset: int) -> int:
        """The offset in the new text of one in the old text that no edit replaced."""
        moved = sum(len(edit.new) - (edit.end - edit.start) for edit in self._edits if edit.end <= offset)
        return offset + moved


def composed(first: Sequence[Edit], second: Sequence[Edit], middle: str) -> list[Edit]:
    """The edits that do at once what `first` does to a text, and then `second` to the outcome.  middle: what `first` makes."""
    places = OldPlaces(first)
    pieces = [(*places.new_range(number), False, number) for number in range(len(first))]
    pieces += [(edit.start, edit.end, True, number) for number, edit in enumerate(second)]
    edits: list[Edit] = []
    group: list[tuple[int, int, bool, int]] = []
    for piece in sorted(pieces):
        if group and piece[0] > max(end for _, end, *_ in group):
            edits.append(_joined(first, second, group, places, middle))
            group = []
        group.append(piece)
    return edits + ([_joined(first, second, group, places, middle)] if group else [])


def _joined(
    first: Sequence[Edit], second: Sequence[Edit], group: list[tuple[int, int, bool, int]], places: OldPlaces, middle: str
) -> Edit:
    """One edit in the place of some that touch each other."""
    low, high = min(piece[0] for piece in group), max(piece[1] for piece in group)
    mine = [first[number] for _, _, is_second, number in group if not is_second]
    later = [second[number] for _, _, is_second, number in group if is_second]
    inside = [Edit(edit.start - low, edit.end - low, edit.new, edit.rule) for edit in later]
    new = splice(middle[low:high], inside)
    if not mine:
        start = places.old(low)
        return Edit(start, start + high - low, new, later[0].rule)
    start = mine[0].start - (min(places.new_range(first.index(one))[0] for one in mine) - low)
    last = max(range(len(mine)), key=lambda n: mine[n].end)
    end = mine[last].end + high - places.new_range(first.index(mine[last]))[1]
    return Edit(start, end, new, later[0].rule if later else mine[0].rule)
