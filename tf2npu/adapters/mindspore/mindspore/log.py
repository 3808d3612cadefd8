"""Messages of a program under MindSpore's names, which go to stderr; GLOG_v says from which level on, 2 for warnings."""

from __future__ import annotations

import os
import sys
from typing import Any

__all__ = ["get_level", "get_log_config"]

_SETTINGS = ("GLOG_v", "GLOG_logtostderr", "GLOG_log_dir", "logger_maxBytes", "logger_backupCount")
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


def get_level() -> str:
    """The number of the level from which on messages are printed, as a text."""
    return os.environ.get(_SETTINGS[0], "2")


def get_log_config() -> dict[str, str]:
    """The settings of messages: the environment has them all."""
    return {name: os.environ[name] for name in _SETTINGS if name in os.environ}


def _say(level: int, message: Any, values: tuple[Any, ...]) -> None:
    least = get_level()
    if level >= (int(least) if least.isdecimal() else 2):
        print(f"[{_LEVELS[level]}] {str(message) % values if values else message}", file=sys.stderr)


def debug(msg: Any, *args: Any, **_: Any) -> None:
    """Prints a message for whoever looks for a fault."""
    _say(0, msg, args)


def info(msg: Any, *args: Any, **_: Any) -> None:
    """Prints a message."""
    _say(1, msg, args)


def warning(msg: Any, *args: Any, **_: Any) -> None:
    """Prints a warning."""
    _say(2, msg, args)


def error(msg: Any, *args: Any, **_: Any) -> None:
    """Prints an error."""
    _say(3, msg, args)
