"""Places of Python source that take whole numbers alone, and quotients that are rounded down in Python 2 and 3 alike."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tf2npu.python2.known_calls import called_name

_RANGES = frozenset(("range", "xrange", "trange"))
_SHAPED = {
    "tf.reshape": 1, "np.reshape": 1, "tf.zeros": 0, "tf.ones": 0, "np.zeros": 0, "np.ones": 0, "np.empty": 0, "np.full": 0,
    "tf.tile": 1, "np.tile": 1, "tf.fill": 0, "tf.placeholder": 1, "tf.get_variable": 1, "tf.random_normal": 0,
    "tf.truncated_normal": 0, "tf.random_uniform": 0,
}  # fmt: skip
"""Functions that take a shape, or multiples, by the names that people write, and the position of the shape."""
_ROUNDING = frozenset(("math.floor", "np.floor", "numpy.floor"))
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv)
_COUNT = re.compile(
    r"(?:^|_)(?:n|num|number|count|counter|len|length|size|total|batch|batches|epochs?|steps?|width|height|rows|cols|samples?|examples?)"
    r"(?:_|$)|(?:^n|num|count|size|len)$"
)
"""Names of numbers of things, which are not negative."""


def whole_places(node: ast.AST) -> Iterator[ast.expr]:
    """Expressions of a node that must be whole numbers, or the program ends: ends of ranges, sizes, bounds."""
    if isinstance(node, ast.Call):
        called = called_name(node.func)
        if called in _RANGES:
            yield from node.args
        elif called in _SHAPED:
            shapes = [k.value for k in node.keywords if k.arg in ("shape", "multiples", "dims")] or node.args[_SHAPED[called] :][
                :1
            ]
            yield from (size for shape in shapes for size in _sizes(shape))
        elif called.endswith(".reshape"):
            yield from (size for shape in node.args for size in _sizes(shape))
    elif isinstance(node, ast.Slice):
        yield from (bound for bound in (node.lower, node.upper, node.step) if bound is not None)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and isinstance(node.left, ast.List):
        yield node.right


def indexes(node: ast.AST) -> Iterator[ast.expr]:
    """The indexes by which a node takes a part of something."""
    if isinstance(node, ast.Subscript):
        yield from node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def _sizes(shape: ast.expr) -> list[ast.expr]:
    return list(shape.elts) if isinstance(shape, (ast.List, ast.Tuple)) else [shape]


def whole_parts(node: ast.expr) -> Iterator[ast.expr]:
    """The parts of an expression that are whole numbers where it is one, itself among them."""
    yield node
    if isinstance(node, ast.BinOp) and isinstance(node.op, _ARITHMETIC):
        yield from whole_parts(node.left)
        yield from whole_parts(node.right)
    elif isinstance(node, ast.UnaryOp):
        yield from whole_parts(node.operand)


def rounded(node: ast.AST) -> ast.expr | None:
    """The quotient that a call rounds down whatever Python divides it; None for other nodes, and where it may be negative."""
    if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
        return None
    called, value = ast.unparse(node.func), node.args[0]
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Div):
        return None
    is_same = called in _ROUNDING or (called == "int" and _is_count(value.left) and _is_count(value.right))
    return value if is_same else None


def _is_count(node: ast.expr) -> bool:
    """Whether an expression is a number of things, as its parts and names say."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float)) and node.value >= 0
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) == "len"
    if isinstance(node, ast.Subscript):
        is_shape = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
        is_list = isinstance(node.value, ast.Call) and ast.unparse(node.value.func).endswith(".as_list")
        return is_shape or is_list or (not isinstance(node.slice, ast.Slice) and _is_count(node.value))
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, (ast.Add, ast.Mult)) and _is_count(node.left) and _is_count(node.right)
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return _COUNT.search(name.lower()) is not None
