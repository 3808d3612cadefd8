"""The dotted names that import statements ask for, and the names that they bind."""

from __future__ import annotations

import libcst as cst

from tf2npu.scanner.tree_walk import dotted_name


def imported_modules(node: cst.Import | cst.ImportFrom) -> list[str]:
    """Dotted names that a statement asks for; of `from a import b` both `a` and `a.b`. Relative imports are the project's own."""
    return [dotted for level, dotted in asked_modules(node) if level == 0]


def asked_modules(node: cst.Import | cst.ImportFrom) -> list[tuple[int, str]]:
    """The same with relative imports: each name behind its level."""
    if isinstance(node, cst.Import):
        return [(0, dotted_name(alias.name)) for alias in node.names]
    level, module = len(node.relative), dotted_name(node.module) if node.module is not None else ""
    names = [] if isinstance(node.names, cst.ImportStar) else [dotted_name(alias.name) for alias in node.names]
    return [(level, module), *((level, f"{module}.{name}" if module else name) for name in names)]


def bound_name(alias: cst.ImportAlias) -> str:
    """The name that an alias of an import statement binds."""
    if alias.asname is not None:
        return dotted_name(alias.asname.name)
    return dotted_name(alias.name).partition(".")[0]
