"""Processes of the runtime that the tool or a rank starts: the tool imports nothing of the runtime."""

from __future__ import annotations

import sys

_COMMAND = """
import sys
sys.path[0] = sys.prefix
from {module} import {function}
{function}()
"""
"""The program of `python -c`. Nothing in the current folder takes the place of a library."""


def runtime_command(module: str, function: str) -> list[str]:
    """The command of a process that calls a function of a module."""
    return [sys.executable, "-c", _COMMAND.format(module=module, function=function)]
