"""The entry scripts of a project: those that are run, and the files that they need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from tf2npu.findings import EntryScript, FileResult
from tf2npu.scanner.notebooks.path import is_notebook

if TYPE_CHECKING:  # a conversion whose results all come from the cache needs neither
    from tf2npu.config import Config
    from tf2npu.scanner.project_facts import ProjectFacts


def entry_scripts(project: ProjectFacts) -> tuple[EntryScript, ...]:
    """The files that are run and reach a framework, by path."""
    return tuple(
        EntryScript(path, _starts(project, path), path in project.training, arguments=_arguments(project, path))
        for path in sorted(project.entries & project.reaching)
    )


def _arguments(project: ProjectFacts, path: str) -> tuple[str, ...]:
    """Words that a script's command line has to have: of its own parser, or of the one parser among the files that it imports."""
    own = project.files[path].arguments
    if own is not None:
        return own
    found = [words for target in sorted(project.imports_of(path) - {path}) if (words := project.files[target].arguments)]
    return found[0] if len(found) == 1 else ()


def notebooks(results: Iterable[FileResult]) -> tuple[EntryScript, ...]:
    """The notebooks that refer to APIs of a framework, by path: each is run by a person, cell by cell."""
    paths = sorted(r.path for r in results if r.apis and is_notebook(r.path))
    return tuple(EntryScript(path, "notebook") for path in paths)


def as_named(config: Config, entries: tuple[EntryScript, ...]) -> tuple[EntryScript, ...]:
    """The entry scripts that the settings name; all of them where the settings name none."""
    if not config.names_entries:
        return entries
    return tuple(replace(entry, starts="named") for entry in entries if config.is_named_entry(entry.path))


def imports_among_reaching(project: ProjectFacts) -> dict[str, tuple[str, ...]]:
    """Files that reach a framework, each with the others of these that it imports; files that import none are left out."""
    return dict(_imports(project))


def _imports(project: ProjectFacts) -> Iterator[tuple[str, tuple[str, ...]]]:
    for path in sorted(project.reaching):
        if targets := (project.imports_of(path) & project.reaching) - {path}:
            yield path, tuple(sorted(targets))


def _starts(project: ProjectFacts, path: str) -> str:
    pure = PurePosixPath(path)
    if pure.stem.startswith("test_") or pure.stem.endswith("_test"):
        return "test"
    if pure.name == "__main__.py":
        return "package"
    if project.files[path].has_main_guard:
        return "guard"
    return "command" if path in project.commands else "loading"
