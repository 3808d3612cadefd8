"""Divisions of Python 2 source: which are of whole numbers, and so `//` in Python 3, and which are not."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

from tf2npu.python2.whole_uses import rounded, whole_parts, whole_places

WHOLE, REAL, UNKNOWN = "whole", "real", ""
"""Kinds of a number. WHOLE: an integer, or a Dimension of TensorFlow, which Python 2 divides in the same way."""
_WHOLE_CALLS = frozenset(("len", "int", "ord"))
_REAL_CALLS = frozenset(
    (
        "float", "time.time", "np.sqrt", "np.log", "np.log2", "np.log10", "np.exp", "np.mean", "np.std", "np.var", "np.average",
        "tf.sqrt", "tf.log", "tf.exp", "tf.sigmoid", "tf.nn.sigmoid", "tf.tanh", "tf.nn.tanh", "tf.nn.softmax", "tf.to_float",
        "np.random.rand", "np.random.randn", "np.random.uniform", "np.random.normal", "np.linalg.norm", "tf.nn.l2_loss",
        "np.float32", "np.float64", "nn_ops.softmax", "math_ops.to_float", "np.log1p", "tf.log1p", "tf.nn.log_softmax",
        "tf.nn.sparse_softmax_cross_entropy_with_logits", "tf.nn.softmax_cross_entropy_with_logits",
        "tf.nn.sigmoid_cross_entropy_with_logits",
    )
)  # fmt: skip
"""Calls whose results are floating-point whatever they are given, by the names that people write."""
_REAL_TYPES = frozenset(("float", "np.float", "np.float32", "np.float64", "tf.float32", "numpy.float32", "'float32'"))
_CASTS = frozenset(("tf.cast", "math_ops.cast", "np.asarray", "np.array"))
_SAME_AS_ARGUMENT = frozenset(
    ("tf.reduce_sum", "tf.reduce_mean", "tf.reshape", "tf.squeeze", "tf.expand_dims", "tf.abs", "tf.square", "np.sum", "np.abs")
)
"""Calls whose results are of the kind of their first argument."""
_REAL_MODULES = ("math.", "numpy.sqrt", "numpy.log", "numpy.exp", "numpy.mean", "numpy.std")
_RANGES = frozenset(("range", "xrange"))
_SAME_KIND = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
_FLAGS = {"DEFINE_integer": WHOLE, "DEFINE_float": REAL}


@dataclass
class _Names:
    """The bindings of names in a scope: each a value, an augmented assignment, or a kind that is known at once."""

    outer: _Names | None
    bound: dict[str, list[ast.expr | ast.AugAssign | str]] = field(default_factory=dict)
    open: dict[str, str] = field(default_factory=dict)
    is_class: bool = False

    def owner(self, name: str) -> _Names | None:
        names: _Names | None = self
        while names is not None and name not in names.bound:
            names = names.outer
        return names


def with_whole_divisions(text: str) -> str:
    """Source in which divisions that are known to be of whole numbers are written `//`; text must be one that parses."""
    divisions = list(_divisions(text))
    found = [place for node, names, kind in divisions if kind == WHOLE and (place := _slash(text, node)) is not None]
    for place in sorted(found, reverse=True):
        text = f"{text[:place]}/{text[place:]}"
    return text


def open_divisions(text: str) -> list[int]:
    """Lines, from 1, of divisions that may be of whole numbers."""
    return sorted({node.lineno for node, _, kind in _divisions(text) if kind != REAL})


def _kind_of_division(node: ast.BinOp | ast.AugAssign, names: _Names, whole: set[int], same: set[int]) -> str:
    """WHOLE where `//` is meant, REAL where Python 2 and 3 give the same.  whole: ids of what must be whole numbers.

    same: ids of quotients that are rounded down afterwards.
    """
    sides = _sides(node, names)
    if REAL in sides:
        return REAL
    return WHOLE if set(sides) == {WHOLE} or id(node) in whole else REAL if id(node) in same else UNKNOWN


def _sides(node: ast.BinOp | ast.AugAssign, names: _Names) -> tuple[str, str]:
    if isinstance(node, ast.BinOp):
        return _kind(node.left, names), _kind(node.right, names)
    return _kind(node.target, names), _kind(node.value, names)


def _divisions(text: str) -> Iterator[tuple[ast.BinOp | ast.AugAssign, _Names, str]]:
    """Each division with the names that it sees, and its kind."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about odd escapes in the user's strings
        tree = ast.parse(text)
    module = _Names(None)
    for name, kind in _flags(tree):
        _bind_name(f"FLAGS.{name}", kind, module)
    _bind_attributes(tree, module)
    visited = list(_visit(tree, module))
    whole = {id(part) for node, names in visited for place in whole_places(node) for part in _whole(place, names)}
    same = {id(value) for node, _ in visited if (value := rounded(node)) is not None}
    for node, names in visited:
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.Div):
            yield node, names, _kind_of_division(node, names, whole, same)


def _whole(place: ast.expr, names: _Names) -> Iterator[ast.expr]:
    """The parts of an expression that must be whole where it must be, and those of the one value of each name in it."""
    for part in whole_parts(place):
        yield part
        owner = names.owner(part.id) if isinstance(part, ast.Name) else None
        bound = owner.bound[part.id] if owner is not None and isinstance(part, ast.Name) else []
        if len(bound) == 1 and isinstance(bound[0], ast.expr):
            yield from whole_parts(bound[0])


def _bind_attributes(tree: ast.Module, module: _Names) -> None:
    """Note what attributes get, whatever object has them: `.name` is bound to all of it."""
    for node in ast.walk(tree):
        targets = node.targets if isinstance(node, ast.Assign) else []
        for target in targets:
            names = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
            value: ast.expr | str = node.value if names == [target] and isinstance(node, ast.Assign) else UNKNOWN
            for name in names:
                if isinstance(name, ast.Attribute):
                    _bind_name(f".{name.attr}", value, module)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Attribute):
            module.bound.setdefault(f".{node.target.attr}", []).append(node)
        if isinstance(node, ast.ClassDef):
            for own in (t.id for s in node.body if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)):
                _bind_name(f".{own}", UNKNOWN, module)


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
        return _kind_of_call(node, names)
    if isinstance(node, ast.Subscript):
        is_shape = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
        is_shape = is_shape or (isinstance(node.value, ast.Call) and ast.unparse(node.value.func).endswith(".as_list"))
        return WHOLE if is_shape and not isinstance(node.slice, ast.Slice) else UNKNOWN
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("args", "FLAGS"):
        return _kind_of_name(f"FLAGS.{node.attr}", names)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        kind = _kind_of_name(f".{node.attr}", names)
        return kind if kind == REAL else UNKNOWN  # a whole number may become another where another file sets it
    return UNKNOWN


def _kind_of_call(node: ast.Call, names: _Names) -> str:
    """REAL for functions that give real numbers, casts to them, and sums of them; WHOLE for lengths and the like."""
    called = ast.unparse(node.func)
    if called in _WHOLE_CALLS:
        return WHOLE
    given = [ast.unparse(value) for value in (*node.args, *(k.value for k in node.keywords if k.arg == "dtype"))]
    is_cast = called in _CASTS or called.endswith(".astype")
    if called in _REAL_CALLS or called.startswith(_REAL_MODULES) or (is_cast and not _REAL_TYPES.isdisjoint(given)):
        return REAL
    return _kind(node.args[0], names) if called in _SAME_AS_ARGUMENT and node.args else UNKNOWN


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
        return UNKNOWN if owner is None else owner.open[name]
    bound = owner.bound[name]
    owner.open[name] = UNKNOWN
    first = {b if isinstance(b, str) else _kind(b, owner) for b in bound if not isinstance(b, ast.AugAssign)}
    if REAL in first and UNKNOWN in first:  # s = s + x is real where s is: s is taken for real, and looked at again
        owner.open[name] = REAL
        first = {b if isinstance(b, str) else _kind(b, owner) for b in bound if not isinstance(b, ast.AugAssign)}
    changes = [b for b in bound if isinstance(b, ast.AugAssign)]
    changed = {_kind(b.value, owner) if isinstance(b.op, _SAME_KIND) else UNKNOWN for b in changes}
    del owner.open[name]
    if len(first) != 1 or UNKNOWN in first:
        return UNKNOWN
    (kind,) = first
    is_nothing = all(isinstance(b, ast.Constant) and b.value == 0 for b in bound if b not in changes)
    if is_nothing and changed == {REAL} and all(isinstance(b.op, (ast.Add, ast.Sub)) for b in changes):
        return REAL  # as long as nothing was added it is 0, whatever it is divided by
    if kind == REAL:
        return REAL if all(isinstance(b.op, _SAME_KIND) for b in changes) else UNKNOWN
    return UNKNOWN if UNKNOWN in changed or REAL in changed else kind


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
