"""What the user asked of a conversion: `[tool.tf2npu]` of the nearest pyproject.toml, overridden by the command line."""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DISTRIBUTED_MODES = ("none", "auto", "horovod", "tf")
IMPORT_STYLES = ("explicit", "star")


class ConfigError(ValueError):
    """A setting that cannot be used; the message names the file and the key."""


@dataclass(frozen=True)
class Config:
    """Settings of one conversion; immutable and picklable, so that every worker sees the same.

    distributed: none | auto | horovod | tf.  main: entry script relative to the source root.
    select, ignore: rule ids or prefixes of ids ("NPU1" is every NPU1xx).  import_style: explicit | star.
    unsafe_fixes: also make the fixes that may change values or shapes.
    """

    distributed: str = "none"
    main: str | None = None
    select: frozenset[str] = frozenset()
    ignore: frozenset[str] = frozenset()
    import_style: str = "explicit"
    unsafe_fixes: bool = False

    def is_enabled(self, rule_id: str) -> bool:
        """Whether a rule takes part: picked by `select` (an empty one picks all) and not dropped by `ignore`."""
        if self.select and not any(rule_id.startswith(prefix) for prefix in self.select):
            return False
        return not any(rule_id.startswith(prefix) for prefix in self.ignore)

    def allows_unsafe(self, rule_id: str) -> bool:
        """Whether the unsafe fixes of a rule may be made: asked for in general, or this rule selected by its full id."""
        return self.unsafe_fixes or rule_id in self.select


def load_config(start: Path, **overrides: Any) -> Config:
    """Read the nearest pyproject.toml at or above `start`; an override that is None counts as not given.

    Raises: ConfigError naming the file and the key of a setting that is unknown or has a wrong value.
    """
    path = _nearest_pyproject(Path(start))
    values: dict[str, Any] = {}
    if path is not None:
        for key, value in _read_table(path).items():
            values[_field_name(key, path)] = _checked(key, value, str(path))
    for key, value in overrides.items():
        if value is not None:
            values[_field_name(key, None)] = _checked(key, value, "command line")
    return Config(**values)


def _nearest_pyproject(start: Path) -> Path | None:
    folder = start.absolute()
    candidates = [folder, *folder.parents] if folder.is_dir() else list(folder.parents)
    for candidate in candidates:
        path = candidate / "pyproject.toml"
        if path.is_file():
            return path
    return None


def _read_table(path: Path) -> dict[str, Any]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
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
    known = [f.name for f in fields(Config)]
    if name not in known:
        options = ", ".join(n.replace("_", "-") for n in known)
        raise ConfigError(f"{path or 'command line'}: unknown key {key!r} in [tool.tf2npu]; known are {options}")
    return name


def _checked(key: str, value: Any, where: str) -> Any:
    name = key.replace("-", "_")
    if name in ("select", "ignore"):
        return _checked_ids(key, value, where)
    if name == "distributed":
        return _one_of(key, value, DISTRIBUTED_MODES, where)
    if name == "import_style":
        return _one_of(key, value, IMPORT_STYLES, where)
    wanted = bool if name == "unsafe_fixes" else str
    if not isinstance(value, wanted):
        raise ConfigError(f"{where}: {key} must be a {'boolean' if wanted is bool else 'string'}, got {value!r}")
    return value


def _checked_ids(key: str, value: Any, where: str) -> frozenset[str]:
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()]
    if not isinstance(value, (list, tuple, set, frozenset)) or not all(isinstance(v, str) for v in value):
        raise ConfigError(f"{where}: {key} must be a list of rule ids, got {value!r}")
    for rule_id in value:
        if not rule_id.startswith("NPU") or not rule_id[3:].isdigit() or len(rule_id) > 6:
            raise ConfigError(f"{where}: {key}: {rule_id!r} is neither a rule id (NPU101) nor a prefix of one (NPU1)")
    return frozenset(value)


def _one_of(key: str, value: Any, allowed: tuple[str, ...], where: str) -> Any:
    if value not in allowed:
        raise ConfigError(f"{where}: {key} must be one of {', '.join(allowed)}, got {value!r}")
    return value
