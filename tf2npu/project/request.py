"""The request of a conversion, and the checks that it can be done, before anything is written."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from npu_formats.files.directory import Directory, real_path
from tf2npu.findings import FileResult, UnsafePlace
from tf2npu.project.manifest import is_recorded

if TYPE_CHECKING:
    from tf2npu.config import Config


Again = Callable[[frozenset[UnsafePlace]], FileResult]
"""Converts a file once more, with the unsafe fixes that were chosen at these places."""
Revise = Callable[[FileResult, Again], FileResult]
"""Gives the result of a source file as it is to be written, of what the converter made."""


class UsageProblem(Exception):
    """Something about the request itself is wrong; the text is for the user."""


class TooLarge(UsageProblem):
    """The project holds more than Request.most_entries."""


def as_converted(result: FileResult, again: Again) -> FileResult:
    """A result as the converter made it."""
    return result


@dataclass(frozen=True)
class Request:
    """The request of a conversion.

    out: None writes nothing, unless in_place converts the source files themselves; jobs: most worker processes; data:
    "link", "copy" or "skip" files that are large, or "link-all"; python2: bring Python 2 sources to Python 3 first.
    most_entries: files and folders of a project that is converted at all.
    """

    source: Path
    config: Config
    out: Path | None = None
    jobs: int = 1
    data: str = "link"
    force: bool = False
    use_cache: bool = True
    in_place: bool = False
    python2: bool = False
    revise: Revise = as_converted
    most_entries: float = math.inf

    @property
    def is_single_file(self) -> bool:
        return self.source.is_file()

    @property
    def out_folder(self) -> Path | None:
        """The folder that is written into: OUT itself, or the folder of OUT when OUT names a file."""
        return self.out.parent if self.out is not None and self._out_names_a_file else self.out

    @property
    def out_name(self) -> str | None:
        """The new name of a single file, where OUT gives one."""
        return self.out.name if self.out is not None and self._out_names_a_file else None

    @property
    def _out_names_a_file(self) -> bool:
        assert self.out is not None
        suffix = self.source.suffix.lower()
        return self.is_single_file and not self.out.is_dir() and bool(suffix) and self.out.suffix.lower() == suffix


def check_places(request: Request) -> None:
    """Refuse a source that is not there and an output that would damage something."""
    source = request.source
    if not os.path.lexists(source):
        raise UsageProblem(f"{source}: no such file or folder")
    if not source.exists():
        raise UsageProblem(f"{source}: a symbolic link whose target does not exist")
    if not source.is_file() and not source.is_dir():
        raise UsageProblem(f"{source}: neither a file nor a folder")
    if request.in_place:
        _check_way(source)
    if request.in_place and source.is_symlink():
        raise UsageProblem(f"{source}: a symbolic link: to convert what it leads to, name {os.path.realpath(source)}")
    if request.out is not None:
        _check_out(request, request.out)


def _check_way(source: Path) -> None:
    """Refuse to change files behind a link that a relative path leads through: the tree may have brought it."""
    try:
        Directory.given(source.parent).close()
    except OSError as error:
        raise UsageProblem(f"{error.filename}: {error.strerror}; nothing was done") from None


def _check_out(request: Request, out: Path) -> None:
    folder, source = request.out_folder, real_path(request.source)
    assert folder is not None
    if not request.is_single_file:
        _check_out_and_source_apart(source, out)
    elif real_path(folder / (request.out_name or source.name)) == source:
        raise UsageProblem(f"{out}: OUT is SRC itself; give another OUT")
    if folder.exists() and not folder.is_dir():
        raise UsageProblem(f"{folder}: exists and is no folder")
    if not request.force and _is_taken(request, folder) and not is_recorded(folder):
        raise _foreign(request, folder)


def _is_taken(request: Request, folder: Path) -> bool:
    """Whether something stands where the output is to be."""
    if request.out_name:
        return os.path.lexists(folder / request.out_name)
    return folder.exists() and any(folder.iterdir())


def _foreign(request: Request, folder: Path) -> UsageProblem:
    if request.out_name:
        target = folder / request.out_name
        return UsageProblem(f"{target}: exists and was not written by tf2npu; give another OUT, or --force (backs it up)")
    return UsageProblem(
        f"{folder}: exists and was not written by tf2npu; give another OUT, or --force to write into it all the same"
    )


def _check_out_and_source_apart(source: Path, out: Path) -> None:
    resolved = real_path(out)
    if any(_is_same(folder, source) for folder in (resolved, *resolved.parents)):
        beside = os.path.relpath(source.parent / f"{source.name}_npu")
        raise UsageProblem(
            f"{out}: OUT is inside SRC; give a folder outside of {source.name}/, such as {beside}, or convert its files where "
            "they are, with --in-place"
        )
    if any(_is_same(folder, resolved) for folder in source.parents):
        raise UsageProblem(f"{out}: SRC is inside OUT; give another OUT")


def _is_same(one: Path, other: Path) -> bool:
    """Whether two paths are one folder, also where a file system does not tell upper from lower case."""
    try:
        return one == other or os.path.samefile(one, other)
    except OSError:
        return False
