"""Divisions of Python 2 source: which are of whole numbers, and so `//` in Python 3, and which are not."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

WHOLE, REAL, UNKNOWN = "whole", "real", ""
"""Kinds of a number. WHOLE: an integer, or a Dimension of TensorFlow, which Python 2 divides in the same way."""
_WHOLE_CALLS = frozenset(("len", "int", "ord"))
_REAL_CALLS = frozenset(
    (
        "float", "time.time", "np.sqrt", "np.log", "np.log2", "np.log10", "np.exp", "np.mean", "np.std", "np.var", "np.average",
        "tf.sqrt", "tf.log", "tf.exp", "tf.sigmoid", "tf.nn.sigmoid", "tf.tanh", "tf.nn.tanh", "tf.nn.softmax", "tf.to_float",
        "np.random.rand", "np.random.randn", "np.random.uniform", "np.random.normal", "np.linalg.norm",
    )
)  # fmt: skip
"""Calls whose results are floating-point whatever they are given, by the names that people write."""
_REAL_MODULES = ("math.", "numpy.sqrt", "numpy.log", "numpy.exp", "numpy.mean", "numpy.std")
_RANGES = frozenset(("range", "xrange"))
_SAME_KIND = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
_FLAGS = {"DEFINE_integer": WHOLE, "DEFINE_float": REAL}


@dataclass
class _Names:
    """The bindings of names in a scope: each a value, an augmented assignment, or a kind that is known at once."""

    outer: _Names | None
    bound: dict[str, list[ast.expr | ast.AugAssign | str]] = field(default_factory=dict)
    open: set[str] = field(default_factory=set)
    is_class: bool = False

    def owner(self, name: str) -> _Names | None:
        names: _Names | None = self
        while names is not None and name not in names.bound:
            names = names.outer
        return names


def with_whole_divisions(text: str) -> str:
    """Source in which divisions that are known to be of whole numbers are written `//`; text must be one that parses."""
    found = [place for node, names in _divisions(text) if is_whole(node, names) and (place := _slash(text, node)) is not None]
    for place in sorted(found, reverse=True):
        text = f"{text[:place]}/{text[place:]}"
    return text


def open_divisions(text: str) -> list[int]:
    """Lines, from 1, of divisions that may be of whole numbers."""
    return sorted({node.lineno for node, names in _divisions(text) if REAL not in _sides(node, names)})


def is_whole(node: ast.BinOp | ast.AugAssign, names: _Names) -> bool:
    """Whether both sides of a division are whole numbers."""
    return set(_sides(node, names)) == {WHOLE}


def _sides(node: ast.BinOp | ast.AugAssign, names: _Names) -> tuple[str, str]:
    if isinstance(node, ast.BinOp):
        return _kind(node.left, names), _kind(node.right, names)
    return _kind(node.target, names), _kind(node.value, names)


def _divisions(text: str) -> Iterator[tuple[ast.BinOp | ast.AugAssign, _Names]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about odd escapes in the user's strings
        tree = ast.parse(text)
    module = _Names(None)
    for name, kind in _flags(tree):
        _bind_name(f"FLAGS.{name}", kind, module)
    visited = list(_visit(tree, module))
    for node, names in visited:
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.Div):
            yield node, names


def _flags(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Options of the command line that the file defines, with what they are."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
            continue
        name = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
        given = {k.arg: k.value.id for k in node.keywords if isinstance(k.value, ast.Name)}
        kind = {"int": WHOLE, "float": REAL}.get(given.get("type", "")) if node.func.attr == "add_argument" else None
        kind = kind or _FLAGS.get(node.func.attr)
        if isinstance(name, str) and kind:
            yield name.lstrip("-").replace("-", "_"), kind


def _visit(node: ast.AST, names: _Names) -> Iterator[tuple[ast.AST, _Names]]:
    """Each node with the names that it sees; what binds a name is noted on the way."""
    yield node, names
    _bind(node, names)
    inner = names
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        inner = _Names(names.outer if names.is_class else names)
        given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
        inner.bound.update({arg.arg: [UNKNOWN] for arg in given if arg is not None})
    elif isinstance(node, ast.ClassDef):
        inner = _Names(names, is_class=True)
    for child in ast.iter_child_nodes(node):
        yield from _visit(child, inner)


def _bind(node: ast.AST, names: _Names) -> None:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            _bind_target(target, node.value, names)
    elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        names.bound.setdefault(node.target.id, []).append(node)
    elif isinstance(node, (ast.For, ast.comprehension)):
        _bind_loop(node.target, node.iter, names)
    elif isinstance(node, (ast.Global, ast.Nonlocal)):
        for name in node.names:  # given a value from elsewhere
            _bind_name(name, UNKNOWN, names)
            _bind_name(name, UNKNOWN, _module_of(names))
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        _bind_name(node.name, UNKNOWN, names)
    elif isinstance(node, ast.alias):
        _bind_name((node.asname or node.name).partition(".")[0], UNKNOWN, names)
    elif isinstance(node, ast.ExceptHandler) and node.name:
        _bind_name(node.name, UNKNOWN, names)
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        _bind_target(node.optional_vars, None, names)


def _module_of(names: _Names) -> _Names:
    return names if names.outer is None else _module_of(names.outer)


def _bind_name(name: str, value: ast.expr | str, names: _Names) -> None:
    names.bound.setdefault(name, []).append(value)


def _bind_target(target: ast.expr, value: ast.expr | None, names: _Names) -> None:
    if isinstance(target, ast.Name):
        _bind_name(target.id, UNKNOWN if value is None else value, names)
    elif isinstance(target, (ast.Tuple, ast.List)):
        values = value.elts if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts) else []
        for n, part in enumerate(target.elts):
            _bind_target(part, values[n] if values else None, names)
    elif isinstance(target, ast.Starred):
        _bind_target(target.value, None, names)


def _bind_loop(target: ast.expr, source: ast.expr, names: _Names) -> None:
    called = source.func.id if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) else ""
    if isinstance(target, ast.Name) and called in _RANGES:
        _bind_name(target.id, WHOLE, names)
    elif isinstance(target, ast.Tuple) and called == "enumerate" and isinstance(target.elts[0], ast.Name):
        _bind_name(target.elts[0].id, WHOLE, names)
        for part in target.elts[1:]:
            _bind_target(part, None, names)
    else:
        _bind_target(target, None, names)


def _kind(node: ast.expr, names: _Names) -> str:
    if isinstance(node, ast.Constant):
        return {int: WHOLE, float: REAL}.get(type(node.value), UNKNOWN)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        return _kind(node.operand, names)
    if isinstance(node, ast.BinOp):
        return _kind_of_operation(node.op, node.left, node.right, names)
    if isinstance(node, ast.Name):
        return _kind_of_name(node.id, names)
    if isinstance(node, ast.Call):
        called = ast.unparse(node.func)
        is_real = called in _REAL_CALLS or called.startswith(_REAL_MODULES)
        return WHOLE if called in _WHOLE_CALLS else REAL if is_real else UNKNOWN
    if isinstance(node, ast.Subscript):
        is_shape = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
        return WHOLE if is_shape and not isinstance(node.slice, ast.Slice) else UNKNOWN
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("args", "FLAGS"):
        return _kind_of_name(f"FLAGS.{node.attr}", names)
    return UNKNOWN


def _kind_of_operation(op: ast.operator, left: ast.expr, right: ast.expr, names: _Names) -> str:
    """Python 2 gives a whole number for two of them and a real one where a side is real."""
    kinds = {_kind(left, names), _kind(right, names)}
    if isinstance(op, ast.Pow):
        is_count = isinstance(right, ast.Constant) and isinstance(right.value, int) and right.value >= 0
        return REAL if REAL in kinds else WHOLE if kinds == {WHOLE} and is_count else UNKNOWN
    if not isinstance(op, _SAME_KIND):
        return UNKNOWN
    is_text = isinstance(op, ast.Mod) and _kind(left, names) == UNKNOWN
    return UNKNOWN if is_text else REAL if REAL in kinds else WHOLE if kinds == {WHOLE} else UNKNOWN


def _kind_of_name(name: str, names: _Names) -> str:
    """The kind on which all bindings of a name in its scope agree; UNKNOWN where they do not."""
    owner = names.owner(name)
    if owner is None or name in owner.open:
        return UNKNOWN
    owner.open.add(name)
    plain = {b if isinstance(b, str) else _kind(b, owner) for b in owner.bound[name] if not isinstance(b, ast.AugAssign)}
    changes = [b for b in owner.bound[name] if isinstance(b, ast.AugAssign)]
    changed = {_kind(b.value, owner) if isinstance(b.op, _SAME_KIND) else UNKNOWN for b in changes}
    owner.open.discard(name)
    if len(plain) != 1 or UNKNOWN in plain | changed:
        return UNKNOWN
    (kind,) = plain
    return UNKNOWN if kind == WHOLE and REAL in changed else kind


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
