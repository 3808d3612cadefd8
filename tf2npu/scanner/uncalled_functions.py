"""Functions that nothing in a project names: no call, no reference, no text, so that no run of it comes to them.

Anything that could reach a function without its name, such as a decorator, a base class of another package, names that are put
together when it runs, or an installation that others import, makes it one that may be called.
"""

from __future__ import annotations

import ast
import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from tf2npu.scanner.input_roles import Target
from tf2npu.scanner.syntax import Nodes

_BY_NAME = frozenset({"globals", "locals", "vars", "eval", "exec", "__import__"})
_ATTRIBUTES = frozenset({"__dict__", "import_module", "attrgetter", "methodcaller"})
"""Names, and attributes of anything, by which code may reach a function that it does not name."""
_ASKING = frozenset({"getattr", "hasattr", "setattr"})
"""Functions that reach an attribute by a text, which may be put together."""
_STARTED = ("__", "test", "pytest_", "main")
"""Beginnings of the names of functions that others start by their name."""
_HARMLESS = frozenset({"staticmethod", "classmethod", "property"})
_CODE = (".py", ".ipynb")
_INSTALLED = frozenset({"setup.py", "setup.cfg", "pyproject.toml"})
"""Files beside which a package stands that other projects import."""


@dataclass(frozen=True)
class Naming:
    """The names of one file.

    words: checksums of all identifiers that it uses, 4 bytes each.  defined: functions and methods that are reached by their
    names alone, with the classes of other modules that their class extends.  others: the names of its other functions.
    reads_names: whether it may reach functions by names that are not written in it.
    """

    words: bytes
    defined: tuple[tuple[str, tuple[Target, ...]], ...]
    others: frozenset[str]
    reads_names: bool


def naming(module: ast.Module, nodes: Nodes, targets: Mapping[str, Target]) -> Naming:
    """The names of a file.  nodes: all of its nodes; targets: what its imports of other modules mean."""
    words = _words(nodes)
    sums = array("I", sorted(set(map(_sum, words))))
    plain = [(node, above) for node, above in _plain(module, targets) if _is_reached_by_name(node)]
    known = {id(node) for node, _ in plain}
    functions: list[ast.FunctionDef | ast.AsyncFunctionDef] = [*nodes.of(ast.FunctionDef), *nodes.of(ast.AsyncFunctionDef)]
    others = {node.name for node in functions if id(node) not in known}
    return Naming(sums.tobytes(), tuple((node.name, above) for node, above in plain), frozenset(others), _reads_names(nodes))


def _words(nodes: Nodes) -> set[str]:
    """The identifiers that nodes use, and the texts that could be some."""
    words = {node.id for node in nodes.of(ast.Name)}
    words.update(node.attr for node in nodes.of(ast.Attribute))
    words.update(part for node in nodes.of(ast.alias) for part in node.name.split("."))
    texts = {node.value for node in nodes.of(ast.Constant) if isinstance(node.value, str)}
    words.update(text for text in texts if text.isidentifier())
    return words


def _reads_names(nodes: Nodes) -> bool:
    """Whether some node may reach something by a name that is not written there."""
    asking = (node for node in nodes.of(ast.Call) if isinstance(node.func, ast.Name) and node.func.id in _ASKING)
    return (
        any(node.id in _BY_NAME for node in nodes.of(ast.Name))
        or any(node.attr in _ATTRIBUTES for node in nodes.of(ast.Attribute))
        or any(len(node.args) < 2 or not isinstance(node.args[1], ast.Constant) for node in asking)
    )


def _plain(module: ast.Module, targets: Mapping[str, Target]) -> Iterator[tuple[ast.FunctionDef, tuple[Target, ...]]]:
    """Functions of the module, and methods of its classes whose bases are known."""
    known: dict[str, tuple[Target, ...]] = {"object": ()}  # classes -> what they extend of other modules
    for node in module.body:
        if isinstance(node, ast.FunctionDef):
            yield node, ()
        elif isinstance(node, ast.ClassDef) and not node.decorator_list and not node.keywords:
            bases = [_bases(base, known, targets) for base in node.bases]
            if None not in bases:
                above = known[node.name] = tuple(target for found in bases if found is not None for target in found)
                yield from ((method, above) for method in node.body if isinstance(method, ast.FunctionDef))


def _bases(base: ast.expr, known: Mapping[str, tuple[Target, ...]], targets: Mapping[str, Target]) -> tuple[Target, ...] | None:
    """The classes of other modules that a base class is, or extends; None where that is not known."""
    name = base.id if isinstance(base, ast.Name) else ""
    return known[name] if name in known else (targets[name],) if name in targets else None


def _is_reached_by_name(node: ast.FunctionDef) -> bool:
    is_plain = all(isinstance(one, ast.Name) and one.id in _HARMLESS for one in node.decorator_list)
    return is_plain and not node.name.startswith(_STARTED)


def uncalled(files: Mapping[str, Naming | None], find_module: Callable[[str, int, str], str | None]) -> frozenset[str]:
    """Names of functions that no file names; none where a file may reach functions by other names, or cannot be read.

    files: the names of each file of the project, None where they are not known.  find_module: the file that an
    import of a file, with its level, refers to; None for modules of others.
    """
    code = {path: found for path, found in files.items() if path.endswith(_CODE)}
    if any(PurePosixPath(path).name in _INSTALLED for path in files) or any(f is None or f.reads_names for f in code.values()):
        return frozenset()
    known = {path: found for path, found in code.items() if found is not None}
    others = frozenset[str]().union(*(found.others for found in known.values()))
    words = {word for found in known.values() for word in array("I", found.words)}

    def is_own(path: str, target: Target) -> bool:
        return find_module(path, target[0], target[1].rpartition(".")[0]) is not None

    defined = ((path, name, above) for path, found in known.items() for name, above in found.defined)
    by_name: dict[str, bool] = {}  # whether each definition of a name is reached by it alone
    for path, name, above in defined:
        if name not in others and _sum(name) not in words:
            by_name[name] = by_name.get(name, True) and all(is_own(path, target) for target in above)
    return frozenset(name for name, is_alone in by_name.items() if is_alone)


def unshared(files: Mapping[str, Naming | None], definitions: Mapping[str, Iterable[str]]) -> dict[str, frozenset[str]]:
    """Names of some files that no other file names; none where a file may reach them by other names, or cannot be read.

    files: the names of each file of the project, None where they are not known.  definitions: what those files define.
    """
    code = {path: found for path, found in files.items() if path.endswith(_CODE)}
    if any(PurePosixPath(path).name in _INSTALLED for path in files) or any(f is None or f.reads_names for f in code.values()):
        return {}
    words = {path: set(array("I", found.words)) for path, found in code.items() if found is not None}
    users = Counter(word for found in words.values() for word in found)
    return {
        path: frozenset(name for name in names if users[_sum(name)] == (_sum(name) in words.get(path, ())))
        for path, names in definitions.items()
    }


def _sum(word: str) -> int:
    return zlib.crc32(word.encode("utf-8", "surrogatepass"))
