"""The paths that are not converted: patterns of the user's, and what `.gitignore` files name, by git's own rules."""

from __future__ import annotations

import errno
import logging
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npu_formats.files.above import is_trusted
from npu_formats.files.bounded_read import MOST_PATTERN_BYTES, read_at_most, read_in
from npu_formats.files.directory import Directory
from tf2npu.gitignore import refused_patterns
from tf2npu.project.glob_regex import bounded

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

log = logging.getLogger(__name__)
_GITIGNORE = ".gitignore"
_END_OF_FOLDER = "ps_d"  # the group by which pathspec marks the slash after a folder that a pattern fits


class BadPattern(Exception):
    """A pattern that means nothing; the text names it."""


@dataclass(frozen=True)
class _Patterns:
    """Patterns and the folder they are relative to. name: what to tell the user, with a slot for the pattern."""

    base: str  # POSIX path relative to the root of the walk, "" for the root; of folders above it: see `prefix`
    prefix: str  # path of the root below the folder that holds the patterns, "" for folders inside the tree
    spec: GitIgnoreSpec
    name: str

    def verdict(self, path: str, is_folder: bool) -> tuple[bool, str] | None:
        """Whether the last pattern that fits leaves the path out, and what to say; None where none fits."""
        below = path[len(self.base) :].lstrip("/") if self.base else path
        whole = self.prefix + below + ("/" if is_folder else "")
        last = next((p for p in reversed(self.spec.patterns) if p.include is not None and _fits(p, whole)), None)
        return None if last is None else (bool(last.include), self.name.format(last.pattern))


def _fits(pattern: Any, path: str) -> bool:
    """Whether a pattern fits the path itself, and not only a folder above it: those had their own turn."""
    found = None
    for found in bounded(pattern.regex).finditer(path):  # noqa: B007  the last one counts
        pass
    return found is not None and (found.groupdict().get(_END_OF_FOLDER) is None or found.end(_END_OF_FOLDER) == len(path))


@dataclass(frozen=True)
class Excludes:
    """The exclude patterns in force in one folder of a walk; `inside` gives those of a folder below it."""

    given: tuple[_Patterns, ...] = ()  # of the user, which no .gitignore takes back
    ignored: tuple[_Patterns, ...] = ()  # of .gitignore files, the outermost first
    reads_gitignore: bool = False
    whole: str = ""  # why everything here is left out

    def inside(self, root: Directory, folder: str, whole: str) -> Excludes:
        """The patterns in force in `folder`, relative to `root`; whole: the reason that all of it is left out, if it is."""
        own = _in_tree(root, f"{folder}/{_GITIGNORE}" if folder else _GITIGNORE) if self.reads_gitignore and not whole else None
        if own is None and whole == self.whole:
            return self
        return Excludes(self.given, self.ignored + ((own,) if own else ()), self.reads_gitignore, whole)

    def reason(self, path: str, is_folder: bool) -> str:
        """The reason that the path is not converted; "" when it is."""
        if self.whole:
            return self.whole
        for patterns in self.given:
            verdict = patterns.verdict(path, is_folder)
            if verdict and verdict[0]:
                return verdict[1]
        for patterns in reversed(self.ignored):
            verdict = patterns.verdict(path, is_folder)
            if verdict:
                return verdict[1] if verdict[0] else ""
        return ""


def excludes(root: Path, patterns: tuple[str, ...], respect_gitignore: bool) -> Excludes:
    """The exclude patterns at the root of a walk. Folders above it count up to that of the git repository, if there is one.

    Raises: BadPattern.
    """
    given = (_Patterns("", "", _spec(patterns, "--exclude"), "exclude {}"),) if patterns else ()
    above = tuple(_above(root)) if respect_gitignore else ()
    return Excludes(given, above, respect_gitignore)


def _above(root: Path) -> Iterator[_Patterns]:
    """The .gitignore files of the folders above the root; none where they leave out the root itself, which was asked for."""
    repository = next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), None)
    if repository is None:
        return
    if repository != root and not is_trusted(repository / ".git", root):
        return
    found = [_git_info(repository, root)] if (repository / ".git").is_dir() else []
    folders = [folder for folder in reversed(root.parents) if folder == repository or repository in folder.parents]
    found += [_read(folder / _GITIGNORE, _below(folder, root), _GITIGNORE) for folder in folders]
    present = [patterns for patterns in found if patterns is not None]
    for patterns in present:
        for end in range(1, patterns.prefix.count("/") + 1):
            part = "/".join(patterns.prefix.split("/")[:end]) + "/"
            if any(p.include and _fits(p, part) for p in patterns.spec.patterns):
                return
    yield from present


def _below(folder: Path, root: Path) -> str:
    relative = root.relative_to(folder).as_posix()
    return "" if relative == "." else relative + "/"


def _git_info(repository: Path, root: Path) -> _Patterns | None:
    return _read(repository / ".git" / "info" / "exclude", _below(repository, root), ".git/info/exclude")


def _in_tree(root: Directory, path: str) -> _Patterns | None:
    """Patterns of a .gitignore file of the tree itself."""
    return _parsed(lambda: read_in(root, path, MOST_PATTERN_BYTES), path.removesuffix(_GITIGNORE).rstrip("/"), "", path)


def _read(file: Path, prefix: str, name: str) -> _Patterns | None:
    """Patterns of a file above the tree."""
    if file.is_symlink() or not file.is_file():
        return None  # git does not follow links here either
    return _parsed(lambda: read_at_most(file, MOST_PATTERN_BYTES), "", prefix, name)


def _parsed(read: Callable[[], bytes], base: str, prefix: str, name: str) -> _Patterns | None:
    try:
        text = read().decode("utf-8", "surrogateescape")
    except OSError as error:
        if error.errno == errno.EFBIG:
            log.warning("%r: passed over: %s", error.filename, error.strerror)
        return None  # git itself reads on without it
    name = name.replace("{", "{{").replace("}", "}}") + ": {}"
    return _Patterns(base, prefix, _spec(tuple(text.removeprefix("\ufeff").split("\n")), ""), name)


def _spec(lines: tuple[str, ...], option: str) -> GitIgnoreSpec:
    """option: what the user wrote the patterns for; "" for files, in which git passes over a bad line."""
    from pathspec import GitIgnoreSpec  # costs a hundredth of a second, and few projects need it

    lines = tuple(line.rstrip("\r") for line in lines)
    refused = refused_patterns(lines)
    if refused and option:
        line, why = refused[0]
        raise BadPattern(f"{option} {line}: not a pattern as in .gitignore: {why}")
    bad = {line for line, _ in refused}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of re, about an odd set in a pattern
        return GitIgnoreSpec.from_lines([line for line in lines if line not in bad])
