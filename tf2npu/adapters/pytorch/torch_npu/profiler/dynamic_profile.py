"""torch_npu.profiler.dynamic_profile: profiles that a file switches on while a script runs. They are not simulated."""

from __future__ import annotations

from typing import Any

from .messages import warn

_told: list[str] = []


def _not_simulated() -> None:
    if not _told:
        _told.append("")
        warn("dynamic_profile is not simulated, so nothing is written: use torch_npu.profiler.profile, or `tf2npu run --profile`")


def init(path: str, **options: Any) -> None:
    """Watch a folder for the file that switches a profile on.  path: of it."""
    _not_simulated()


def start(config_path: str | None = None) -> None:
    """Begin the profile that a file describes."""
    _not_simulated()


def step() -> None:
    """Tell the end of a step."""
