"""Needs of a test that not every machine meets."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path


def why_no_root() -> str:
    """The reason that other users, mounts and capabilities cannot be had here, "" where they can."""
    if os.geteuid() != 0:
        return "needs root"
    tools = [name for name in ("unshare", "setpriv", "mount") if shutil.which(name) is None]
    if tools:
        return f"needs {', '.join(tools)}"
    tried = subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False)
    return "" if tried.returncode == 0 else "needs a mount namespace"


def onednn_environment() -> dict[str, str]:
    """The variables with which TensorFlow takes oneDNN's kernels on this processor.

    Without AVX-512 TensorFlow takes Eigen's unless it is told, and oneDNN's convolutions for AVX2 abort the process at some
    shapes; those for AVX do not.
    """
    return {} if has_avx512() else {"TF_ENABLE_ONEDNN_OPTS": "1", "ONEDNN_MAX_CPU_ISA": "AVX"}


def has_avx512() -> bool:
    """Whether the processor has the instructions for which oneDNN's kernels are made first."""
    return "avx512bw" in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split()
