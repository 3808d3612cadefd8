"""Edits of `from a import b` by which names come from where the NPU has them."""

from __future__ import annotations

from typing import Any

from tf2npu.rules.pytorch.facts.cuda_imports import NewImport, NewName
from tf2npu.scanner.sites import Site


def write_names(site: Site, found: NewImport) -> bool:
    """Write a statement, or one for each module; False where comments would be lost."""
    if len(found.modules) > 1:
        return _write_lines(site, found)
    _write_in_place(site, found)
    return True


def _write_in_place(site: Site, found: NewImport) -> None:
    """Write another module, and other names where they differ: line breaks and comments stay."""
    node: Any = site.node
    if found.modules[0] != found.names[0].old.rpartition(".")[0]:
        site.replace(node.module, found.modules[0])
    for name in found.names:
        new = name.new.rpartition(".")[2]
        if name.old.rpartition(".")[2] != new:
            site.replace(name.alias.name, new if name.alias.asname is not None else _named(name))


def _write_lines(site: Site, found: NewImport) -> bool:
    """Write a statement for each module; False where comments would be lost."""
    start, end = site.script.tree.span(site.node)
    if site.script.comments(start, end):
        return False
    line_start = site.script.lines.line_start(start)
    before = site.script.text[line_start:start]
    newline = site.script.newline_at(start) + before if not before.strip() else "; "
    lines = [
        f"from {module} import {', '.join(_named(n) for n in found.names if n.new.rpartition('.')[0] == module)}"
        for module in found.modules
    ]
    site.replace_range(start, end, newline.join(lines))
    return True


def _named(name: NewName) -> str:
    new = name.new.rpartition(".")[2]
    return new if new == name.local else f"{new} as {name.local}"
