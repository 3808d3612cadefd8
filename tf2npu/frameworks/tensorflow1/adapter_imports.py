"""The adapters that a source imports, and the files of its own project that it does: told from the text, nothing is run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from npu_formats.files.bounded_read import MOST_SOURCE_BYTES, read_at_most

BRIDGE, DEVICE = "npu_bridge", "npu_device"
"""The adapters for TensorFlow 1 and 2. A source with both is one for TensorFlow 1: npu_bridge turns off what 2 adds."""
ADAPTERS = (BRIDGE, DEVICE)
_LINE = re.compile(rb"^[ \t]*(?:from|import)[ \t]+(npu_bridge|npu_device)\b", re.MULTILINE)
_CELL = re.compile(rb'"[ ]*(?:from|import)[ ]+(npu_bridge|npu_device)\b')
"""The same as a line of a notebook's cell, in its JSON."""
_PYTHON2_LINE = re.compile(r"^[ \t]*(?:from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(.+)|import[ \t]+([\w., \t]+))", re.MULTILINE)
Imported = tuple[int, str, tuple[str, ...]]
"""Level of a relative import, else 0; the module; names taken from it."""


class ImportedAdapter(NamedTuple):
    """An adapter, and the file that imports it."""

    adapter: str
    importer: Path


def adapter_of(source: bytes) -> str:
    """The adapter that a source, a notebook among them, imports itself, "" for none."""
    if not any(adapter.encode() in source for adapter in ADAPTERS):
        return ""
    found = _roots(source)
    return next((adapter for adapter in ADAPTERS if adapter in found), "")


def _roots(source: bytes) -> set[str]:
    """The top-level modules of imports, or those of them that are adapters."""
    if source.lstrip().startswith(b"{"):
        return {name.decode() for name in _CELL.findall(source)}
    try:
        return {module.split(".")[0] for level, module, _ in _of_tree(ast.parse(source)) if not level}
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # of another Python
        return {name.decode() for name in _LINE.findall(source)}


def roots_of(source: bytes) -> set[str]:
    """The top-level modules that a source imports."""
    return {module.split(".")[0] for level, module, _ in _imports(source) if not level}


def imported_adapter(script: Path, folders: Sequence[Path]) -> ImportedAdapter | None:
    """The adapter that a script imports, or the first file that it imports from these folders; None where none does.

    Raises: OSError where the script itself cannot be read.
    """
    for path, text in files_of(script, folders):
        if adapter := adapter_of(text):
            return ImportedAdapter(adapter, path)
    return None


def files_of(script: Path, folders: Sequence[Path]) -> Iterator[tuple[Path, bytes]]:
    """The script and the files that it imports from these folders, those nearest to it first, with their texts.

    Raises: OSError where the script itself cannot be read.
    """
    text = read_at_most(script, MOST_SOURCE_BYTES)
    seen, waiting = {script.resolve()}, [(script, text)]
    while waiting:
        path, text = waiting.pop(0)
        yield path, text
        for found in _imported_files(path, text, folders):
            if found.resolve() not in seen:
                seen.add(found.resolve())
                waiting += _read(found)


def _read(path: Path) -> list[tuple[Path, bytes]]:
    """The file with its text; nothing for one that cannot be read, which Python will say of."""
    try:
        return [(path, read_at_most(path, MOST_SOURCE_BYTES))]
    except OSError:
        return []


def _imported_files(path: Path, text: bytes, folders: Sequence[Path]) -> Iterator[Path]:
    for level, module, names in _imports(text):
        above = path.parents[level - 1 : level] if level else folders
        parts = module.split(".") if module else []
        for folder in above:
            for depth in range(1, len(parts) + 1):
                yield from _files_of(folder.joinpath(*parts[:depth]))
            for name in names:
                yield from _files_of(folder.joinpath(*parts, name))


def _files_of(module: Path) -> Iterator[Path]:
    for path in (module.with_name(f"{module.name}.py"), module / "__init__.py"):
        if path.is_file():
            yield path


def _imports(text: bytes) -> Iterator[Imported]:
    try:
        yield from _of_tree(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield from _of_lines(text.decode("latin-1"))


def _of_tree(tree: ast.Module) -> Iterator[Imported]:
    """All imports, those in functions, too: what a script may load decides."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield node.level, node.module or "", tuple(alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield 0, alias.name, ()


def _of_lines(text: str) -> Iterator[Imported]:
    """Imports of a source that this Python does not parse; a list in brackets by its first line."""
    for dots, module, names, modules in _PYTHON2_LINE.findall(text):
        if modules:
            yield from ((0, name.split()[0], ()) for name in modules.split(",") if name.strip())
        else:
            yield len(dots), module, tuple(name.split()[0] for name in re.findall(r"\w[\w ]*", names))
