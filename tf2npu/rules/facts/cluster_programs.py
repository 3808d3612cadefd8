"""Programs of parameter servers and workers."""

from __future__ import annotations

from tf2npu.rules.facts.files.script_kinds import called_names
from tf2npu.scanner.script import Script


def is_cluster_program(script: Script) -> bool:
    """Whether a file makes a server of a cluster, where what becomes of all its parts is told."""
    return "tensorflow.train.Server" in called_names(script)
