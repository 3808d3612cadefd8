"""The dotted names that import statements ask for."""

from __future__ import annotations

import libcst as cst

from tf2npu.scanner.tree_walk import dotted_name


def imported_modules(node: cst.Import | cst.ImportFrom) -> list[str]:
    """Dotted names that a statement asks for; of `from a import b` both `a` and `a.b`. Relative imports are the project's own."""
    if isinstance(node, cst.Import):
        return [dotted_name(alias.name) for alias in node.names]
    if node.relative or node.module is None:
        return []
    module = dotted_name(node.module)
    if isinstance(node.names, cst.ImportStar):
        return [module]
    return [module, *(f"{module}.{dotted_name(alias.name)}" for alias in node.names)]
