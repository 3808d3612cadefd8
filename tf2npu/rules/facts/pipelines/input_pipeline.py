"""Functions of a file that run inside an input pipeline, that is on the host."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any

import libcst as cst

from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.sites import Site

_TAKES_FUNCTION = frozenset({
    "map", "filter", "flat_map", "interleave", "apply", "map_and_batch", "parallel_interleave", "from_generator",
    "group_by_window", "map_with_legacy_function", "filter_with_legacy_function", "scan", "reduce", "bucket_by_sequence_length",
})  # fmt: skip


_READS = frozenset({
    "parse_single_example", "parse_example", "parse_single_sequence_example",
    "decode_raw", "decode_image", "decode_jpeg", "decode_png",
    "decode_csv", "read_file", "decode_and_crop_jpeg",
    "decode_bmp", "decode_wav",
})  # fmt: skip


_INPUT_FILE = re.compile(r"data|input|preproc|decoder|augment|parse|reader|record|loader", re.IGNORECASE)


def in_pipeline(site: Site) -> bool:
    """Whether a site lies in a function given to a dataset's method or reading records, in what such a function calls, or in an
    input function."""
    functions = pipeline_functions(site.script)
    scope: Scope | None = site.scope
    while scope is not None:
        if id(scope) in functions or _is_input_function(site.script, scope):
            return True
        scope = scope.parent
    return False


def _is_input_function(script: Script, scope: Scope) -> bool:
    node: Any = scope.node
    return isinstance(node, cst.FunctionDef) and bool(script.project.input_uses.get((script.path, node.name.value)))


@fact
def pipeline_functions(script: Script) -> dict[int, Scope]:
    """Scopes of functions and lambdas that run in a pipeline, or read files on the host, by id."""
    # Files and records are read and decoded on the host, whoever calls the function.
    readers = [scope.function for call, scope in script.walked.calls if _called(call) in _READS and scope.function is not None]
    return _with_called(script, [*_handed_to_datasets(script), *readers])


@fact
def dataset_functions(script: Script) -> dict[int, Scope]:
    """Scopes of functions and lambdas that a dataset calls, by id; eagerly, other readers run where they stand."""
    return _with_called(script, _handed_to_datasets(script))


def _handed_to_datasets(script: Script) -> list[Scope]:
    return [
        own
        for call, scope in script.walked.calls
        if _called(call) in _TAKES_FUNCTION and _may_be_dataset(script.name_of(call.func, scope), call.func)
        for arg in call.args
        for own in function_scopes(script, arg.value, scope)
    ]


def _called(call: cst.Call) -> str:
    """The last part of what a call names."""
    func: Any = call.func
    return func.attr.value if isinstance(func, cst.Attribute) else getattr(func, "value", "")


def _with_called(script: Script, todo: list[Scope]) -> dict[int, Scope]:
    """Scopes, by id, with those of the functions that they call."""
    found: dict[int, Scope] = {}
    calls_in = _calls_by_function(script)
    while todo:
        own = todo.pop()
        if id(own) not in found:
            found[id(own)] = own
            todo += [other for func, scope in calls_in.get(id(own), ()) for other in function_scopes(script, func, scope)]
    return found


def _may_be_dataset(name: str | None, func: Any) -> bool:
    """Whether a method can be a dataset's: it is, or nothing is known about its receiver; never Python's own map or tf.scan."""
    if name is None:
        return isinstance(func, cst.Attribute)
    return name.startswith(("tensorflow.data.", "tensorflow.compat.v2.data."))


def looks_like_input(script: Script) -> bool:
    """Whether a file's name says that it reads or prepares data, so that what it defines may run in a pipeline of another."""
    return _INPUT_FILE.search(PurePosixPath(script.path).stem) is not None


def _calls_by_function(script: Script) -> dict[int, list[tuple[Any, Scope]]]:
    calls: dict[int, list[tuple[Any, Scope]]] = {}
    for call, scope in script.walked.calls:
        owner: Scope | None = scope
        while owner is not None:
            calls.setdefault(id(owner), []).append((call.func, scope))
            owner = owner.parent
    return calls


def function_scopes(script: Script, node: Any, scope: Scope) -> list[Scope]:
    """Scopes of the functions of this file that an expression can be: a lambda, a name, self.method, or partial(function)."""
    if isinstance(node, cst.Lambda):
        return [script.walked.scope_of[id(node)]]
    if isinstance(node, cst.Name):
        bindings = [b for b in scope.lookup(node.value) if b.kind == "function"]
        return [script.walked.scope_of[id(b.node)] for b in bindings]
    if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name) and node.value.value in ("self", "cls"):
        owner = scope.enclosing_class
        bindings = [b for b in owner.names.get(node.attr.value, ()) if b.kind == "function"] if owner is not None else []
        return [script.walked.scope_of[id(b.node)] for b in bindings]
    if isinstance(node, cst.Call) and node.args and script.name_of(node.func, scope) == "functools.partial":
        return function_scopes(script, node.args[0].value, scope)
    return []
