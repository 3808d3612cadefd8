"""A rank whose launcher was killed: nobody would print what it says or stop it."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
"""The request of prctl by which Linux sends a process a signal when its parent ends.  Source: linux/prctl.h."""


def end_with(launcher: int) -> None:
    """Let this process be told to end when its launcher does, however that ends.  launcher: number of that process."""
    if not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != launcher:  # it has ended before
        sys.exit(128 + signal.SIGTERM)
