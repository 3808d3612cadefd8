"""Files whose graphs call Python, and files that make the sessions in which such graphs run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from tf2npu.frameworks.base import Edges, ParsedFile
from tf2npu.scanner.facts import FileFacts
from tf2npu.scanner.import_graph import imported_by, importers_of
from tf2npu.scanner.syntax import last_name

CALLS_PYTHON = "calls_python"
"""The file has a Python function in a graph, by all that it tells not in an input pipeline."""
MAKES_SESSION = "makes_session"

_FUNCTIONS = frozenset(("py_func", "numpy_function", "py_function"))
_SESSIONS = frozenset(
    (
        "Session", "InteractiveSession", "MonitoredTrainingSession", "managed_session", "prepare_or_wait_for_session",
        "SingularMonitoredSession",
    )
)  # fmt: skip
_TAKES_FUNCTION = frozenset(
    ("map", "filter", "flat_map", "interleave", "apply", "map_and_batch", "parallel_interleave", "from_generator", "input_fn")
)
_INPUT_FILE = re.compile(r"data|input|preproc|decoder|augment|parse|reader|record|loader", re.IGNORECASE)


def flags_of_python(file: ParsedFile) -> Iterator[str]:
    """The flags of one file."""
    if any(last_name(call.func) in _SESSIONS for call in file.calls):
        yield MAKES_SESSION
    made = [call for call in file.calls if last_name(call.func) in _FUNCTIONS]
    if made and not _INPUT_FILE.search(PurePosixPath(file.path).stem):
        inside = list(_pipeline_lines(file))
        if any(not any(start <= call.lineno <= end for start, end in inside) for call in made):
            yield CALLS_PYTHON


def _pipeline_lines(file: ParsedFile) -> Iterator[tuple[int, int]]:
    """First and last lines of what datasets are given: calls of their methods, and the functions that these name."""
    given: set[str] = set()
    for call in file.calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr in _TAKES_FUNCTION:
            yield call.lineno, call.end_lineno or call.lineno
            values = [*call.args, *(keyword.value for keyword in call.keywords)]
            given |= {last_name(node) for value in values for node in ast.walk(value)}
    for node in file.nodes:
        if isinstance(node, ast.FunctionDef) and node.name in given:
            yield node.lineno, node.end_lineno or node.lineno


def mixed_files(files: dict[str, FileFacts], edges: Edges) -> tuple[frozenset[str], frozenset[str]]:
    """Files whose sessions run graphs that call Python, and the files that make these graphs: one program loads both."""
    calling = {path for path, facts in files.items() if CALLS_PYTHON in facts.flags}
    if not calling:
        return frozenset(), frozenset()
    loading = importers_of(calling, edges)
    sessions = {path for path in loading | imported_by(loading, edges) if MAKES_SESSION in files[path].flags}
    programs = {path for path in loading if sessions & ({path} | imported_by({path}, edges))}
    return frozenset(sessions), frozenset(calling & (programs | imported_by(programs, edges)))
