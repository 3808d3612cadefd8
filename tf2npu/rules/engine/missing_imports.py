"""Imports that cannot work: of files that are not in the tree, of names that a file of the project does not define."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tf2npu.findings import Edit, Finding, Level, Span
from tf2npu.rules import hooks
from tf2npu.rules.facts.files.project_names import may_have
from tf2npu.scanner.known_modules import distribution_of, is_known_module, normalized
from tf2npu.scanner.names import is_framework
from tf2npu.scanner.project_facts import ProjectFacts
from tf2npu.scanner.script import Script
from tf2npu.scanner.syntax import parsed
from tf2npu.scanner.text.edits import Fix
from tf2npu.scanner.text.source import SourceError, decode

_RULE = "NPU992"
_Said = tuple[Level, str]
"""The level and the message of what is said of an import."""
_MADE_LATER = ("_pb2", "_pb2_grpc", "_version", "version")
"""Ends of modules that a build makes."""


@hooks.copied_file
def said_of_copied_file(path: str, data: bytes, project: ProjectFacts) -> list[Finding]:
    """The findings of a file that is not parsed by the converter, as it has nothing to convert."""
    if not _is_asked(path, project):
        return []
    try:
        return _found(path, decode(data).text, project)
    except (SourceError, SyntaxError, ValueError, RecursionError, MemoryError):  # told elsewhere
        return []


@hooks.after_edits
def said_of_parsed_file(script: Script, edits: list[Edit]) -> list[Fix]:
    """The same of a file that is converted."""
    if not _is_asked(script.path, script.project) or not script.config.is_enabled(_RULE):
        return []
    try:
        found = _found(script.path, script.text, script.project)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [Fix(_RULE, findings=[finding]) for finding in found]


def _is_asked(path: str, project: ProjectFacts) -> bool:
    """Whether a script loads the file, and what stands beside it is known: of a single file that is converted it is not."""
    return path in project.run and len(project.modules) > 1


def _found(path: str, text: str, project: ProjectFacts) -> list[Finding]:
    found: dict[str, Finding] = {}
    for node in _always_run(parsed(text).body):
        for level, message in _messages(path, node, project):
            span = Span(node.lineno, node.col_offset + 1, node.end_lineno or node.lineno, (node.end_col_offset or 0) + 1)
            found.setdefault(message, Finding(_RULE, level, span, message))
    return list(found.values())


def _always_run(body: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """Imports that run whenever a file is loaded; one in a `try` or under a condition has another way."""
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            yield from _always_run(node.body)


def _messages(path: str, node: ast.Import | ast.ImportFrom, project: ProjectFacts) -> Iterator[_Said]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield from _of_module(path, 0, alias.name, project)
        return
    module = node.module or ""
    target = project.find_module(path, node.level, module) if module or node.level else None
    if target is None:
        if not (module == "" and node.level) and not _is_folder(path, node.level, module, project):
            yield from _of_module(path, node.level, module, project)
        return
    for alias in node.names:
        inner = f"{module}.{alias.name}" if module else alias.name
        if target != path and not may_have(project, target, alias.name) and project.find_module(path, node.level, inner) is None:
            message = (
                f"`{target}` defines no `{alias.name}`, so this import fails when the script starts. Add the name there, or "
                "correct the import."
            )
            yield Level.MANUAL, message


def _of_module(path: str, level: int, module: str, project: ProjectFacts) -> Iterator[_Said]:
    """The level and the message of a module that is imported as a whole, if it is missing."""
    root = module.partition(".")[0]
    if project.find_module(path, level, module) is not None or module.endswith(_MADE_LATER):
        return
    if level == 0:
        if is_framework(root) or is_known_module(root) or normalized(root) in project.named_distributions:
            return
        if not any(root in parts for parts in project.modules):
            yield _not_installed(root)
            return
        if project.find_module(path, 0, root) is None:
            return  # found by a path that the script sets
    if not _is_folder(path, level, module, project):
        message = (
            f"The project has no file for `{'.' * level}{module}`, so this import fails when the script starts. Add the file, or "
            "correct the import."
        )
        yield Level.MANUAL, message


def _not_installed(root: str) -> _Said:
    """The level and the message of a module that neither the project nor its requirements have; pip may have it."""
    distribution = distribution_of(root)
    if distribution:
        message = f"No requirements of this project name `{root}`. Install it for the script: `pip install {distribution}`."
        return Level.INFO, message
    message = (
        f"`{root}` is no file of this project, no module of Python and not among the requirements. Put its file into the "
        "project, or name what installs it in requirements.txt."
    )
    return Level.MANUAL, message


def _is_folder(path: str, level: int, module: str, project: ProjectFacts) -> bool:
    """Whether an import leads to a folder of the tree without an `__init__.py`."""
    parts = tuple(module.split(".")) if module else ()
    folder = tuple(path.split("/")[:-1])
    starts = [folder[: len(folder) - (level - 1)]] if level else [folder[:depth] for depth in range(len(folder), -1, -1)]
    return any(
        at[: len(start) + len(parts)] == (*start, *parts) and len(at) > len(start) + len(parts)
        for start in starts for at in project.modules
    )  # fmt: skip
