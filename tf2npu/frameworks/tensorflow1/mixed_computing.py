"""Files whose graphs have ops for the host, and files that make the sessions in which such graphs run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from tf2npu.frameworks.base import Edges, ParsedFile
from tf2npu.scanner.facts import FileFacts
from tf2npu.scanner.import_graph import imported_by, importers_of
from tf2npu.scanner.syntax import last_name

HAS_HOST_OPS = "has_host_ops"
"""The file has ops in a graph that an NPU leaves to the host, by all that it tells not in an input pipeline."""
MAKES_SESSION = "makes_session"

_FUNCTIONS = frozenset(("py_func", "numpy_function", "py_function"))
_READERS = frozenset(("TFRecordReader",))
_TABLES = frozenset(
    (
        "IdTableWithHashBuckets", "MutableHashTable", "MutableDenseHashTable", "HashTable", "StaticHashTable",
        "StaticVocabularyTable", "DenseHashTable", "index_table_from_file", "index_table_from_tensor",
        "index_to_string_table_from_file", "index_to_string_table_from_tensor", "string_to_index_table_from_file",
        "string_to_index_table_from_tensor",
    )
)  # fmt: skip
SPARSE_OPS = ("softmax", "reshape", "reorder", "slice", "transpose", "maximum", "minimum", "fill_empty_rows", "reset_shape")
"""Ops of tf.sparse that the published list both supports and forbids."""
_SPARSE_NAMES = frozenset(("embedding_lookup_sparse", *(f"sparse_{name}" for name in SPARSE_OPS)))
_OPS = _FUNCTIONS | _TABLES | _SPARSE_NAMES | frozenset(SPARSE_OPS)
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


def flags_of_mixed_computing(file: ParsedFile) -> Iterator[str]:
    """The flags of one file."""
    called = {last_name(call.func) for call in file.calls}
    if not _SESSIONS.isdisjoint(called):
        yield MAKES_SESSION
    if not _READERS.isdisjoint(called) or (not _OPS.isdisjoint(called) and _has_ops_outside(file)):
        yield HAS_HOST_OPS


def _has_ops_outside(file: ParsedFile) -> bool:
    """Whether functions of Python, tables or sparse ops are used outside of what datasets are given."""
    is_of_input = _INPUT_FILE.search(PurePosixPath(file.path).stem) is not None
    functions = [] if is_of_input else [call for call in file.calls if last_name(call.func) in _FUNCTIONS]
    tables = [call for call in file.calls if last_name(call.func) in _TABLES]
    made = [*functions, *tables, *(call for call in file.calls if _is_sparse(call.func))]
    if not made:
        return False
    inside = list(_pipeline_lines(file))
    lookups = [call for call in file.calls if last_name(call.func) == "lookup"]
    if tables and lookups and all(_is_in(call, inside) for call in lookups):
        made = [call for call in made if call not in tables]
    return not all(_is_in(call, inside) for call in made)


def _is_sparse(function: ast.AST) -> bool:
    name = last_name(function)
    return name in _SPARSE_NAMES or (
        name in SPARSE_OPS and isinstance(function, ast.Attribute) and last_name(function.value) == "sparse"
    )


def _is_in(call: ast.Call, lines: list[tuple[int, int]]) -> bool:
    return any(start <= call.lineno <= end for start, end in lines)


def _pipeline_lines(file: ParsedFile) -> Iterator[tuple[int, int]]:
    """First and last lines of what datasets are given: calls of their methods, and the functions that these name."""
    given: set[str] = set()
    for call in file.calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr in _TAKES_FUNCTION:
            yield call.lineno, call.end_lineno or call.lineno
            values = [*call.args, *(keyword.value for keyword in call.keywords)]
            given |= {last_name(node) for value in values for node in ast.walk(value)}
    for node in file.nodes.of(ast.FunctionDef):
        if node.name in given:
            yield node.lineno, node.end_lineno or node.lineno


def mixed_files(files: dict[str, FileFacts], edges: Edges) -> tuple[frozenset[str], frozenset[str]]:
    """Files whose sessions run graphs with ops for the host, and the files that make these graphs: one program loads both."""
    making = {path for path, facts in files.items() if HAS_HOST_OPS in facts.flags}
    if not making:
        return frozenset(), frozenset()
    loading = importers_of(making, edges)
    sessions = {path for path in loading | imported_by(loading, edges) if MAKES_SESSION in files[path].flags}
    programs = {path for path in loading if sessions & ({path} | imported_by({path}, edges))}
    return frozenset(sessions), frozenset(making & (programs | imported_by(programs, edges)))
