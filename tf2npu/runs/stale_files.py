"""The files of a report that a run has read, and whether they have changed since then."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from types import ModuleType

from npu_formats.files.bounded_read import MOST_SOURCE_BYTES, read_in
from npu_formats.files.directory import Directory


def loaded(modules: Iterable[ModuleType | None]) -> list[str]:
    """The real paths of the Python sources of modules, sorted."""
    files = {getattr(module, "__file__", None) for module in modules}
    return sorted(os.path.realpath(file) for file in files if isinstance(file, str) and file.endswith(".py"))


def root_of(files: Iterable[str], paths: Collection[str], script: str = "") -> str:
    """The folder below which loaded files lie as the paths of a report say; "" where none of them does.

    The script's own place says more than those of modules: packages of other projects may have files of the same names.
    """
    of_script = list(_roots(os.path.realpath(script), paths)) if script else []
    found = Counter(of_script or [root for file in files for root in _roots(file, paths)])
    return min(found, key=lambda root: (-found[root], len(root), root)) if found else ""


def _roots(file: str, paths: Collection[str]) -> Iterator[str]:
    """The folders from which a file has a path of the report, the outermost first."""
    parts = file.split(os.sep)
    for number in range(1, len(parts)):
        if "/".join(parts[number:]) in paths:
            yield os.sep.join(parts[:number]) or os.sep


def digests(files: Iterable[str], paths: Collection[str], root: str) -> dict[str, str]:
    """Digest of each file of the report, by its path there, that was loaded from below the root."""
    return {path: digest(root, path) for path in _below(files, paths, root)}


def sources(files: Iterable[str], paths: Collection[str], root: str) -> dict[str, bytes]:
    """The bytes of the same files; one that cannot be read is left out."""
    found = {}
    for path in _below(files, paths, root):
        try:
            found[path] = _read(root, path)
        except OSError:
            continue
    return found


def _below(files: Iterable[str], paths: Collection[str], root: str) -> list[str]:
    below = [os.path.relpath(file, root).replace(os.sep, "/") for file in files if root and file.startswith(root)]
    return [path for path in sorted(below) if path in paths]


def changed(then: dict[str, str], root: str) -> list[str]:
    """The files that are not as they were, or gone."""
    return sorted(path for path, was in then.items() if digest(root, path) != was)


def _read(root: str, path: str) -> bytes:
    with Directory.followed(Path(root)) as folder:
        return read_in(folder, path, MOST_SOURCE_BYTES)


def digest(root: str, path: str) -> str:
    """Digest of the bytes of a file; "" for one that cannot be read."""
    try:
        return digest_of(_read(root, path))
    except OSError:
        return ""


def digest_of(data: bytes) -> str:
    """Digest of the bytes of a file, as runs hold it."""
    return hashlib.sha256(data).hexdigest()[:32]
