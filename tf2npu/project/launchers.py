"""Shell scripts that start a project's Python scripts: what they run, and the folder in which they are typed.

What frameworks have to say of their lines, and of those of settings files, is added to the results of these files.
"""

from __future__ import annotations

import logging
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from tf2npu.findings import EntryScript, FileResult, Finding
from tf2npu.frameworks.registry import known
from tf2npu.project.walk import Entry, Kind, Tree

if TYPE_CHECKING:
    from tf2npu.config import Config

log = logging.getLogger(__name__)

SUFFIX = ".sh"
"""Suffix of scripts that `tf2npu run` gives to bash."""
_MOST_BYTES = 256 << 10
"""Largest size of a launcher that is read: those of the vendor's model zoo have up to 30 KB."""
_SETTINGS = (SUFFIX, ".bash", ".slurm", ".sbatch", ".yaml", ".yml", ".json", ".toml")
"""Suffixes of launchers and of settings files."""
_MOST_SETTINGS_BYTES = 64 << 10
"""Largest size of a settings file that is read: a person wrote it by hand."""
Look = Callable[[str, str], Iterable[Finding]]
_MOST_LINE, _MOST_WORDS = 4_000, 20
"""Characters of a line, and words behind `python` before its script: more are no command that a person wrote."""
_MOST_LAUNCHERS = 2_000
"""Launchers of a tree that are read: the model zoo has about as many."""
_CONTINUED = re.compile(r"\\\r?\n")
_SUBSTITUTION = re.compile(r"\$\([^()]*\)|\$\{[^{}]*\}|`[^`]*`")
_PYTHON = re.compile(r"(?:^|[\s;&|(\"'/=])python(?:\d(?:\.\d+)*)?[ \t]+([^;&|]*)")
_MOVES = re.compile(r"(?:^|[\s;&|(`])(?:cd|pushd|pwd)\b", re.MULTILINE)
_QUOTES = "\"'"
_WITH_VALUE = ("-W", "-X", "-c")
"""Options of Python behind which a value stands: a warning, a setting, or code, which is no script."""


def with_launchers(tree: Tree, entries: tuple[EntryScript, ...]) -> tuple[EntryScript, ...]:
    """The entry scripts, and behind them the shell scripts that start one of them, by path."""
    if not entries:
        return entries
    known = {entry.path: entry for entry in entries}
    candidates = [e for e in tree.entries if e.kind is Kind.DATA and e.path.endswith(SUFFIX) and e.size <= _MOST_BYTES]
    if len(candidates) > _MOST_LAUNCHERS:
        log.warning(
            "%d shell scripts are more than are looked at: launchers behind the first %d are not in the report",
            len(candidates),
            _MOST_LAUNCHERS,
        )
    found = (launcher(e.path, _text(tree, e), known) for e in candidates[:_MOST_LAUNCHERS])
    return (*entries, *(one for one in found if one is not None))


def _text(tree: Tree, entry: Entry) -> str:
    with suppress(OSError), tree.files.reader(entry.path) as stream:
        return stream.read(_MOST_BYTES).decode("utf-8", "replace")
    return ""


def launcher(path: str, text: str, known: dict[str, EntryScript]) -> EntryScript | None:
    """A shell script with the known scripts that it starts; None where it starts none of them."""
    folder = posixpath.dirname(path)
    started = list(_started(text))
    runs: dict[str, str] = {}  # with the folder from which the script is reached
    for named in started:
        if (reached := _reached(named, folder, known)) is not None:
            runs.setdefault(*reached)
    if not runs:
        return None
    stays = not _MOVES.search(text) and all("$" not in named for named in started)
    typed_in = next(iter(runs.values())) if stays else folder
    return EntryScript(path, "launcher", any(known[run].trains for run in runs), tuple(runs), typed_in)


def _started(text: str) -> Iterator[str]:
    """The script paths behind `python`, also those behind a variable; for a module, the path of its file."""
    for line in _CONTINUED.sub(" ", text).splitlines():
        if not line.lstrip().startswith("#"):
            for command in _PYTHON.finditer(_SUBSTITUTION.sub("$X", line[:_MOST_LINE])):
                yield from _script(iter(command[1].split()[:_MOST_WORDS]))


def _script(words: Iterator[str]) -> Iterator[str]:
    """The script among the words behind `python`, where there is one."""
    for word in words:
        if word in _WITH_VALUE:
            next(words, "")
        elif word == "-m":
            yield f"{next(words, '').strip(_QUOTES).replace('.', '/')}.py"
            return
        elif not word.startswith("-"):
            if word.strip(_QUOTES).endswith(".py"):
                yield word.strip(_QUOTES)
            return


def _reached(named: str, folder: str, known: Iterable[str]) -> tuple[str, str] | None:
    """The known script that a launcher names, and the folder from which: its own, or the nearest one above."""
    rest = named.rpartition("$")[2].partition("/")[2] if "$" in named else named
    if not rest or rest.startswith("/"):
        return None
    while True:
        for way in (rest, f"{rest.removesuffix('.py')}/__main__.py"):
            path = posixpath.normpath(posixpath.join(folder, way.replace('"', "")))
            if path in known:
                return path, folder
        if not folder:
            return None
        folder = posixpath.dirname(folder)


def add_said_of_settings(tree: Tree, results: list[FileResult], config: Config) -> None:
    """Add to the results of launchers and settings files what the frameworks of the project's scripts say of them."""
    looks = _looks(results)
    if not looks:
        return
    by_path = {result.path: result for result in results}
    entries = [e for e in tree.entries if e.kind is Kind.DATA and e.path.endswith(_SETTINGS) and e.size <= _MOST_SETTINGS_BYTES]
    for entry in entries[:_MOST_LAUNCHERS]:
        result = by_path.get(entry.path)
        if result is not None and not entry.note:
            text = _text(tree, entry)
            result.findings += [f for look in looks for f in look(entry.path, text) if config.is_enabled(f.rule)]


def _looks(results: list[FileResult]) -> list[Look]:
    """The functions of the frameworks whose rules have said something of the project."""
    rules = {finding.rule for result in results for finding in result.findings}
    return [framework.said_of_settings for framework in known() if any(framework.owns(rule) for rule in rules)]
