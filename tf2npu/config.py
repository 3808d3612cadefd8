"""The settings of a conversion: `[tool.tf2npu]` of the nearest pyproject.toml, overridden by the command line."""

from __future__ import annotations

import os
import re
import reprlib
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path, PurePosixPath
from typing import Any

from npu_formats.files.bounded_read import MOST_SETTINGS_BYTES, read_at_most
from npu_formats.files.parent_folders import is_trusted
from npu_formats.toml_document import NotToml, parsed
from tf2npu.findings import UnsafePlace
from tf2npu.gitignore import why_no_pattern

DISTRIBUTED_MODES = ("none", "auto", "horovod", "tf")
IMPORT_STYLES = ("explicit", "star")
ADAPTERS = ("current", "2021")
TENSORFLOWS = ("1.15",)
AUTO, TF1, TF2, TF2_COMPAT = "auto", "tf1", "tf2", "tf2-compat"
DIALECTS = (AUTO, TF1, TF2, TF2_COMPAT)
"""Releases of TensorFlow that scripts may be written for. `auto` has the scripts tell."""
FRAMEWORKS = (AUTO, "tensorflow", "torch")
"""Families of frameworks whose files are converted; `auto` converts all, each file by what it imports."""
OLDEST_PYTHON = (3, 5)
"""The oldest Python that converted scripts run on: inserted code has keyword arguments behind *args and no f-strings."""
SEVERITIES = ("unsupported", "manual", "info")
MOST_MINUTES = 100_000
"""The most minutes that settings may give to a place: fifty weeks of work."""
_PYTHON = re.compile(r"3\.\d{1,2}$")
RULE_LETTERS = ("NPU", "NPT", "NPM")
"""Letters by which the ids of rules begin, a word for each framework with rules: `rule_ids` of its record."""
_RULE_ID = re.compile(rf"(?:(?:{'|'.join(RULE_LETTERS)})\d{{0,3}}|NPUX\d{{0,4}})$")  # NPUX are rules of plug-ins
_MOST_NAME_BYTES = 4096
"""The longest path in bytes: PATH_MAX of Linux, and more than macOS has."""
_SHOWN = reprlib.Repr()  # of a wrong value: a line, whatever it is
_SHOWN.maxstring = _SHOWN.maxother = 100
_CONSOLE_ENTRY = re.compile(r"\w+(?:\.\w+)*(?::\w+(?:\.\w+)*)?$")


class ConfigError(ValueError):
    """A setting that cannot be used; the message names the file and the key."""


@dataclass(frozen=True)
class Target:
    """The Python, TensorFlow and adapter that the converted code has to run on.

    python: "3.7" (what TensorFlow 1.15 needs) or another 3.x.  tensorflow: "1.15".
    adapter: "current", or "2021" for the Apache-licensed release without helper functions and without a patched Session.
    """

    python: str = "3.7"
    tensorflow: str = "1.15"
    adapter: str = "current"

    @property
    def python_version(self) -> tuple[int, int]:
        """Python as two numbers."""
        major, minor = self.python.split(".")
        return int(major), int(minor)


@dataclass(frozen=True)
class EffortSettings:
    """The settings of the report's estimates of work.

    low, high: factors of the range around an estimate.  minutes: (rule id or prefix of ids, minutes for the first place, minutes
    for each further one) in the place of the table's figures; the longest prefix decides.
    """

    low: float = 0.5
    high: float = 2.0
    minutes: tuple[tuple[str, float, float], ...] = ()


@dataclass(frozen=True)
class Config:
    """Settings of one conversion; immutable and picklable, so that every worker sees the same.

    distributed: none | auto | horovod | tf.  main: entry script relative to the source root.
    select, ignore: rule ids or prefixes of ids ("NPU1" is every NPU1xx).  import_style: explicit | star.
    unsafe_fixes: also make the fixes that may change values or shapes.
    exclude: glob patterns of paths that are left out.  respect_gitignore: leave out what .gitignore names.
    entry_points: files, or `package.module:function` as in console_scripts, that are run.
    severity: (rule id or prefix, level) pairs that replace the level of findings.  target: what the result runs on.
    dialect: auto | tf1 | tf2 | tf2-compat, what the scripts are written for.  framework: auto | tensorflow | torch.
    effort: how work is estimated.  unsafe_at: places where people chose an unsafe fix; no setting of a file.
    """

    distributed: str = "none"
    main: str | None = None
    select: frozenset[str] = frozenset()
    ignore: frozenset[str] = frozenset()
    import_style: str = "explicit"
    unsafe_fixes: bool = False
    exclude: tuple[str, ...] = ()
    respect_gitignore: bool = True
    entry_points: tuple[str, ...] = ()
    severity: tuple[tuple[str, str], ...] = ()
    target: Target = Target()
    dialect: str = AUTO
    framework: str = AUTO
    effort: EffortSettings = EffortSettings()
    unsafe_at: frozenset[UnsafePlace] = frozenset()

    def is_enabled(self, rule_id: str) -> bool:
        """Whether a rule takes part: picked by `select` (an empty one picks all) and not dropped by `ignore`."""
        if self.select and not any(rule_id.startswith(prefix) for prefix in self.select):
            return False
        return not any(rule_id.startswith(prefix) for prefix in self.ignore)

    def allows_unsafe(self, rule_id: str) -> bool:
        """Whether the unsafe fixes of a rule may be made: asked for in general, or this rule selected by its full id."""
        return self.unsafe_fixes or rule_id in self.select

    def level_of(self, rule_id: str, level: str) -> str:
        """Level of a finding of a rule after `severity`; the longest prefix decides, what was fixed or skipped stays so."""
        if level not in SEVERITIES:
            return level
        asked = [(len(prefix), new) for prefix, new in self.severity if rule_id.startswith(prefix)]
        return max(asked)[1] if asked else level

    def converts(self, family: str) -> bool:
        """Whether files of a family of frameworks are converted; of one without a name they always are."""
        return self.framework == AUTO or family in ("", self.framework)

    @property
    def names_entries(self) -> bool:
        """Whether the settings say which files are run, so that it need not be guessed."""
        return self.main is not None or bool(self.entry_points)

    def is_named_entry(self, path: str) -> bool:
        """Whether `main` or `entry_points` name this file (a POSIX path relative to the source root)."""
        if self.main is not None and path == _plain_path(self.main):
            return True
        return any(_names_file(entry, path) for entry in self.entry_points)


def _plain_path(path: str) -> str:
    return path.replace("\\", "/").removeprefix("./")


def _names_file(entry: str, path: str) -> bool:
    if "/" in entry or "\\" in entry or PurePosixPath(entry).suffix in (".py", ".pyw", ".ipynb"):
        return path == _plain_path(entry)
    parts = tuple(entry.partition(":")[0].split("."))
    pure = PurePosixPath(path)
    module = (*pure.parent.parts, pure.stem)
    return path == entry or module[-len(parts) :] == parts or module[-len(parts) - 1 :] == (*parts, "__main__")


def load_config(start: Path, **overrides: Any) -> Config:
    """Read the nearest pyproject.toml at or above `start`; an override that is None counts as not given.

    Raises: ConfigError naming the file and the key of a setting that is unknown or has a wrong value.
    """
    path = _nearest_pyproject(Path(start))
    values: dict[str, Any] = {}
    if path is not None:
        for key, value in _read_table(path).items():
            name = _field_name(key, path)
            values[name] = _CHECKS[name](key, value, str(path))
    for key, value in overrides.items():
        if value is not None:
            name = _field_name(key, None)
            values[name] = _CHECKS[name](key, value, "command line")
    return Config(**values)


def _nearest_pyproject(start: Path) -> Path | None:
    folder = start.absolute() if start.is_dir() else start.absolute().parent
    own = folder / "pyproject.toml"
    if os.path.isfile(own):
        return own
    above = (candidate / "pyproject.toml" for candidate in folder.parents)
    return next((path for path in above if os.path.isfile(path) and is_trusted(path, folder)), None)


def _read_table(path: Path) -> dict[str, Any]:
    try:
        data = parsed(read_at_most(path, MOST_SETTINGS_BYTES))
    except NotToml as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    tool = data.get("tool", {})
    table = tool.get("tf2npu", {}) if isinstance(tool, dict) else {}
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: [tool.tf2npu] must be a table")
    return table


def _field_name(key: str, path: Path | None) -> str:
    name = key.replace("-", "_")
    known = [f.name for f in fields(Config) if f.name in _CHECKS]
    if name not in known:
        options = ", ".join(n.replace("_", "-") for n in known)
        raise ConfigError(f"{path or 'command line'}: unknown key {_SHOWN.repr(key)} in [tool.tf2npu]; known are {options}")
    return name


def _bool(key: str, value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise ConfigError(f"{where}: {key} must be a boolean, got {_SHOWN.repr(value)}")
    return value


def _string(key: str, value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"{where}: {key} must be a string, got {_SHOWN.repr(value)}")
    return value


def _file_name(key: str, value: Any, where: str) -> str:
    name = _string(key, value, where)
    pure = PurePosixPath(_plain_path(name))
    if not name or "\0" in name or len(os.fsencode(name)) > _MOST_NAME_BYTES or pure.is_absolute() or ".." in pure.parts:
        raise ConfigError(f"{where}: {key} must be a file below the source folder, got {_SHOWN.repr(name)}")
    return name


def _strings(key: str, value: Any, where: str, what: str = "strings") -> list[str]:
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()]
    if not isinstance(value, (list, tuple, set, frozenset)) or not all(isinstance(v, str) for v in value):
        raise ConfigError(f"{where}: {key} must be a list of {what}, got {_SHOWN.repr(value)}")
    return list(value)


def _rule_ids(key: str, value: Any, where: str) -> frozenset[str]:
    rule_ids = _strings(key, value, where, "rule ids")
    for rule_id in rule_ids:
        _rule_id(key, rule_id, where)
    return frozenset(rule_ids)


def _rule_id(key: str, rule_id: str, where: str) -> str:
    if not _RULE_ID.match(rule_id) or rule_id in RULE_LETTERS:
        raise ConfigError(f"{where}: {key}: {_SHOWN.repr(rule_id)} is neither a rule id (NPU101) nor a prefix of one (NPU1)")
    return rule_id


def _patterns(key: str, value: Any, where: str) -> tuple[str, ...]:
    patterns = _strings(key, value, where, "glob patterns")
    if "" in patterns:
        raise ConfigError(f"{where}: {key} holds an empty pattern; leave it out")
    for pattern in patterns:
        if why := why_no_pattern(pattern):
            raise ConfigError(f"{where}: {key}: {_SHOWN.repr(pattern)} is no pattern as in .gitignore: {why}")
    return tuple(dict.fromkeys(patterns))


def _entries(key: str, value: Any, where: str) -> tuple[str, ...]:
    entries = _strings(key, value, where, "files or module:function names")
    for entry in entries:
        if not ("/" in entry or "\\" in entry or PurePosixPath(entry).suffix or _CONSOLE_ENTRY.match(entry)):
            shown = _SHOWN.repr(entry)
            raise ConfigError(f"{where}: {key}: {shown} is neither a file (train.py) nor a console entry (package.cli:main)")
    return tuple(dict.fromkeys(entries))


def _severity(key: str, value: Any, where: str) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        raise ConfigError(f'{where}: {key} must be a table such as {{NPU912 = "info"}}, got {_SHOWN.repr(value)}')
    pairs = []
    for rule_id, level in value.items():
        _one_of(f"{key}.{_rule_id(key, rule_id, where)}", level, SEVERITIES, where)
        pairs.append((rule_id, level))
    return tuple(sorted(pairs))


def _check_table(key: str, value: Any, kind: type[Target] | type[EffortSettings], where: str) -> None:
    """Refuse what is no table, and names that its kind has no field for."""
    known = [f.name for f in fields(kind)]
    if not isinstance(value, dict):
        raise ConfigError(f"{where}: {key} must be a table with {', '.join(known)}, got {_SHOWN.repr(value)}")
    for name in value:
        if name not in known:
            raise ConfigError(f"{where}: unknown key {_SHOWN.repr(name)} in {key}; known are {', '.join(known)}")


def _target(key: str, value: Any, where: str) -> Target:
    if isinstance(value, Target):
        return value
    _check_table(key, value, Target, where)
    python = value.get("python", Target.python)
    if not isinstance(python, str) or not _PYTHON.match(python) or Target(python).python_version < OLDEST_PYTHON:
        oldest = ".".join(map(str, OLDEST_PYTHON))
        shown = _SHOWN.repr(python)
        raise ConfigError(f'{where}: {key}.python must be a string such as "3.7", {oldest} or newer, got {shown}')
    tensorflow = _one_of(f"{key}.tensorflow", value.get("tensorflow", Target.tensorflow), TENSORFLOWS, where)
    adapter = _one_of(f"{key}.adapter", value.get("adapter", Target.adapter), ADAPTERS, where)
    return Target(python, tensorflow, adapter)


def _effort(key: str, value: Any, where: str) -> EffortSettings:
    if isinstance(value, EffortSettings):
        return value
    _check_table(key, value, EffortSettings, where)
    low = _number(f"{key}.low", value.get("low", EffortSettings.low), where, 1)
    high = _number(f"{key}.high", value.get("high", EffortSettings.high), where, MOST_MINUTES)
    if high < 1:
        raise ConfigError(f"{where}: {key}.high must be a number from 1 on, got {high}")
    return EffortSettings(low, high, _minutes(f"{key}.minutes", value.get("minutes", {}), where))


def _minutes(key: str, value: Any, where: str) -> tuple[tuple[str, float, float], ...]:
    if not isinstance(value, dict):
        raise ConfigError(f"{where}: {key} must be a table such as {{NPU601 = [60, 30]}}, got {_SHOWN.repr(value)}")
    found = []
    for rule_id, pair in value.items():
        name = f"{key}.{_rule_id(key, rule_id, where)}"
        if not isinstance(pair, list) or len(pair) != 2:
            raise ConfigError(f"{where}: {name} must be two numbers of minutes, got {_SHOWN.repr(pair)}")
        first, further = (_number(name, minutes, where, MOST_MINUTES) for minutes in pair)
        found.append((rule_id, first, further))
    return tuple(sorted(found))


def _number(key: str, value: Any, where: str, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= most:
        raise ConfigError(f"{where}: {key} must be a number from 0 to {most}, got {_SHOWN.repr(value)}")
    return float(value)


def _one_of(key: str, value: Any, allowed: tuple[str, ...], where: str) -> Any:
    if value not in allowed:
        raise ConfigError(f"{where}: {key} must be one of {', '.join(allowed)}, got {_SHOWN.repr(value)}")
    return value


_CHECKS: dict[str, Callable[[str, Any, str], Any]] = {
    "distributed": lambda key, value, where: _one_of(key, value, DISTRIBUTED_MODES, where),
    "main": _file_name,
    "select": _rule_ids,
    "ignore": _rule_ids,
    "import_style": lambda key, value, where: _one_of(key, value, IMPORT_STYLES, where),
    "unsafe_fixes": _bool,
    "exclude": _patterns,
    "respect_gitignore": _bool,
    "entry_points": _entries,
    "severity": _severity,
    "target": _target,
    "dialect": lambda key, value, where: _one_of(key, value, DIALECTS, where),
    "framework": lambda key, value, where: _one_of(key, value, FRAMEWORKS, where),
    "effort": _effort,
}
