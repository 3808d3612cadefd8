"""The line under which a page shows a finding: that of the argument it speaks of, so that no call of many lines is cut in two."""

from __future__ import annotations

import ast
import re
import warnings

from tf2npu.findings import Finding, Span
from tf2npu.report.model.report import FileReport

_MOST_CHARACTERS = 50_000
"""Characters of a call that is looked at: a longer one holds data, and reading it would take longer than it helps."""


def note_line(file: FileReport, finding: Finding) -> int:
    """Line as findings count them: of a call the last one of the argument that is spoken of, or else of the call.

    An argument is spoken of when the rule has changed it, or when the message names it.  What is no call, such as a function
    with its body, has its finding under the first line.
    """
    call = _call(finding)
    if call is None:
        return finding.span.line
    changed = [
        change.span.end_line for change in file.changes if change.rule == finding.rule and _is_inside(change.span, finding.span)
    ]
    ends = _ends_of_arguments(call, finding.span.line)
    if changed and finding.cell is None:
        last = max(changed)
        return max((end for first, end, _ in ends if first <= last <= end), default=last)
    named = [end for _, end, name in ends if name and re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", finding.message)]
    return max(named, default=finding.span.end_line)


def _call(finding: Finding) -> ast.Call | None:
    """The call that a finding is about, where it has several lines."""
    if finding.span.line == finding.span.end_line or len(finding.before) > _MOST_CHARACTERS:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the user's text, such as escapes that Python does not know
            found = ast.parse(f"({finding.before}\n)", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return found if isinstance(found, ast.Call) else None


def _ends_of_arguments(call: ast.Call, first_line: int) -> list[tuple[int, int, str]]:
    """First and last line of each argument in the file, and its name."""
    given = [(argument.lineno, argument, "") for argument in call.args]
    named = [(keyword.lineno, keyword.value, keyword.arg or "") for keyword in call.keywords]
    above = first_line - 1
    return [(first + above, (value.end_lineno or first) + above, name) for first, value, name in [*given, *named]]


def _is_inside(span: Span, outer: Span) -> bool:
    is_behind_start = (outer.line, outer.column) <= (span.line, span.column)
    return is_behind_start and (span.end_line, span.end_column) <= (outer.end_line, outer.end_column)
