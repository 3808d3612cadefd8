"""Findings on launchers and settings files beside the scripts: frameworks look at their text, and nobody edits them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from tf2npu.findings import FileResult, Finding
from tf2npu.frameworks.registry import known
from tf2npu.project.walk import Entry, Kind, Tree

if TYPE_CHECKING:
    from tf2npu.config import Config

_MOST_BYTES = 64 << 10
"""The largest size of a file that is read: a person wrote it by hand."""
_MOST_FILES = 2_000
"""Files of a tree that are read."""
SUFFIXES = (".sh", ".bash", ".slurm", ".sbatch", ".yaml", ".yml", ".json", ".toml")
"""Suffixes of launchers and of settings files."""
Look = Callable[[str, str], Iterable[Finding]]


def add_said_of_settings(tree: Tree, results: list[FileResult], config: Config) -> None:
    """Add to the results of launchers and settings files what the frameworks of the project's scripts say of them."""
    looks = _looks(results)
    if not looks:
        return
    by_path = {result.path: result for result in results}
    entries = [e for e in tree.entries if e.kind is Kind.DATA and e.path.endswith(SUFFIXES) and e.size <= _MOST_BYTES]
    for entry in entries[:_MOST_FILES]:
        result = by_path.get(entry.path)
        if result is not None and not entry.note:
            text = _text(tree, entry)
            result.findings += [f for look in looks for f in look(entry.path, text) if config.is_enabled(f.rule)]


def _looks(results: list[FileResult]) -> list[Look]:
    """The functions of the frameworks whose rules have said something of the project."""
    rules = {finding.rule for result in results for finding in result.findings}
    return [framework.said_of_settings for framework in known() if any(framework.owns(rule) for rule in rules)]


def _text(tree: Tree, entry: Entry) -> str:
    """The text of a file; empty where it cannot be read, which is told elsewhere, or is none."""
    with suppress(OSError, UnicodeDecodeError), tree.files.reader(entry.path) as stream:
        return stream.read(_MOST_BYTES).decode("utf-8")
    return ""
