"""Finds the exported files of a profile in whatever tree a user names, without following a link or trusting a size.

The layouts, from the newest: `PROF_*/mindstudio_profiler_output/op_summary_*.csv`; `op_summary_N_M[_I].csv` in
`PROF_*/device_N/summary/` with `timeline/` beside it; `JOB*/device_N/...`. A folder inside such a tree, or one that holds
several, does as well.
Source: the vendor's profiling guides of each release.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path

from npu_formats.files.bounded_read import MB, read_in
from npu_formats.files.directory import Directory
from tf2npu.profiles.csv_reader import Clock, NoProfile

MOST_FILE_BYTES = 512 * MB
"""Bytes of one exported file that are read. An op_summary of a thousand steps of BERT-large has 300 MB."""
_MOST_ENTRIES = 20_000
"""Entries of folders that are looked at. A tree of eight devices has some hundred, raw slices included."""
_MOST_DEPTH = 5
"""Folders below the one that was named: output/PROF_x/device_0/summary is three."""
_KINDS = {
    "op_summary": re.compile(r"op_summary_.*\.csv\Z"),
    "task_time": re.compile(r"task_time_.*\.csv\Z"),
    "step_trace": re.compile(r"step_trace_.*\.csv\Z"),
    "memory_record": re.compile(r"memory_record_.*\.csv\Z"),
    "npu_mem": re.compile(r"npu_mem_.*\.csv\Z"),
    "trace": re.compile(r"(msprof|task_time)_.*\.json\Z"),
    "info": re.compile(r"info\.json\.\d+\Z"),
    "database": re.compile(r"msprof_\w+\.db\Z"),
}
_TABLES = frozenset(("mindstudio_profiler_output", "summary", "timeline"))
"""Folders of tables: in a profile of the current releases, and in one of a device's folders of earlier ones."""
_DEVICE = re.compile(r"device_\d+\Z")
_PROFILE = re.compile(r"(PROF_|JOB)\w+\Z")
MOST_PROFILES = 64
"""Profiles that are shown together, a page each: eight hosts of eight devices."""
_RAW = re.compile(r".*\.slice_\d+\Z|\w+\.data\.\d+.*\Z")


@dataclass
class ProfileTree:
    """files: paths below the folder, by kind and name.  has_raw: whether it holds records that nobody has exported.
    clock: by which all its moments are told.
    """

    folder: Directory
    files: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in _KINDS})
    has_raw: bool = False
    clock: Clock = field(default_factory=Clock)

    def read(self, path: str) -> bytes:
        """The bytes of a file.  Raises: NoProfile."""
        try:
            return read_in(self.folder, path, MOST_FILE_BYTES)
        except OSError as error:
            raise NoProfile(f"{self.folder.path / path}: cannot be read: {error.strerror or error}") from None


def profiles_in(path: Path) -> list[Path]:
    """The profiles in the folder that was named: of an output folder each `PROF_*` in it, else the folder itself.

    A run of several devices leaves one for each process.  Raises: NoProfile where there are too many.
    """
    if _PROFILE.match(path.name):
        return [path]
    parent = path.absolute().parent
    if path.absolute().name in _TABLES and (_DEVICE.match(parent.name) or any(map(_DEVICE.match, _folders(parent)))):
        return [parent]  # beside its tables stands what says which chip it is of
    found = list(filter(_PROFILE.match, _folders(path)))
    if len(found) > MOST_PROFILES:
        raise NoProfile(f"{path}: holds {len(found)} profiles, more than the {MOST_PROFILES} that are shown together: name some")
    return [path / name for name in found] or [path]


def _folders(path: Path) -> list[str]:
    """Names of the folders in one, none where it cannot be read: reading the profile says what is wrong."""
    try:
        with Directory.followed(path) as folder:
            return [name for name, info in folder.entries() if not isinstance(info, OSError) and stat.S_ISDIR(info.st_mode)]
    except OSError:
        return []


def opened(path: Path) -> ProfileTree:
    """The files of a profile.  Raises: NoProfile for a folder that is not there, or that holds none."""
    try:
        tree = ProfileTree(Directory.followed(path))
    except OSError as error:
        raise NoProfile(f"{path}: cannot be read as a folder: {error.strerror or error}; name a PROF_* folder") from None
    try:
        _look(tree, "", 0, [_MOST_ENTRIES])
        if not any(tree.files[kind] for kind in ("op_summary", "task_time", "trace")):
            raise NoProfile(_why_none(tree, path))
    except BaseException:
        tree.folder.close()
        raise
    return tree


def _why_none(tree: ProfileTree, path: Path) -> str:
    """The advice for a folder without tables. An export of the database alone (`--type=db`) has the same in a form of its own."""
    if tree.files["database"]:
        found = f"{path}: holds {tree.files['database'][0]} alone, which this does not read"
        return f"{found}: run `msprof --export=on --type=text --output={path}` on the host, which writes the tables too"
    if tree.has_raw:
        return f"{path}: holds raw records only: run `msprof --export=on --output={path}` on the host, then read it again"
    return f"{path}: holds no profile: no op_summary_*.csv, task_time_*.csv or msprof_*.json in it; name a PROF_* folder"


def _look(tree: ProfileTree, folder: str, depth: int, left: list[int]) -> None:
    for name, info in _entries(tree, folder):
        left[0] -= 1
        if left[0] < 0:
            raise NoProfile(f"{tree.folder.path}: holds more than {_MOST_ENTRIES} files: name the PROF_* folder itself")
        path = f"{folder}/{name}" if folder else name
        if isinstance(info, OSError):
            continue
        if stat.S_ISDIR(info.st_mode) and depth < _MOST_DEPTH:
            _look(tree, path, depth + 1, left)
        elif stat.S_ISREG(info.st_mode):
            _note(tree, path, name)


def _entries(tree: ProfileTree, folder: str) -> list[tuple[str, os.stat_result | OSError]]:
    try:
        return list(tree.folder.entries(folder))
    except OSError as error:
        raise NoProfile(f"{tree.folder.path / folder}: cannot be read: {error.strerror or error}") from None


def _note(tree: ProfileTree, path: str, name: str) -> None:
    tree.has_raw = tree.has_raw or _RAW.match(name) is not None
    for kind, pattern in _KINDS.items():
        if pattern.match(name):
            tree.files[kind].append(path)
