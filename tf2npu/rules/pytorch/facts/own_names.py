"""Names of CUDA that classes and options of the user's own project have."""

from __future__ import annotations

from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact


@fact
def project_flags(script: Script) -> frozenset[str]:
    """The flags of all files of a project together."""
    return frozenset().union(*(facts.flags for facts in script.project.files.values()))
