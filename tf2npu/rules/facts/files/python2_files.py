"""Files that were written for Python 2."""

from __future__ import annotations

from tf2npu.scanner.script import Script


def is_of_python2(script: Script) -> bool:
    """Whether a file, or another one of its project, can only be read by Python 2."""
    facts = script.project.files.get(script.path)
    return script.path in script.project.python2 or (facts is not None and facts.is_python2)
