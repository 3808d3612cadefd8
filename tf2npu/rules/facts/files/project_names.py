"""Names that files of the project have once they are loaded."""

from __future__ import annotations

from tf2npu.scanner.project_facts import ProjectFacts

_DEPTH = 10
"""Files through which names are followed."""


def may_have(project: ProjectFacts, path: str, name: str, depth: int = 0) -> bool:
    """Whether a file of the project may have a name once it is loaded."""
    facts = project.files[path]
    if not facts.is_python or facts.names is None or depth > _DEPTH or name.startswith("__") or name == "*":
        return True
    return name in facts.names or any(
        may_be_given(project, path, level, module, name, depth + 1) for level, module in facts.stars
    )


def may_be_given(project: ProjectFacts, path: str, level: int, module: str, name: str, depth: int = 0) -> bool:
    """Whether `from module import *` in a file of the project may give a name: what others install may give any."""
    target = project.find_module(path, level, module)
    return target is None or (target != path and may_have(project, target, name, depth))
