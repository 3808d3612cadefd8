"""Rules of other packages, found through the entry point group `tf2npu.rules`.

The search reads `entry_points.txt` of the installed packages by itself: `importlib.metadata` costs some 60 ms to import and
to ask, and most users have no plug-in at all. A plug-in that cannot be used is left out whole, with one sentence about why.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
from dataclasses import dataclass
from functools import lru_cache

from tf2npu.rules.base import Rule, registered

GROUP = "tf2npu.rules"
PLUGIN_IDS = "NPUX"  # what ids of plug-in rules begin with
_ID = re.compile(rf"{PLUGIN_IDS}\d{{2,4}}$")
_TARGET = re.compile(r"([\w.]+)\s*(?::\s*(\w+))?\s*$")


@dataclass(frozen=True)
class PlugIn:
    """An entry point: its name, what it refers to (`module` or `module:function`), and the package that declares it."""

    name: str
    target: str
    package: str

    @property
    def module(self) -> str:
        """Module that holds the rules."""
        return self.target.partition(":")[0].strip()


@lru_cache(maxsize=1)
def installed() -> tuple[PlugIn, ...]:
    """Plug-ins of the packages on sys.path, sorted by name; a package that is on it twice counts where it comes first."""
    found: dict[str, list[PlugIn]] = {}
    for folder in sys.path:
        try:
            names = sorted(os.listdir(folder or "."))
        except OSError:
            continue  # a zip file, or a folder that is gone
        for name in names:
            if name.endswith((".dist-info", ".egg-info")):
                package = name.rpartition(".")[0]
                found.setdefault(package.partition("-")[0].lower(), _declared(os.path.join(folder, name), package))
    return tuple(sorted((p for plugins in found.values() for p in plugins), key=lambda p: (p.name, p.package)))


def _declared(folder: str, package: str) -> list[PlugIn]:
    try:
        with open(os.path.join(folder, "entry_points.txt"), "rb") as file:
            data = file.read()
    except OSError:
        return []  # a package without entry points
    if f"[{GROUP}]".encode() not in data:
        return []
    from configparser import ConfigParser, Error  # only who has a plug-in pays for it

    parser = ConfigParser(delimiters=("=",), interpolation=None)
    setattr(parser, "optionxform", str)  # noqa: B010  names keep their case
    try:
        parser.read_string(data.decode("utf-8"))
    except (Error, UnicodeDecodeError) as error:
        return [PlugIn("?", f"? {str(error).splitlines()[0]}", package)]
    return [PlugIn(name, target, package) for name, target in parser.items(GROUP)]


def load() -> tuple[str, ...]:
    """Import every plug-in, so that its rules are registered. Returns: one sentence for each that cannot be used."""
    return tuple(problem for plugin in installed() if (problem := _load_one(plugin)))


def _load_one(plugin: PlugIn) -> str:
    parts = registered()
    before = {rule_id: len(own) for rule_id, own in parts.items()}
    try:
        _run(plugin)
        problem = _wrong_ids(parts, before)
    except (Exception, SystemExit) as error:  # whatever another package's code raises must not end ours
        problem = f"{type(error).__name__}: {error}"
    if not problem:
        return ""
    for rule_id in list(parts):
        parts[rule_id] = parts[rule_id][: before.get(rule_id, 0)]
        if not parts[rule_id]:
            del parts[rule_id]
    reason = " ".join(problem.split())
    return f"plug-in {plugin.name!r} of {plugin.package} cannot be used: {reason}. Its rules are left out; repair or remove it."


def _run(plugin: PlugIn) -> None:
    match = _TARGET.match(plugin.target)
    if match is None:
        raise ValueError(f"{plugin.target!r} is neither a module nor module:function")
    module = importlib.import_module(match.group(1))
    if match.group(2) is not None:
        getattr(module, match.group(2))()


def _wrong_ids(parts: dict[str, list[Rule]], before: dict[str, int]) -> str:
    changed = sorted(rule_id for rule_id, own in parts.items() if len(own) != before.get(rule_id, 0))
    if not changed:
        return "it registers no rule"
    taken = [rule_id for rule_id in changed if rule_id in before]
    if taken:
        return f"{', '.join(taken)}: there is a rule of this id already"
    wrong = [rule_id for rule_id in changed if not _ID.match(rule_id)]
    return f"{', '.join(wrong)}: ids of plug-in rules are NPUX and two to four digits" if wrong else ""


def fingerprint() -> tuple[tuple[str, str, str, int], ...]:
    """The plug-ins and the times when their files were changed, on which results depend."""
    return tuple((p.name, p.target, p.package, _changed(p.module)) for p in installed())


def _changed(module: str) -> int:
    try:
        spec = importlib.util.find_spec(module)
        return os.stat(spec.origin).st_mtime_ns if spec is not None and spec.origin is not None else 0
    except (ImportError, OSError, ValueError, AttributeError):
        return 0  # cannot be imported: it is not used either
