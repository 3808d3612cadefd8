"""Files that stay as they are: switched off by a comment, or moved already by npu_device; and what tells of TensorFlow 2."""

from __future__ import annotations

from dataclasses import replace

from tf2npu.api_support.table import shown
from tf2npu.config import AUTO
from tf2npu.findings import Edit, Finding, Level, Span
from tf2npu.frameworks.tensorflow1.dialect import (
    ADAPTER2,
    TARGET2,
    TARGET_COMPAT,
    Dialect,
    dialect_of,
    first_name_of_1,
    is_either,
)
from tf2npu.frameworks.tensorflow1.project import tensorflow_in
from tf2npu.rules import hooks
from tf2npu.scanner.script import Script
from tf2npu.scanner.text.edits import Fix

_DIALECT = "NPU903"
_OF_2 = "tensorflow_2"
"""The part of the rule that names a script for TensorFlow 2."""
_EITHER = "either_tensorflow"
"""The part of the rule that asks which TensorFlow a script is for."""
_BEGINNING = Span(1, 1, 1, 1)
_OF_COMPAT = "version_1_on_2"
"""The part of the rule that names a script for TensorFlow 2 with its version 1 behaviour."""
_NAMES_OF_1 = (
    "The file uses the TensorFlow 1 names of the TensorFlow 2 adapter (npu_device.compat.v1); it stays as it is. Convert with "
    "--target tf2-compat, so that all files use the same adapter."
)
_COMPAT = (
    "Converted for TensorFlow 2 with its version 1 behaviour: what messages and documents call npu_bridge is imported from "
    "npu_device.compat.v1."
)
_HAS_MOVED = "The file uses the TensorFlow 2 adapter (npu_device) already; it stays as it is."
_NOT_CHANGED = "Left as it is, as the file uses npu_device already: a conversion changes this in other files."


@hooks.keeps_file
def findings_of_kept_file(script: Script, fixes: list[Fix]) -> list[Finding] | None:
    """The findings of a file that stays as it is; None when the file is converted.

    A file that uses npu_device has moved: of what rules find there, only what a person has to know is said. One that another file
    brings along is not mentioned when there is nothing to say.
    """
    pragma = script.pragmas.whole_file
    if pragma is not None:
        message = "The file is switched off by this comment; it stays as it is."
        return [Finding("NPU902", Level.SKIPPED, script.span(pragma.start, pragma.end), message)]
    dialect = dialect_of(script)
    if dialect.api != ADAPTER2:
        return None
    if dialect.kind != "2":
        return [_told(script, dialect, Level.MANUAL, _NAMES_OF_1)]
    found = [finding for fix in fixes for finding in _without_changes(fix)]
    message = _told_by_another(dialect) if dialect.told_by else _HAS_MOVED
    return [_told(script, dialect, Level.INFO, message), *found] if found or not dialect.told_by else []


def _without_changes(fix: Fix) -> list[Finding]:
    """The findings of a fix that is not made: what it would have done is a remark."""
    return [replace(f, level=Level.INFO, message=_NOT_CHANGED) if f.level is Level.FIXED else f for f in fix.findings]


def _told(script: Script, dialect: Dialect, level: Level, message: str) -> Finding:
    start, end = _sign(script, dialect)
    return Finding(_DIALECT, level, script.span(start, end), message, before=script.text[start:end], part=_OF_2)


def _sign(script: Script, dialect: Dialect) -> tuple[int, int]:
    """The text that tells the dialect: a name, or what stands in a line; the beginning of the file where nothing does."""
    if dialect.sign is not None:
        return script.tree.span(dialect.sign)
    if not dialect.line:
        return 0, 0
    start = script.lines.starts[dialect.line - 1]
    line = script.text[start : script.lines.line_end(start)]
    return start + len(line) - len(line.lstrip()), start + len(line.rstrip())


def _told_by_another(dialect: Dialect) -> str:
    """The message on a file of which another one tells that it belongs to TensorFlow 2."""
    if dialect.api == ADAPTER2:
        return f"{dialect.told_by}, which imports this file, uses the TensorFlow 2 adapter (npu_device); the file stays as it is."
    return f"{dialect.told_by}, which {dialect.relation}, is a script for TensorFlow 2; converted for its adapter (npu_device)."


def _told_here(dialect: Dialect) -> str:
    """The message on a file that itself tells that it is written for TensorFlow 2, or of which the settings say so."""
    return (
        f"{shown(dialect.api)} shows that the script is for TensorFlow 2, so that it was converted for npu_device. "
        "If the script is for TensorFlow 1, convert it again with --target tf1."
    )


@hooks.after_edits
def said_about_dialect(script: Script, edits: list[Edit]) -> list[Fix]:
    """Remarks on a script for TensorFlow 2, and on one that was converted as a script for 1 and may be for 2.

    A script of which only the settings or another file tell that it is for TensorFlow 2 is not mentioned when nothing changes.
    """
    dialect = dialect_of(script)
    if dialect.kind == "2":
        is_named = bool(edits) or not (dialect.told_by or dialect.api == TARGET2)
        message = _told_by_another(dialect) if dialect.told_by else _told_here(dialect)
        return [Fix(_DIALECT, part=_OF_2, findings=[_told(script, dialect, Level.INFO, message)])] if is_named else []
    if not edits:
        return []
    if dialect.api == TARGET_COMPAT:
        return [Fix(_DIALECT, part=_OF_COMPAT, findings=[Finding(_DIALECT, Level.INFO, _BEGINNING, _COMPAT)])]
    if dialect.kind == "1 on 2":
        message = (
            "TensorFlow 2 with its version 1 behaviour: converted for the adapter of TensorFlow 1.15, as it runs graphs, "
            "which the TensorFlow 2 adapter (npu_device) does not take."
        )
        span = script.span(*script.tree.span(dialect.sign)) if dialect.sign is not None else _BEGINNING
        return [Fix(_DIALECT, findings=[Finding(_DIALECT, Level.INFO, span, message)])]
    told = tensorflow_in(script.project).dialects
    if script.config.dialect == AUTO and script.path in told.run_by_2:
        return _in_doubt(script, told.run_by_2[script.path])
    return [_assumed(told.script_for_1(script.path))] if is_either(script) else []


def _in_doubt(script: Script, importer: str) -> list[Fix]:
    """The question about a script that only TensorFlow 1 runs, and that one for TensorFlow 2 imports."""
    sign = first_name_of_1(script)
    if sign is None:
        return []
    start, end = script.tree.span(sign)
    message = (
        f"Only TensorFlow 1.15 has this name, and {importer}, which imports this file, is a script for TensorFlow 2; the file is "
        "converted as one for 1.15. Use --target tf1 where that is right for both, --target tf2 where this place is not run."
    )
    finding = Finding(_DIALECT, Level.MANUAL, script.span(start, end), message, before=script.text[start:end], part=_EITHER)
    return [Fix(_DIALECT, part=_EITHER, findings=[finding])]


def _assumed(first_1: str) -> Fix:
    """The remark on a script that either TensorFlow runs.  first_1: a script of the project that only TensorFlow 1 runs."""
    if first_1:
        message = (
            f"Nothing here belongs to TensorFlow 1 alone; read as TensorFlow 1.15, as {first_1} is. Names that 1.15 "
            "does not have are reported where they stand."
        )
        return Fix(_DIALECT, findings=[Finding(_DIALECT, Level.INFO, _BEGINNING, message)])
    message = (
        "Nothing here tells TensorFlow 1.15 from 2; converted as a script for 1.15, where it runs in a graph. "
        "Use --target tf1 where that is right, --target tf2 for a script that TensorFlow 2 runs."
    )
    return Fix(_DIALECT, part=_EITHER, findings=[Finding(_DIALECT, Level.MANUAL, _BEGINNING, message)])
