"""Facts about the device in the text of a script for TensorFlow 2: where it is opened, and the options that it sets."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from npu_formats.files.bounded_read import MOST_SOURCE_BYTES, read_at_most
from tf2npu.frameworks.tensorflow1.adapter_imports import DEVICE, adapter_of, files_of
from tf2npu.launch.temporary_conversion import folders_of

_DEFAULT = "as_default"


def lines(path: Path, launcher: dict[str, str]) -> list[str]:
    """The answer of `tf2npu doctor --script`.  launcher: options that win over the script's.

    Raises: OSError, SyntaxError, UnicodeDecodeError as Python would on starting the script.
    """
    ast.parse(read_at_most(path, MOST_SOURCE_BYTES), str(path))
    told = [f"{path}:", *_device_lines(path), "", "options of the device as written, the launcher's first:"]
    told += [f"  {name} = {value!r} (launcher, TF2NPU_OPTIONS)" for name, value in sorted(launcher.items())]
    written = list(_options(path))
    if not written and not launcher:
        told.append("  none: every option has its default")
    return told + written


def _device_lines(path: Path) -> Iterator[str]:
    own = [(file, tree) for file, text, tree in _parsed(path) if adapter_of(text) == DEVICE]
    opened = [f"{_shown(file, path)}:{line}" for file, tree in own for line in _opens(tree)]
    if not own:
        yield f"  {DEVICE} is not imported: all of it stays on TensorFlow; convert it with `tf2npu convert`"
    elif not opened:
        yield f"  {DEVICE} is imported in {_shown(own[0][0], path)}, and {DEVICE}.open().as_default() is never called: all of it"
        yield "  stays on TensorFlow"
    else:
        yield f"  the device is the default from {opened[0]} on: functions that are called from then on run there"


def _options(path: Path) -> Iterator[str]:
    """A line for each option that is set below global_options(), by that name or another that it is given."""
    for file, text, tree in _parsed(path):
        names = {"global_options()"}
        for node in ast.walk(tree) if b"global_options" in text else ():
            if not isinstance(node, ast.Assign):
                continue
            value = ast.unparse(node.value)
            if value.endswith("global_options()"):
                names |= {ast.unparse(target) for target in node.targets}
            for target in node.targets:
                option = _option(ast.unparse(target), names)
                if option:
                    yield f"  {option} = {value} ({_shown(file, path)}:{node.lineno})"


def _option(target: str, names: set[str]) -> str:
    """The option below one of these names that is assigned to, "" for none."""
    for name in names:
        before, found, option = target.partition(f"{name}.")
        if found and (not before or before.endswith(".")):
            return option
    return ""


def _opens(tree: ast.Module) -> Iterator[int]:
    """The lines that make a device the default."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == _DEFAULT and not node.args:
            yield node.lineno


def _parsed(path: Path) -> Iterator[tuple[Path, bytes, ast.Module]]:
    for file, text in files_of(path, folders_of(path)):
        try:
            yield file, text, ast.parse(text)
        except (SyntaxError, ValueError):  # Python says so when it imports the file
            continue


def _shown(file: Path, script: Path) -> str:
    folder = script.parent
    return str(file.relative_to(folder)) if file.is_relative_to(folder) else str(file)
