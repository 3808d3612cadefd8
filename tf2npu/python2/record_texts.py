"""Values of records that are bytes to Python 3, and were text to Python 2."""

from __future__ import annotations

import ast
import warnings

_TAKES_BYTES = frozenset(
    (
        "frombuffer", "fromstring", "decode_raw", "decode_jpeg", "decode_png", "decode_image", "imdecode", "BytesIO", "StringIO",
        "loads", "ParseFromString", "FromString", "unpack", "unpack_from", "len", "int", "float", "bytes", "decompress",
    )
)  # fmt: skip
"""Functions that do the same with bytes in Python 3 as they did with text in Python 2, by their last names."""


def texts_of_records(text: str) -> list[int]:
    """Lines, from 1, that take a value of a BytesList, and do with it what only text can be meant for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about odd escapes in the user's strings
        tree = ast.parse(text)
    above = {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    taken = [node for node in ast.walk(tree) if _is_value(node)]
    return sorted({node.lineno for node in taken if isinstance(node, ast.expr) and not _stays_bytes(node, above, tree)})


def _is_value(node: ast.AST) -> bool:
    """Whether a node is `.bytes_list.value[...]`, and read."""
    values = node.value if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) else None
    owner = values.value if isinstance(values, ast.Attribute) and values.attr == "value" else None
    return isinstance(owner, ast.Attribute) and owner.attr == "bytes_list"


def _stays_bytes(node: ast.expr, above: dict[int, ast.AST], tree: ast.Module) -> bool:
    """Whether a value is decoded, or given to functions of bytes alone; of one that has a name, all uses of the name."""
    parent = above.get(id(node))
    if isinstance(parent, ast.Attribute):
        return parent.attr == "decode"
    if isinstance(parent, ast.Call):
        called = parent.func.attr if isinstance(parent.func, ast.Attribute) else getattr(parent.func, "id", "")
        return node is not parent.func and called in _TAKES_BYTES
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1 or not isinstance(parent.targets[0], ast.Name):
        return False
    name = parent.targets[0].id
    uses = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
    return all(not isinstance(above.get(id(use)), ast.Assign) and _stays_bytes(use, above, tree) for use in uses)
