"""Comments that switch a rule off, with the reason that a person gave, put where Python takes a comment."""

from __future__ import annotations

import io
import tokenize
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field

from npu_formats.escape import visible
from tf2npu.decisions.code import Code, NotPossible
from tf2npu.findings import Edit, Finding
from tf2npu.report.model.report import Lines
from tf2npu.report.work.choices import FILE, comment_of, names_all_places
from tf2npu.rules.engine.repeated_findings import other_places

_MOST_OF_A_REASON = 200
"""Characters of a reason in a comment: a line or two. The decisions file and the report have all of it."""
_NO_COMMENT = "no comment can stand on its lines"
_OURS = "tf2npu:"


@dataclass
class Comments:
    """The comments for one file. Rules whose comments meet at one place share one."""

    code: Code
    _ids: dict[tuple[int, str], list[str]] = field(default_factory=dict)  # by offset and kind of comment
    _reasons: dict[tuple[int, str], list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._lines = Lines(self.code.text)
        self._free = _free_places(self.code.text, self._lines)
        self._in_order = sorted(self._free)

    def add(self, finding: Finding, reason: str) -> None:
        """Switch a finding's rule off at all of its places.  Raises: NotPossible, and then adds nothing."""
        kind = comment_of(finding)
        if not kind:
            raise NotPossible("no comment switches this rule off")
        if not names_all_places(finding):
            raise NotPossible("the finding does not name all of its places")
        others = [] if kind == FILE else other_places(finding.message)[1]
        span = finding.span
        places = [(finding.cell, span.line, span.end_line), *((cell, line, line) for cell, line in others)]
        added = [(self._place(self._reach(kind, *place)), kind) for place in places]
        for key in added:
            self._ids.setdefault(key, []).append(finding.rule)
            self._reasons.setdefault(key, []).append(self._in_encoding(one_line(reason)))

    def edits(self) -> list[Edit]:
        return [Edit(offset, offset, comment, ids[0]) for (offset, _), ids, comment in self._written()]

    def texts(self) -> list[str]:
        """The comments as they are written."""
        return [comment.strip() for _, _, comment in self._written()]

    def _written(self) -> Iterable[tuple[tuple[int, str], list[str], str]]:
        for key in sorted(self._ids):
            ids, reasons = sorted(set(self._ids[key])), "; ".join(dict.fromkeys(self._reasons[key]))
            yield key, ids, f"  # tf2npu: {key[1]}[{','.join(ids)}] {reasons}"

    def _in_encoding(self, reason: str) -> str:
        """A reason in the characters that the file can hold."""
        return reason.encode(self.code.encoding, "backslashreplace").decode(self.code.encoding)

    def _reach(self, kind: str, cell: int | None, first: int, last: int) -> tuple[int, int]:
        """First and last line of the code that a comment may stand on."""
        start = self.code.line(cell, first)
        return (start, len(self._lines)) if kind == FILE else (start, self.code.line(cell, last))

    def _place(self, reach: tuple[int, int]) -> int:
        """The offset of the first line end there that is free.  Raises: NotPossible."""
        for line in self._in_order[bisect_left(self._in_order, reach[0]) :]:
            if line > reach[1]:
                break
            if not any(_is_in_the_way(edit, self._free[line]) for edit in self.code.taken):
                return self._free[line]
        raise NotPossible(_NO_COMMENT)


def _is_in_the_way(edit: Edit, offset: int) -> bool:
    """Whether an edit holds a place, or puts something of its own there; one that ends there does not."""
    return edit.start <= offset < edit.end or edit.start == edit.end == offset


def _free_places(text: str, lines: Lines) -> dict[int, int]:
    """The end of each line, by its number, behind which Python takes a comment, and that no comment of ours is on."""
    free: dict[int, int] = {}
    depth = 0  # in f-strings, which are tokens of their own from Python 3.12 on
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            name = tokenize.tok_name[token.type]
            depth += (name == "FSTRING_START") - (name == "FSTRING_END")
            if name in ("NEWLINE", "NL") and not depth and not lines.line_text(token.start[0]).lstrip().startswith("#"):
                free[token.start[0]] = lines.offset(token.start[0], token.start[1] + 1)
            if name == "COMMENT" and _OURS in token.string:
                free.pop(token.start[0], None)
    except (tokenize.TokenError, SyntaxError, ValueError):
        return {}
    return {line: offset for line, offset in free.items() if _OURS not in lines.line_text(line) and lines.line_text(line).strip()}


def comments_in(text: str) -> list[str]:
    """The comments of a text; none for one that Python cannot read."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text, newline="").readline))
    except (tokenize.TokenError, SyntaxError, ValueError):
        return []
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


def one_line(reason: str) -> str:
    """A reason as the end of a comment: one line, nothing that reorders it, and not too long."""
    text = " ".join(visible(reason).split())
    return text if len(text) <= _MOST_OF_A_REASON else f"{text[:_MOST_OF_A_REASON]}..."
