"""Files that stay as they are: switched off by a comment, or written for TensorFlow 2."""

from __future__ import annotations

from tf2npu.findings import Edit, Finding, Level, Span
from tf2npu.frameworks.tensorflow1.dialect import ADAPTER2, TARGET2, Dialect, dialect_of, is_either
from tf2npu.frameworks.tensorflow1.project import tensorflow_in
from tf2npu.rules import hooks
from tf2npu.scanner.script import Script
from tf2npu.scanner.text.edits import Fix

_DIALECT = "NPU903"
_EITHER = "either_tensorflow"
"""The part of the rule that asks which TensorFlow a script is for."""
_BEGINNING = Span(1, 1, 1, 1)


@hooks.keeps_file
def findings_of_kept_file(script: Script, fixes: list[Fix]) -> list[Finding] | None:
    """The findings of a file that stays as it is; None when the file is converted.

    A file for TensorFlow 2 gets the findings of the detectors as well. A file of which only another file tells that it is for
    TensorFlow 2, or the settings alone, is not mentioned when there is no work in it.
    """
    left_alone = _why_left_alone(script)
    if left_alone is None:
        return None
    dialect = dialect_of(script)
    if (dialect.told_by or dialect.api == TARGET2) and not any(_is_work(fix) for fix in fixes):
        return []
    if left_alone.rule != _DIALECT or dialect.api == ADAPTER2:
        return [left_alone]
    return [left_alone, *(f for fix in fixes if fix.rule.startswith("NPU9") and not fix.changes for f in fix.findings)]


def _is_work(fix: Fix) -> bool:
    """Whether there is something to change or to do."""
    return bool(fix.changes) or any(f.level in (Level.MANUAL, Level.UNSUPPORTED) for f in fix.findings)


def _why_left_alone(script: Script) -> Finding | None:
    """The finding on a file that could be read and is not converted: a comment asks for it, or it is for TensorFlow 2."""
    pragma = script.pragmas.whole_file
    if pragma is not None:
        message = "The file is switched off by this comment; it stays as it is."
        return Finding("NPU902", Level.SKIPPED, script.span(pragma.start, pragma.end), message)
    dialect = dialect_of(script)
    if dialect.told_by:
        return Finding(_DIALECT, Level.UNSUPPORTED, _BEGINNING, _told_by_another(dialect))
    if dialect.kind != "2" and dialect.api != ADAPTER2:
        return None
    start, end = _sign(script, dialect)
    level = Level.UNSUPPORTED if dialect.kind == "2" else Level.MANUAL
    return Finding(_DIALECT, level, script.span(start, end), _told_here(dialect), before=script.text[start:end])


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
        return (
            f"{dialect.told_by}, which imports this file, uses the TensorFlow 2 adapter (npu_device); the file stays as it is, "
            "as half of one adapter and half of the other run on neither."
        )
    return (
        f"{dialect.told_by}, which {dialect.relation}, is a script for TensorFlow 2. Scripts for the TensorFlow 2 adapter "
        "(npu_device) are not converted yet; the file stays as it is."
    )


def _told_here(dialect: Dialect) -> str:
    """The message on a file that itself tells that it is written for TensorFlow 2, or for its adapter."""
    if dialect.api == ADAPTER2 and dialect.kind != "2":
        return (
            "The file uses the TensorFlow 1 names of the TensorFlow 2 adapter; it stays as it is. To move it, write "
            "npu_bridge.npu_init where it has npu_device.compat.v1.npu_init, and convert it again."
        )
    if dialect.api == ADAPTER2:
        return (
            "The file uses the TensorFlow 2 adapter (npu_device) already; it stays as it is. Run it on an NPU host with "
            "that adapter: it does not run on the simulated device."
        )
    return (
        f"{dialect.api.replace('tensorflow.', 'tf.', 1)} tells that this is a script for TensorFlow 2. Scripts for the "
        "TensorFlow 2 adapter (npu_device) are not converted yet; the file stays as it is."
    )


@hooks.after_edits
def said_about_dialect(script: Script, edits: list[Edit]) -> list[Fix]:
    """Remarks for a user of TensorFlow 2 on a script that was converted as one for TensorFlow 1."""
    if not edits:
        return []
    dialect = dialect_of(script)
    if dialect.kind == "1 on 2":
        message = (
            "TensorFlow 2 with its version 1 behaviour: converted for the adapter of TensorFlow 1.15. "
            "Scripts for the TensorFlow 2 adapter (npu_device) are not converted yet."
        )
        span = script.span(*script.tree.span(dialect.sign)) if dialect.sign is not None else _BEGINNING
        return [Fix(_DIALECT, findings=[Finding(_DIALECT, Level.INFO, span, message)])]
    return [_assumed(tensorflow_in(script.project).dialects.script_for_1(script.path))] if is_either(script) else []


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
        "Use --target tf1 where that is right, --target tf2 to leave the file as it is."
    )
    return Fix(_DIALECT, part=_EITHER, findings=[Finding(_DIALECT, Level.MANUAL, _BEGINNING, message)])
