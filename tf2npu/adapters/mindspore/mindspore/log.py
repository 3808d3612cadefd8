"""The log of MindSpore's programs.  Source: mindspore.log of r1.1, read.

Settings are environment variables: GLOG_v (0 debug, 1 info, 2 warning, which is the default, 3 error), GLOG_logtostderr (0 for a
file below GLOG_log_dir), logger_maxBytes and logger_backupCount of that file.
"""

from __future__ import annotations

import logging
import os
from functools import cache
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

__all__ = ["get_level", "get_log_config"]

_LEVELS = {"0": logging.DEBUG, "1": logging.INFO, "2": logging.WARNING, "3": logging.ERROR}
_FORMAT = (
    "[%(levelname)s] ME(%(process)d:%(thread)d,%(processName)s):%(asctime)s.%(msecs)03d [%(pathname)s:%(lineno)d] %(message)s"
)
_MAX_BYTES = "52428800"
_N_FILES = "30"


def _setting(name: str, default: str) -> str:
    return os.environ.get(name, "").strip() or default


def _number(name: str, default: str) -> int:
    """A setting of the log's file.  Raises: ValueError for what is no whole number above 0."""
    value = _setting(name, default)
    if not value.isdigit() or int(value) < 1:
        raise ValueError(f"{name}={value}: a whole number above 0 is needed")
    return int(value)


def _handler() -> logging.Handler:
    """The log's handler.  Raises: ValueError for settings that MindSpore refuses."""
    place = _setting("GLOG_logtostderr", "1")
    if place not in ("0", "1"):
        raise ValueError(f"GLOG_logtostderr={place}: 1 for stderr, 0 for a file below GLOG_log_dir")
    if place == "1":
        return logging.StreamHandler()
    folder = _setting("GLOG_log_dir", "")
    if not folder or not Path(folder).is_dir():
        raise ValueError(f"GLOG_log_dir={folder!r}: GLOG_logtostderr=0 needs a folder that exists")
    max_bytes, n_files = _number("logger_maxBytes", _MAX_BYTES), _number("logger_backupCount", _N_FILES)
    file = Path(folder).resolve() / "mindspore.log"
    return RotatingFileHandler(file, maxBytes=max_bytes, backupCount=n_files, encoding="utf-8")


@cache
def _logger() -> logging.Logger:
    """The logger, made at the first use.  Raises: ValueError for a level that is not there."""
    level = _setting("GLOG_v", "2")
    if level not in _LEVELS:
        raise ValueError(f"GLOG_v={level}: 0 (debug), 1 (info), 2 (warning) or 3 (error)")
    handler = _handler()
    handler.setFormatter(logging.Formatter(_FORMAT, datefmt="%Y-%m-%d-%H:%M:%S"))
    logger = logging.getLogger("ME.mindspore.log")
    logger.propagate = False
    logger.handlers = [handler]
    logger.setLevel(_LEVELS[level])
    return logger


def debug(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs a message of the level 0."""
    _logger().debug(msg, *args, stacklevel=2, **kwargs)


def info(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs a message of the level 1."""
    _logger().info(msg, *args, stacklevel=2, **kwargs)


def warning(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs a message of the level 2."""
    _logger().warning(msg, *args, stacklevel=2, **kwargs)


def error(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs a message of the level 3."""
    _logger().error(msg, *args, stacklevel=2, **kwargs)


def get_level() -> str:
    """The level, as GLOG_v writes it."""
    return next(name for name, level in _LEVELS.items() if level == _logger().level)


def get_log_config() -> dict[str, Any]:
    """The settings, by the names of their variables."""
    handler = _logger().handlers[0]
    if not isinstance(handler, RotatingFileHandler):
        return {"GLOG_v": get_level(), "GLOG_logtostderr": "1"}
    return {
        "GLOG_v": get_level(),
        "GLOG_logtostderr": "0",
        "GLOG_log_dir": str(Path(handler.baseFilename).parent),
        "logger_maxBytes": handler.maxBytes,
        "logger_backupCount": handler.backupCount,
    }
