"""Functions that an installed project runs as commands, as pyproject.toml, setup.cfg and setup.py name them."""

from __future__ import annotations

import ast
import configparser
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any

from npu_formats.files.bounded_read import MOST_SETTINGS_BYTES
from npu_formats.toml_document import NotToml, parsed

Command = tuple[str, str]  # dotted module, name of the function in it

_SETTINGS = frozenset({"pyproject.toml", "setup.cfg"})
_REFERENCE = re.compile(r"[ \t]*([A-Za-z_][\w.]*)[ \t]*:[ \t]*([A-Za-z_][\w.]*)[ \t]*(?:\[[^\]\n]*\])?[ \t]*$")
_LINE = re.compile(r"^[ \t]*[\w.-]+[ \t]*=" + _REFERENCE.pattern, re.MULTILINE)
_TABLES = (
    ("project", "scripts"), ("project", "gui-scripts"), ("tool", "poetry", "scripts"), ("tool", "flit", "scripts"),
    ("tool", "setuptools", "entry-points", "console_scripts"),
)  # fmt: skip
_SECTIONS = ("options.entry_points", "entry_points")  # of setuptools and of pbr
_KEYS = ("console_scripts", "gui_scripts")


def is_project_settings(path: str) -> bool:
    """Whether a file is no source but may name the commands of a project."""
    return PurePosixPath(path).name in _SETTINGS


def commands_in_settings(path: str, data: bytes) -> tuple[Command, ...]:
    """Commands that a pyproject.toml or setup.cfg installs; a file that cannot be read names none."""
    if len(data) > MOST_SETTINGS_BYTES:
        return ()
    if PurePosixPath(path).name == "pyproject.toml":
        return _sorted(_in_toml(data))
    return _sorted(_in_ini(data.decode("utf-8", "replace")))


def commands_in_setup_script(nodes: Iterable[ast.AST]) -> tuple[Command, ...]:
    """Commands of the form `name = package.module:function` in the texts of a setup.py."""
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return _sorted(found for text in texts for found in _LINE.findall(text))


def _sorted(commands: Iterable[Command]) -> tuple[Command, ...]:
    return tuple(sorted(set(commands)))


def _in_toml(data: bytes) -> Iterator[Command]:
    try:
        document: Any = parsed(data)
    except NotToml:
        return
    for names in _TABLES:
        table = document
        for name in names:
            table = table.get(name) if isinstance(table, dict) else None
        for value in table.values() if isinstance(table, dict) else ():
            if isinstance(value, dict):  # Poetry's long form
                value = value.get("reference") or value.get("callable")
            reference = _REFERENCE.match(value) if isinstance(value, str) else None
            if reference is not None:
                yield reference.group(1), reference.group(2)


def _in_ini(text: str) -> Iterator[Command]:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
    except (configparser.Error, AttributeError):  # AttributeError: lines that go on below a name without value, before 3.13
        return
    for section in _SECTIONS:
        for key in _KEYS:
            if parser.has_option(section, key):
                yield from _LINE.findall(parser.get(section, key) or "")
