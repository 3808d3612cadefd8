"""The failure of a script, for the report: the exception, the user's line, the node, and the finding that stands there."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from npu_formats.user_frames import is_library
from tf2npu.findings import Finding, Level
from tf2npu.report.model.report import FileReport
from tf2npu.rules.run_findings import OF_RUNS

_MOST_CHARACTERS = 1000
"""Characters of an exception's text that a report keeps: the rest is on stderr."""
_HEAD_OF_STACK = "Graph execution error:"
"""First line of an error into which TensorFlow has put the stack of its node; the exception before it has what was said."""
_IN_FUNCTION = re.compile(r"\[Op:\w+\]")
"""The end of an error of eager code."""
_NODE = re.compile(r"\{\{node ([^\s}]+)\}\}")
_FRAME = re.compile(r'File "(.+?)", line (\d+)')
"""A frame of the stack that TensorFlow puts into such an error: the one that made the node."""
_WORST_FIRST = (Level.UNSUPPORTED, Level.MANUAL, Level.INFO, Level.FIXED, Level.SKIPPED)
Place = tuple[str, int]
"""File, as its code names it, and line from 1."""


@dataclass(frozen=True)
class Failure:
    """The exception that ended a script, with its place and its node.

    place: innermost line of the user's; None where there is none.  node, op: of the graph, "" where the error names none.
    node_place: the user's line that made the node.
    """

    type: str
    message: str
    place: Place | None = None
    node: str = ""
    op: str = ""
    node_place: Place | None = None


def failure_of(error: BaseException) -> Failure:
    """The failure that an exception tells of; the exception is not kept, as its frames hold sessions open."""
    errors = _with_causes(error)
    made = next((op for each in errors if (op := _operation(each)) is not None), None)
    frames = ((frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__))
    if made is None and (text := next(filter(_IN_FUNCTION.search, map(str, errors)), "")):
        return _in_function(error, text, _message(errors), _innermost(frames))
    return Failure(
        type(error).__name__,
        _message(errors),
        _innermost(frames),
        made.name if made is not None else "",
        made.type if made is not None else "",
        _innermost((frame.filename, frame.lineno) for frame in made.traceback) if made is not None else None,
    )


def _in_function(error: BaseException, text: str, message: str, place: Place | None) -> Failure:
    """The failure of a function of eager code, whose node and the lines that made it stand in the text alone."""
    nodes, lines = _NODE.findall(text), [(file, int(line)) for file, line in _FRAME.findall(text)]
    return Failure(type(error).__name__, message, place, nodes[-1] if nodes else "", "", _innermost(lines))


def worst_around(file: FileReport, line: int) -> Finding | None:
    """The worst finding of the code that stands on a line of the original; of several the narrowest."""
    of_code = (finding for finding in file.findings if not finding.rule.startswith(OF_RUNS))
    around = [finding for finding in of_code if finding.span.line <= line <= finding.span.end_line]
    return min(around, key=lambda f: (_WORST_FIRST.index(f.level), f.span.end_line - f.span.line), default=None)


def _with_causes(error: BaseException) -> list[BaseException]:
    """An exception and those that led to it, each once, the nearest first."""
    found = [error]
    for each in found:
        found += [one for one in (each.__context__, each.__cause__) if one is not None and one not in found]
    return found


def _operation(error: BaseException) -> Any:
    """The operation that one of TensorFlow's errors names."""
    op = getattr(error, "op", None)
    return op if hasattr(op, "node_def") and hasattr(op, "traceback") else None


def _message(errors: list[BaseException]) -> str:
    """The first line of the nearest exception; one with the stack that TensorFlow puts around it, which names folders of this
    computer, is passed over.
    """
    texts = [str(getattr(error, "message", "") or error) for error in errors]
    lines = [next(filter(None, map(str.strip, text.splitlines())), "") for text in texts]
    return next((line for line in lines if line != _HEAD_OF_STACK), "")[:_MOST_CHARACTERS]


def _innermost(frames: Iterable[tuple[str, int | None]]) -> Place | None:
    """The last frame, from the outermost on, that is neither ours nor a library's."""
    users = [(name, line) for name, line in frames if line and _is_users(name)]
    return users[-1] if users else None


def _is_users(file: str) -> bool:
    return not (file.startswith("<") or "site-packages" in file or is_library(file))
