"""Divisions of Python 2 source: which are of whole numbers, and so `//` in Python 3, and which are not."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterator

from tf2npu.python2.call_sites import bind_arguments
from tf2npu.python2.canonical_names import with_canonical_names
from tf2npu.python2.known_calls import taken_as_real
from tf2npu.python2.number_kinds import kind_of
from tf2npu.python2.scopes import REAL, UNKNOWN, WHOLE, Bindings, Given, attribute_key, scopes_of
from tf2npu.python2.settled_names import note_settled_names
from tf2npu.python2.whole_uses import indexes, rounded, whole_parts, whole_places

END_OF_CELL = "#:end_of_cell"
"""The beginning of a line behind each cell of a notebook: cells are run in any order, and more than once."""
_SHORTENING = frozenset(("pop", "remove", "clear"))


def with_whole_divisions(text: str) -> str:
    """Source in which divisions that are known to be of whole numbers are written `//`; text must be one that parses."""
    divisions = list(_divisions(text, _is_nobodys, END_OF_CELL not in text))
    found = [place for node, kind in divisions if kind == WHOLE and (place := _slash(text, node)) is not None]
    for place in sorted(found, reverse=True):
        text = f"{text[:place]}/{text[place:]}"
    return text


def _is_nobodys(name: str) -> bool:
    return False


def open_divisions(text: str, is_own: Callable[[str], bool] = _is_nobodys, in_order: bool = True) -> list[int]:
    """Lines, from 1, of divisions that may be of whole numbers.

    is_own: whether no other file uses a name of the module.  in_order: whether the text is run from its first line to its last.
    """
    return sorted({node.lineno for node, kind in _divisions(text, is_own, in_order) if kind != REAL})


def _kind_of_division(node: ast.BinOp | ast.AugAssign, names: Bindings, whole: set[int], same: set[int]) -> str:
    """WHOLE where `//` is meant, REAL where Python 2 and 3 give the same.  whole: ids of what must be whole numbers.

    same: ids of quotients that are rounded down afterwards.
    """
    sides = _sides(node, names)
    if REAL in sides:
        return REAL
    return WHOLE if set(sides) == {WHOLE} or id(node) in whole else REAL if id(node) in same else UNKNOWN


def _sides(node: ast.BinOp | ast.AugAssign, names: Bindings) -> tuple[str, str]:
    if isinstance(node, ast.BinOp):
        return kind_of(node.left, names), kind_of(node.right, names)
    return kind_of(node.target, names), kind_of(node.value, names)


def _divisions(text: str, is_own: Callable[[str], bool], in_order: bool) -> Iterator[tuple[ast.BinOp | ast.AugAssign, str]]:
    """Each division with its kind."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about odd escapes in the user's strings
        tree = ast.parse(text)
    if not any(isinstance(node, ast.Div) for node in ast.walk(tree)):
        return
    module, visited = scopes_of(with_canonical_names(tree))
    note_settled_names(visited, module, in_order)
    bind_arguments(visited, module, is_own)
    _note_uses(visited, module)
    whole = {id(part) for node, names in visited for place in whole_places(node) for part in _whole(place, names)}
    whole |= set(_indexes_with_rests(visited))
    same = {id(value) for node, _ in visited if (value := rounded(node)) is not None}
    for node, names in visited:
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.Div):
            yield node, _kind_of_division(node, names, whole, same)


def _note_uses(visited: list[tuple[ast.AST, Bindings]], module: Bindings) -> None:
    """Note names that are given to functions of real numbers, and lists that lose parts."""
    for node, names in visited:
        taken = taken_as_real(node)
        if isinstance(taken, ast.Name):
            module.facts.real.add((id(names.owner(taken.id)), taken.id))
        elif taken is not None and (key := attribute_key(taken)) is not None:
            module.facts.real.add((id(module), key))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _SHORTENING:
            module.facts.shortened.update(_key(node.func.value))
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            module.facts.shortened.update(_key(node.value))


def _key(node: ast.expr) -> list[str]:
    return [node.id] if isinstance(node, ast.Name) else [f".{node.attr}"] if isinstance(node, ast.Attribute) else []


def _whole(place: ast.expr, names: Bindings) -> Iterator[ast.expr]:
    """The parts of an expression that must be whole where it must be, and those of the one value of each name in it."""
    for part in whole_parts(place):
        yield part
        value = _only_value(part, names)
        if value is not None:
            yield from whole_parts(value)


def _only_value(node: ast.expr, names: Bindings) -> ast.expr | None:
    """The one value that a name, or an attribute of self, has in the file."""
    key = node.id if isinstance(node, ast.Name) else attribute_key(node)
    owner = names.owner(key) if key is not None else None
    bound = [b.value if isinstance(b, Given) else b for b in owner.bound[key]] if owner is not None and key is not None else []
    is_argument = owner is not None and key in owner.arguments
    return bound[0] if len(bound) == 1 and isinstance(bound[0], ast.expr) and not is_argument else None


def _indexes_with_rests(visited: list[tuple[ast.AST, Bindings]]) -> Iterator[int]:
    """Ids of quotients that are indexes beside the rest of the same division: row and column, as `divmod` gives them."""
    rests = {
        (id(names), ast.unparse(node.left), ast.unparse(node.right))
        for node, names in visited
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)
    }
    for node, names in visited:
        for index in indexes(node):
            value = index if isinstance(index, ast.BinOp) else _only_value(index, names)
            if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Div):
                continue
            if (id(names), ast.unparse(value.left), ast.unparse(value.right)) in rests:
                yield id(value)


def _slash(text: str, node: ast.BinOp | ast.AugAssign) -> int | None:
    """The offset of the division sign of a node; None where a comment or a line break is between its sides."""
    left, right = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)
    if left.end_lineno != right.lineno or left.end_col_offset is None:
        return None
    lines = text.split("\n")
    line = lines[right.lineno - 1].encode()
    between = line[left.end_col_offset : right.col_offset].decode()
    start = sum(len(one) + 1 for one in lines[: right.lineno - 1]) + len(line[: left.end_col_offset].decode())
    place = between.find("/")
    return None if place < 0 or "#" in between else start + place
