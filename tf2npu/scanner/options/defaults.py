"""Options of a program and the values that they have unless somebody asks for others: flags, arguments, keys of settings files.

A value is kept as the text of a literal; UNKNOWN stands for one that the text does not tell.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any, Protocol

from tf2npu.scanner import syntax

Option = tuple[str, str]
"""The name of an option and the text of a value."""
UNKNOWN = "?"


class HasOptions(Protocol):
    """The facts of a file, as far as they tell options."""

    options: tuple[Option, ...]


MOST_BYTES = 64 << 10
"""Largest size of a launcher or a file of settings that is read: a person wrote it by hand."""
HOLDERS = frozenset(
    (
        "FLAGS", "flags", "args", "arguments", "opt", "opts", "options", "config", "cfg", "conf", "params", "hparams", "hps",
        "settings", "_config", "_args",
    )
)  # fmt: skip
"""Names that people give the object which has the options."""
_SHELL = (".sh", ".bash", ".slurm", ".sbatch")
_SETTINGS = (".yaml", ".yml", ".json")
_STORES = {"store_true": "False", "store_false": "True"}
_YAML = re.compile(r"^[ \t]*(?:-[ \t]+)?[\"']?([A-Za-z_][\w-]*)[\"']?[ \t]*:[ \t]+([^#\r\n]*)", re.MULTILINE)
_PASSED = re.compile(r"(?<![\w-])--?([A-Za-z_][\w-]*)(?:=([^\s\\]*)|[ \t]+([^\s\\-][^\s\\]*))?")
_WORDS = {
    **dict.fromkeys(("true", "yes", "on"), "True"), **dict.fromkeys(("false", "no", "off"), "False"), "null": "None", "~": "None",
}  # fmt: skip


def is_run_settings(path: str) -> bool:
    """Whether a file is no source but may say with which options a program runs."""
    return path.endswith((*_SHELL, *_SETTINGS)) and PurePosixPath(path).name not in ("package.json", "package-lock.json")


def options_in_settings(path: str, data: bytes) -> tuple[Option, ...]:
    """Options that a launcher passes, or that a file of settings gives values; a file that cannot be read gives none."""
    if len(data) > MOST_BYTES:
        return ()
    text = data.decode("utf-8", "replace")
    if path.endswith(_SHELL):
        return _sorted(_passed(text))
    if path.endswith(".json"):
        try:
            return _sorted(_in_json(json.loads(text)))
        except (ValueError, RecursionError):
            return ()
    return _sorted((name, _scalar(value)) for name, value in _YAML.findall(text))


def options_in_source(nodes: syntax.Nodes) -> tuple[Option, ...]:
    """Options that a program declares, with their defaults, and those that it gives values itself."""
    found: list[Option] = []
    for call in nodes.of(ast.Call):
        function = syntax.last_name(call.func)
        if function.startswith(_DECLARING):
            found += _declared(call, function)
    targets = [target for node in nodes.of(ast.Assign) for target in node.targets]
    targets += [node.target for node in nodes.of(ast.AugAssign)] + [node.target for node in nodes.of(ast.AnnAssign)]
    found += [(name, UNKNOWN) for target in targets if (name := option_name(target))]
    return _sorted(found)


def merged_options(files: Iterable[HasOptions]) -> dict[str, frozenset[str]]:
    """The values that sources declare for options, and those that launchers and settings give these and others."""
    found: dict[str, set[str]] = {}
    for facts in files:
        for name, value in facts.options:
            found.setdefault(name, set()).add(value)
    return {name: frozenset(values) for name, values in found.items()}


def option_name(node: ast.AST) -> str:
    """The option that `FLAGS.name`, `self.args.name` or `config['name']` stands for; "" for another expression."""
    if isinstance(node, ast.Attribute) and last_name(node.value) in HOLDERS:
        return node.attr
    if isinstance(node, ast.Subscript) and last_name(node.value) in HOLDERS:
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        return key if isinstance(key, str) else ""
    return ""


def last_name(node: ast.AST) -> str:
    """The last name of a chain, behind which keys may stand; "" for another expression."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


_DECLARING = ("DEFINE_", "add_argument", "set_defaults")
"""Beginnings of the names of functions that declare options, or give them values."""


def _declared(call: ast.Call, function: str) -> Iterator[Option]:
    given = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    names = [arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
    if function.startswith("DEFINE_"):
        name = names[0] if names else _text(given.get("name"))
        defaults = call.args[1:2] or [given[key] for key in ("default", "default_value") if key in given]
        yield from [(name, _literal(defaults[0]) if defaults else UNKNOWN)] if name else []
    elif function == "add_argument":
        long = [name for name in names if name.startswith("--")] or names[:1]
        name = _text(given.get("dest")) or (long[0].lstrip("-").replace("-", "_") if long else "")
        is_asked_for = bool(long) and not long[0].startswith("-")
        yield from [(name, UNKNOWN if is_asked_for else _default_of_argument(given))] if name else []
    elif function == "set_defaults":
        yield from ((key, _literal(value)) for key, value in given.items())


def _default_of_argument(given: dict[str, ast.expr]) -> str:
    if "default" in given:
        return _literal(given["default"])
    return UNKNOWN if "required" in given else _STORES.get(_text(given.get("action")), "None")


def _text(node: ast.AST | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _literal(node: ast.expr) -> str:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return UNKNOWN
    return repr(value) if value is None or isinstance(value, (bool, int, float, str)) else UNKNOWN if value else "()"


def _passed(text: str) -> Iterator[Option]:
    """Options in the lines of a shell script, `--no` before a name among them; a word alone switches on."""
    for line in text.splitlines():
        if not line.lstrip().startswith("#"):
            for name, with_sign, behind in _PASSED.findall(line):
                name = name.replace("-", "_")
                yield name, _scalar(with_sign or behind) if with_sign or behind else "True"
                if name.startswith("no") and not (with_sign or behind):
                    yield name.removeprefix("no").lstrip("_"), "False"


def _in_json(value: Any) -> Iterator[Option]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, (dict, list)):
                yield from _in_json(inner)
            elif isinstance(key, str) and key.isidentifier():
                yield key, repr(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _in_json(inner)


def _scalar(text: str) -> str:
    """The literal that a word of a shell script or a YAML file stands for; a text where it is none."""
    word = text.strip().strip("\"'")
    if "$" in word or "`" in word or word[:1] in ("[", "{", "&", "*", "|", ">", "!"):
        return UNKNOWN
    if word.lower() in _WORDS:
        return _WORDS[word.lower()]
    try:
        return repr(ast.literal_eval(word)) if re.fullmatch(r"[-+]?[\d.]+(?:[eE][-+]?\d+)?", word) else repr(word)
    except (ValueError, SyntaxError):
        return repr(word)


def _sorted(options: Iterable[Option]) -> tuple[Option, ...]:
    return tuple(sorted({(name, value) for name, value in options if len(value) < 100}))
