"""Calls of functions as runs of sessions, at which `tf2npu check` and `tf2npu dump reference` look.

Only in processes that these commands start.
"""

from __future__ import annotations

import os

from npu_formats.environment import TF2NPU_CHECK

_is_installed = False


def install() -> None:
    """Take the steps of this process for the command that started it; a second call does nothing."""
    global _is_installed
    if not _is_installed:
        _is_installed = True
        if os.environ.get(TF2NPU_CHECK):
            from npu_device._call_steps import accuracy_check

            accuracy_check.install()
        else:
            from npu_device._call_steps import reference_steps

            reference_steps.install()
