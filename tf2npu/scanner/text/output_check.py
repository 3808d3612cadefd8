"""The check that converted text still parses."""

from __future__ import annotations

import libcst as cst

from tf2npu.scanner.script import Script
from tf2npu.scanner.text.newer_python import refused_by_newer_python
from tf2npu.scanner.text.source import SourceError
from tf2npu.scanner.tree import error_of_python, python_parses, refused_by_python


def check_output(script: Script, after: str) -> None:
    """Refuse a result that Python, or a newer Python for which the file is written, does not take."""
    if python_parses(after):
        return
    before = refused_by_python(script.text)
    wrong = refused_by_newer_python(script.tree, script.walked) if before is not None else None
    if wrong is not None:
        raise error_of_python(script.text, wrong)
    try:
        cst.parse_module(after)
    except cst.ParserSyntaxError as second:
        raise _would_not_parse(second.message.splitlines()[0], second.raw_line, second.raw_column + 1) from None
    error = refused_by_python(after)
    if before is None and error is not None:
        raise _would_not_parse(error.msg, error.lineno or 1, error.offset or 1)


def _would_not_parse(reason: str, line: int, column: int) -> SourceError:
    return SourceError(
        f"the converted text would not parse ({reason}), so the file is left as it was; this is a defect of tf2npu", line, column
    )
