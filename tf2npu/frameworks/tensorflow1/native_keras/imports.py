"""Imports of the keras package as imports of tf.keras."""

from __future__ import annotations

import ast
import re

from tf2npu.frameworks.tensorflow1.native_keras.names import modules, names_of, objects
from tf2npu.frameworks.tensorflow1.native_keras.source_names import SourceNames, native

_FROM = re.compile(r"from\s+([\w.]+)")


class NotInTensorFlow(Exception):
    """A name that tf.keras does not have; the text is the name."""


def rewritten_import(names: SourceNames, node: ast.Import | ast.ImportFrom) -> tuple[tuple[int, int, str], ...]:
    """The changes that make an import one of tf.keras; none where it imports nothing of native Keras.

    Raises: NotInTensorFlow.
    """
    if isinstance(node, ast.Import):
        return _plain(names, node)
    if node.level or not node.module:
        return ()
    if node.module.startswith("horovod.keras"):
        return (_module(names, node, f"horovod.tensorflow.{node.module[len('horovod.') :]}"),)
    if node.module == "horovod":
        return _of_horovod(names, node)
    module = native(node.module)
    if module is None:
        return ()
    if node.names[0].name == "*":
        return (_module(names, node, _package(_star_home(module))),)
    homes = [_home(module, alias.name) for alias in node.names]
    packages = list(dict.fromkeys(package for package, _ in homes))
    if len(packages) == 1:
        new_names = tuple(_alias(names, alias, new) for alias, (_, new) in zip(node.names, homes, strict=True))
        return (_module(names, node, packages[0]), *(change for change in new_names if change is not None))
    return (_several(names, node, homes),)


def _plain(names: SourceNames, node: ast.Import) -> tuple[tuple[int, int, str], ...]:
    if not any(native(alias.name) is not None or alias.name.startswith("horovod.keras") for alias in node.names):
        return ()
    return (_replaced(names, node, [_import_line(alias) for alias in node.names]),)


def _import_line(alias: ast.alias) -> str:
    as_name = f" as {alias.asname}" if alias.asname else ""
    if alias.name.startswith("horovod.keras"):
        if not as_name:
            raise NotInTensorFlow(alias.name)  # its uses have the whole name
        return f"import horovod.tensorflow.{alias.name[len('horovod.') :]}{as_name}"
    module = native(alias.name)
    if module is None:
        return f"import {alias.name}{as_name}"
    if module not in modules():
        raise NotInTensorFlow(alias.name)
    if not module or not as_name:
        return f"from tensorflow import keras{as_name}"
    package, _, last = _package(modules()[module]).rpartition(".")
    return f"from {package} import {last}{as_name if alias.asname != last else ''}"


def _of_horovod(names: SourceNames, node: ast.ImportFrom) -> tuple[tuple[int, int, str], ...]:
    """`from horovod import keras as hvd`, which imports one thing."""
    if all(alias.name != "keras" for alias in node.names):
        return ()
    if len(node.names) > 1:
        raise NotInTensorFlow("horovod.keras")
    return (_module(names, node, "horovod.tensorflow"),)


def _home(module: str, name: str) -> tuple[str, str]:
    """The module that has what an import of a name of the keras package gives, and its name there."""
    own = f"{module}.{name}" if module else name
    where = objects().get(own)
    if where is None and own in modules():
        where = modules()[own]
    if where is None:
        raise NotInTensorFlow(f"keras.{own}")
    home, _, last = where.rpartition(".")
    return _package(home), last


def _star_home(module: str) -> str:
    homes = {where.rpartition(".")[0] for where in names_of(module).values()}
    if len(homes) != 1:
        raise NotInTensorFlow(f"keras.{module}.*")
    return homes.pop()


def _package(home: str) -> str:
    return f"tensorflow.keras.{home}".rstrip(".")


def _module(names: SourceNames, node: ast.ImportFrom, new: str) -> tuple[int, int, str]:
    """The change of the module that names are imported from."""
    start, _ = names.span(node)
    found = _FROM.match(names.text, start)
    if found is None:  # a backslash or a blank in it
        raise NotInTensorFlow(f"{node.module}")
    return found.start(1), found.end(1), new


def _alias(names: SourceNames, alias: ast.alias, new: str) -> tuple[int, int, str] | None:
    """The change of an imported name that tf.keras has under another one; it keeps its name in the source."""
    if new == alias.name:
        return None
    start, end = names.span(alias)
    return start, end, f"{new} as {alias.asname or alias.name}"


def _several(names: SourceNames, node: ast.ImportFrom, homes: list[tuple[str, str]]) -> tuple[int, int, str]:
    """One import for each module of tf.keras."""
    lines: dict[str, list[str]] = {}
    for alias, (package, new) in zip(node.names, homes, strict=True):
        local = alias.asname or alias.name
        lines.setdefault(package, []).append(new if new == local else f"{new} as {local}")
    return _replaced(names, node, [f"from {package} import {', '.join(found)}" for package, found in lines.items()])


def _replaced(names: SourceNames, node: ast.stmt, lines: list[str]) -> tuple[int, int, str]:
    """The change of a whole statement; several stand below each other where it has lines of its own."""
    start, end = names.span(node)
    text = names.text
    if "#" in text[start:end]:
        raise NotInTensorFlow(text[start:end].split("\n")[0])
    indent = text[names.offset(node.lineno, 0) : start]
    behind = text[end:].split("\n", 1)[0].strip()
    newline = "\r\n" if "\r\n" in text else "\n"
    is_alone = not indent.strip() and not behind.startswith(";")
    return start, end, (newline + indent if is_alone else "; ").join(lines)
