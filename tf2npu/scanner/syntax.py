"""Children of the nodes of Python's own syntax trees, in a third of the time that `ast.iter_child_nodes` takes."""

from __future__ import annotations

import ast
import warnings
from functools import cached_property
from typing import TypeVar, cast

N = TypeVar("N", bound=ast.AST)

LEAVES = frozenset({ast.Name, ast.Constant, ast.Global, ast.Nonlocal, ast.MatchSingleton, ast.alias})
# Fields that never hold a node, or only an operator or a context, which have nothing below them.
_PLAIN = frozenset({
    "arg", "asname", "attr", "conversion", "ctx", "id", "is_async", "kind", "kwd_attrs", "level", "module", "name", "op", "ops",
    "rest", "simple", "tag", "type_comment", "type_ignores",
})  # fmt: skip
_FIELDS: dict[type, tuple[str, ...]] = dict.fromkeys(LEAVES, ())


def parsed(text: str) -> ast.Module:
    """The tree of a source, without a word about odd escapes in the user's strings.  Raises: as `ast.parse`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below one, field by field, without operators and the contexts (load, store) of expressions."""
    kind = type(node)
    fields = _FIELDS.get(kind)
    if fields is None:
        fields = _FIELDS[kind] = tuple(name for name in node._fields if name not in _PLAIN or _is_node(kind, name))
    below: list[ast.AST] = []
    for name in fields:
        value = getattr(node, name, None)
        if type(value) is list:
            below += value if None not in value else [item for item in value if item is not None]
        elif value is not None:
            below.append(value)
    return below


Chain = tuple[ast.Name | ast.Attribute, str, str]
"""A name, or a chain of attributes from one: the node, the name, and the attributes with a dot before each."""


class Nodes(list[ast.AST]):
    """All nodes of a module but expression contexts, level by level, in the order of `ast.walk`; and those of each kind.

    depth: the number of levels.
    """

    def __init__(self, module: ast.Module) -> None:
        super().__init__()
        self.depth = 0
        self._kinds: dict[type[ast.AST], list[ast.AST]] = {}
        level: list[ast.AST] = [module]
        while level:
            self.depth += 1
            self += level
            below: list[ast.AST] = []
            for node in level:
                kind = type(node)
                if kind in self._kinds:
                    self._kinds[kind].append(node)
                else:
                    self._kinds[kind] = [node]
                if kind not in LEAVES:
                    below += children(node)
            level = below

    def of(self, kind: type[N]) -> list[N]:
        """The nodes of one kind."""
        return cast("list[N]", self._kinds.get(kind, []))

    @cached_property
    def chains(self) -> list[Chain]:
        """The names and chains of attributes from a name, each chain behind those that hold it."""
        found: list[Chain] = []
        for node in self:
            if type(node) is ast.Name:
                found.append((node, node.id, ""))
            elif type(node) is ast.Attribute:
                root, parts = chain(node)
                if root:
                    found.append((node, root, f".{'.'.join(parts)}"))
        return found


def chain(node: ast.expr) -> tuple[str, list[str]]:
    """The name that a chain of attributes starts with ("" where it starts with something else), and the attributes in order."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return node.id if isinstance(node, ast.Name) else "", parts[::-1]


def last_name(node: ast.AST) -> str:
    """The last name of a chain of attributes, or a name alone; "" for another expression."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def walk(node: ast.AST) -> list[ast.AST]:
    """A node and all below it, nearest first."""
    found = [node]
    for one in found:  # which grows
        found += children(one)
    return found


def _is_node(kind: type, name: str) -> bool:
    """Whether a field is a node: from Python 3.12 on the name of a type alias is one."""
    return kind.__name__ == "TypeAlias" and name == "name"
