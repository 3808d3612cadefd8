"""A script that is not converted yet, and those it imports, converted into a temporary folder for one run.

The current folder stays, so paths relative to it mean what they meant. The script's own folder is that of the copy, where files
that are no source are links to the originals; what a script makes there goes with the copy. Above the copy stand links to what is
beside the original, so that `../data` is found.
"""

from __future__ import annotations

import bisect
import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from npu_formats.files.directory import Directory, real_path
from npu_formats.files.state_folder import remove_tree_state
from npu_formats.whole_number import whole_number
from tf2npu.config import load_config
from tf2npu.findings import FileResult, Status
from tf2npu.frameworks.tensorflow1.adapter_imports import ImportedAdapter, imported_adapter
from tf2npu.project.conversion import Conversion, convert_project
from tf2npu.project.request import Request, UsageProblem
from tf2npu.project.workers import default_jobs
from tf2npu.report.languages.language import counted
from tf2npu.report.model.build import file_report
from tf2npu.report.model.side_by_side import compare

MOST_ENTRIES = 20_000
"""Files and folders of a project that is converted for one run. The vendor's largest model has some thousand; a home folder has
more, and to copy it would take minutes. Virtual environments and outputs of ours do not count: they are not copied."""
LINKED_LEVELS = 3
"""Folders above a project beside which links stand: scripts find their data by `..` or `../..` from their own file."""
MOST_LINKS = 1_000
"""Entries of a folder above that are linked at most: a folder of more is one of data, of which a script names one by its path."""


@dataclass
class TemporaryConversion:
    """root: the user's folder.  copy: the converted one.  script: in the copy."""

    root: Path
    copy: Path
    script: Path
    done: Conversion

    def summary(self) -> str:
        """The numbers of files converted and failed, and of places that need a person, in a sentence."""
        n_converted = sum(1 for result in self.done.results if result.status is Status.CONVERTED)
        n_failed = sum(1 for result in self.done.results if result.status is Status.FAILED)
        n_left = sum(
            1 for result in self.done.results for finding in result.findings if finding.level.value in ("manual", "unsupported")
        )
        failed = f", {n_failed} failed" if n_failed else ""
        left = f"; left to a person: {counted(n_left, 'place')}, which `tf2npu scan {self.root}` names" if n_left else ""
        return f"converted for this run: {n_converted} of the files in {self.root}{failed}{left}"

    def users_place(self, place: str) -> str:
        """The "file:line" of the user's own file that a line of the copy was made of; another place as it is."""
        path, _, text = place.rpartition(":")
        line = whole_number(text)
        if not path or line is None:
            return place
        inner = self._inside(path)
        if inner is None:
            return place
        original = os.path.relpath(self.root / inner)
        shown = str(self.root / inner) if original.startswith(os.pardir) else original
        result = next((r for r in self.done.results if r.path == inner), None)
        return f"{shown}:{line if result is None else _line_before(result, line)}"

    def _inside(self, path: str) -> str | None:
        """The path below the root of a file of the copy."""
        full = Path(os.path.abspath(path))
        if full.is_relative_to(self.copy):
            return full.relative_to(self.copy).as_posix()
        alike = [r.path for r in self.done.results if r.path == path or r.path.endswith(f"/{path}")]
        return alike[0] if len(alike) == 1 and not full.exists() else None

    def search_path(self, value: str) -> str:
        """A PYTHONPATH whose folders inside the project are those of the copy."""
        return os.pathsep.join(map(self._copied, value.split(os.pathsep)))

    def _copied(self, folder: str) -> str:
        full = real_path(Path(folder)) if folder else Path()
        return str(self.copy / full.relative_to(self.root)) if folder and full.is_relative_to(self.root) else folder


def _line_before(result: FileResult, line: int) -> int:
    """The line of the original that stands beside a line of the result, else the last one above it."""
    file = file_report(result)
    if not file.changes or file.source is None:
        return line
    pairs = [(row.after, row.before) for row in compare(file.source, file.changes).rows if row.after and row.before]
    at = bisect.bisect_right(pairs, (line, 1 << 62)) - 1
    return pairs[max(at, 0)][1] if pairs else line


def project_root(script: Path) -> Path:
    """The folder of a script, or that above the packages it belongs to."""
    folder = real_path(script).parent
    while (folder / "__init__.py").is_file() and folder.parent != folder:
        folder = folder.parent
    return folder


def adapter_of_script(script: Path) -> ImportedAdapter | None:
    """The adapter that makes a script a migrated one, imported by itself or by an import of it; None where none is.

    Nothing else decides: an output of ours may lie beside the script, and so may somebody's script for an NPU.
    Raises: UsageProblem for a script that cannot be read.
    """
    try:
        return imported_adapter(script, folders_of(script))
    except OSError as error:
        raise UsageProblem(f"{script}: cannot be read: {error.strerror or error}") from None


def folders_of(script: Path) -> list[Path]:
    """The folders from which a script imports files of its project."""
    return list(dict.fromkeys([real_path(script).parent, project_root(script)]))


def convert_for_run(script: Path, folder: Path, without: Collection[str] = ()) -> TemporaryConversion:
    """Convert the project of a script into a new folder below `folder`.

    without: ids of rules that take no part, beside those that the project's own settings leave out.
    Raises: UsageProblem, which is TooLarge for more than MOST_ENTRIES; ConfigError for settings that cannot be used.
    """
    root = project_root(script)
    copy = _surroundings(root, folder / "converted")
    config = load_config(root)
    config = replace(config, ignore=config.ignore | frozenset(without))
    request = Request(root, config, copy, default_jobs(), data="link-all", most_entries=MOST_ENTRIES)
    try:
        done = convert_project(request)
    finally:
        remove_tree_state(copy)  # nobody will convert into this folder again
    failed = [result for result in done.results if result.status is Status.FAILED]
    inner = real_path(script).relative_to(root)
    _check(failed, inner)
    if not (copy / inner).is_file():
        raise UsageProblem(
            f"{script}: lies in a folder that is never converted: an earlier output or report, a virtual environment"
        )
    return TemporaryConversion(root, copy, copy / inner, done)


def _surroundings(root: Path, folder: Path) -> Path:
    """Links to what stands beside a project and beside the folders above it.  Returns: where its copy belongs among them."""
    chain = [*reversed([parent for parent in root.parents if parent.parent != parent][:LINKED_LEVELS]), root]
    with Directory.given(folder, make=True) as made:
        for above, kept in pairwise(chain):
            inside = above.relative_to(chain[0].parent).as_posix()
            made.make_folders(inside)
            for entry in _entries(above):
                if entry != kept:
                    made.make_link(f"{inside}/{entry.name}", str(entry))
    return folder / root.relative_to(chain[0].parent)


def _entries(folder: Path) -> list[Path]:
    """The entries of a folder; none where it cannot be read, or has so many that to link them would take long."""
    try:
        found = sorted(folder.iterdir())
    except OSError:
        return []
    return found if len(found) <= MOST_LINKS else []


def _check(failed: Sequence[FileResult], script: Path) -> None:
    for result in failed:
        if result.path == script.as_posix():
            reason = result.findings[0].message if result.findings else "it could not be converted"
            raise UsageProblem(f"{script}: {reason}")
