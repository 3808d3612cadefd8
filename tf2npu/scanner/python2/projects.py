"""Files of a tree that belong to a project that is Python 2, as one of its files tells that only Python 2 reads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from tf2npu.scanner.facts import FileFacts
from tf2npu.scanner.import_graph import connected


def python2_projects(files: Mapping[str, FileFacts], edges: Mapping[str, frozenset[str]]) -> dict[str, str]:
    """File -> the file that tells: one that only Python 2 reads, connected with it by imports, or else in the same folder."""
    telling = sorted(path for path, facts in files.items() if facts.is_python2)
    if not telling:
        return {}
    by_folder = {PurePosixPath(path).parent: path for path in reversed(telling)}
    found = {path: by_folder[folder] for path in files if (folder := PurePosixPath(path).parent) in by_folder}
    for group in connected(edges):
        teller = next((path for path in group if files[path].is_python2), None)
        found.update(dict.fromkeys(group, teller) if teller is not None else {})
    return found
