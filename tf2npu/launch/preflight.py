"""A script's problems on the device, read from its text: imports that come too early, and its session options.

Nothing is run and nothing is imported. Modules of the script's own folder are followed, as Python would load them.
"""

from __future__ import annotations

import ast
import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from npu_formats.files.bounded_read import MOST_SOURCE_BYTES, read_at_most
from npu_formats.session_options import problems, table, without_effect

_CONFIGS = {"NPURunConfig", "DumpConfig", "MemoryConfig", "DynamicInputConfig", "ExperimentalConfig", "ProfilingConfig"}
_UNDER_OTHER_NAMES = {"enable_profiling": "profiling_mode"}
COMPUTED = object()
"""The value of an option that the text does not tell."""


@dataclass(frozen=True)
class Place:
    """The file and line of a statement or an option, as shown to the user."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Setting:
    """An option as it is written. value: COMPUTED when only running the script tells; source: the text of the value."""

    option: str
    field: str
    value: Any
    source: str
    place: Place


@dataclass
class Check:
    """early: (place, statement, why it fails) ahead of npu_bridge.  first: where npu_bridge comes in, if it does."""

    early: list[tuple[Place, str, str]] = field(default_factory=list)
    first: Place | None = None
    has_npu_init: bool = False
    settings: list[Setting] = field(default_factory=list)


def check_script(path: Path) -> Check:
    """Read a script and what it imports from its own folder.

    Raises: OSError, SyntaxError, UnicodeDecodeError as Python would on starting it.
    """
    check = Check()
    seen: set[Path] = set()
    _follow(path, path.parent, check, seen)
    for file in sorted(seen):
        tree = _parsed(file)
        check.settings += _settings(tree, _shown(file, path.parent))
        check.has_npu_init |= any(_imports_npu_init(node) for node in ast.walk(tree))
    return check


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(read_at_most(path, MOST_SOURCE_BYTES), str(path))


def _shown(file: Path, folder: Path) -> str:
    return str(file.relative_to(folder)) if file.is_relative_to(folder) else str(file)


def _imports_npu_init(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        module = node.module or ""
        return module == "npu_bridge.npu_init" or (module == "npu_bridge" and any(a.name == "npu_init" for a in node.names))
    return isinstance(node, ast.Import) and any(alias.name == "npu_bridge.npu_init" for alias in node.names)


def _follow(path: Path, folder: Path, check: Check, seen: set[Path]) -> None:
    """Go through the imports in the order of loading; what is too early counts only until npu_bridge comes."""
    if path in seen:
        return
    seen.add(path)
    for node in _top_level(_parsed(path).body):
        place = Place(_shown(path, folder), node.lineno)
        for module, names in _imported(node):
            if check.first is None and module.split(".")[0] == "npu_bridge":
                check.first = place
            reason = _too_early(module, names)
            if check.first is None and reason:
                check.early.append((place, ast.unparse(node), reason))
            for local in _local_files(module, names, folder):
                _follow(local, folder, check, seen)


def _top_level(body: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """Imports that run when the module is loaded: also those in if, try and with, not those in functions."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for name in ("body", "orelse", "finalbody"):
                yield from _top_level(getattr(node, name, []))
            for handler in getattr(node, "handlers", []):
                yield from _top_level(handler.body)


def _imported(node: ast.Import | ast.ImportFrom) -> list[tuple[str, list[str]]]:
    if isinstance(node, ast.ImportFrom):
        return [(node.module or "", [alias.name for alias in node.names])] if not node.level else []
    return [(alias.name, []) for alias in node.names]


@cache
def _tf1_only() -> frozenset[str]:
    with (Path(__file__).parent / "names_of_tf1_only.csv").open(encoding="utf-8", newline="") as file:
        return frozenset(row["name"] for row in csv.DictReader(file))


def _too_early(module: str, names: list[str]) -> str:
    """The reason that an import fails in plain TensorFlow 2.15; empty when it works."""
    parts = module.split(".")
    if parts[0] != "tensorflow":
        return ""
    if len(parts) > 1 and parts[1] in _tf1_only():
        return f"TensorFlow 2.15 has no module tensorflow.{parts[1]}"
    missing = [name for name in names if len(parts) == 1 and name in _tf1_only()]
    return f"TensorFlow 2.15 has no tensorflow.{missing[0]}" if missing else ""


def _local_files(module: str, names: list[str], folder: Path) -> list[Path]:
    base = folder.joinpath(*module.split(".")) if module else folder
    found = [base.with_suffix(".py"), base / "__init__.py", *(base / f"{name}.py" for name in names)]
    return [path for path in found if path.is_file()]


def _settings(tree: ast.Module, file: str) -> Iterator[Setting]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _of_assignment(target, node.value, Place(file, node.lineno))
        elif isinstance(node, ast.Call) and _last_name(node.func) in _CONFIGS:
            for keyword in node.keywords:
                yield from _of_keyword(keyword, Place(file, keyword.value.lineno))


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _of_assignment(target: ast.expr, value: ast.expr, place: Place) -> Iterator[Setting]:
    """custom_op.parameter_map["key"].s = value"""
    if not (isinstance(target, ast.Attribute) and isinstance(target.value, ast.Subscript)):
        return
    key = target.value.slice
    if _last_name(target.value.value) == "parameter_map" and isinstance(key, ast.Constant) and isinstance(key.value, str):
        yield Setting(key.value, target.attr, _value(value), ast.unparse(value), place)


def _of_keyword(keyword: ast.keyword, place: Place) -> Iterator[Setting]:
    name = _UNDER_OTHER_NAMES.get(keyword.arg or "", keyword.arg or "")
    if name in table() and not (isinstance(keyword.value, ast.Constant) and keyword.value.value is None):
        yield Setting(name, table()[name].field, _value(keyword.value), ast.unparse(keyword.value), place)


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Call) and _last_name(node.func) in ("as_bytes", "as_str", "as_text") and len(node.args) == 1:
        node = node.args[0]
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return COMPUTED
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def lines(path: Path, launcher: dict[str, str]) -> list[str]:
    """The answer of `tf2npu doctor --script`.  launcher: options that win over the script's."""
    check = check_script(path)
    answer = [f"{path}:", *_import_lines(check), "", "session options as written, the launcher's first:"]
    answer += [f"  {name} = {value!r} (launcher, TF2NPU_OPTIONS)" for name, value in sorted(launcher.items())]
    for setting in sorted(check.settings, key=lambda s: (s.place.file, s.place.line, s.option)):
        shown = f"{setting.source}, known when it runs" if setting.value is COMPUTED else repr(setting.value)
        answer.append(f"  {setting.option} = {shown} ({setting.place})")
    if not check.settings and not launcher:
        answer.append("  none: every option has its default")
    return [*answer, *_problem_lines(check.settings)]


def _import_lines(check: Check) -> list[str]:
    early = [f"  {place}: `{text}` fails under plain python: {why}" for place, text, why in check.early]
    if early:
        early.append("  import npu_bridge ahead of it, or start the script with `tf2npu run`")
    if check.first is None:
        return [*early, "  npu_bridge is not imported when the script starts: its sessions stay on TensorFlow"]
    if check.has_npu_init:
        return [*early, f"  npu_bridge comes in at {check.first}: sessions made from then on run on the device"]
    text = "without npu_init, only sessions whose config names NpuOptimizer run on the device"
    return [*early, f"  npu_bridge comes in at {check.first}; {text}"]


def _problem_lines(settings: list[Setting]) -> list[str]:
    given = {setting.option: _as_given(setting) for setting in settings}
    places = {setting.option: setting.place for setting in settings}
    found = []
    for setting in settings:  # one that a later line replaces is looked at too, but not for what it lacks beside it
        alone = problems({setting.option: _as_given(setting)})
        found += [(setting.place, problem.text) for problem in alone if " needs " not in problem.text]
    found += [(places[problem.option], problem.text) for problem in problems(given)]
    found += [
        (places[name], f"{name} has no effect here: {effect}")
        for name, effect in without_effect(given).items()
        if effect != "recorded"
    ]
    found = sorted(dict.fromkeys(found), key=lambda item: (item[0].file, item[0].line))
    return ["", "to look at:", *(f"  {place}: {text}" for place, text in found)] if found else []


def _as_given(setting: Setting) -> tuple[str, Any]:
    """Field and value; one that is not known is on for a flag, and nothing to say about for the rest."""
    if setting.value is COMPUTED:
        return setting.field, True if setting.field == "b" else None
    return setting.field, setting.value
