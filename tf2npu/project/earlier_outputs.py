"""Outputs of earlier conversions that lie in a tree: they are ours and no part of the user's project.

What tells them is the record in the user's state, never something in the tree, which may have come with it. A folder of which all
sources are ours goes as a whole, with what its scripts have made there since. From one that has other sources, too, as where
OUT was a file beside them, only what we wrote goes.
"""

from __future__ import annotations

from collections.abc import Iterable

from npu_formats.files.bounded_read import MOST_SOURCE_BYTES, read_in
from tf2npu.frameworks.tensorflow1.adapter_imports import adapter_of
from tf2npu.project.walk import Entry, Kind, Tree

_REASON = "output of an earlier conversion"


def leave_out_outputs(tree: Tree) -> None:
    """Take outputs of earlier conversions out of a walked tree; its root was named by the user, and stays whatever it is."""
    for folder, paths in tree.recorded.items():
        below = [entry for entry in tree.entries if entry.path.startswith(f"{folder}/")]
        written = {f"{folder}/{path}" for path in paths}
        ours = [entry for entry in below if _is_source(entry) and entry.path in written]
        if not any(_is_migrated(tree, entry) for entry in ours):
            continue  # the output is gone, and what has its name now is the user's
        if len(ours) == sum(map(_is_source, below)):
            tree.left_out = [told for told in tree.left_out if not told.startswith(f"{folder}/")]
            _take_out(tree, {folder, *_paths(below)}, f"{folder}/")
        else:
            _take_out(
                tree, written.intersection(_paths(entry for entry in below if entry.kind is not Kind.FOLDER)), *_paths(ours)
            )


def _is_source(entry: Entry) -> bool:
    """Whether an entry is a source, also one that is excluded, which counts as data with a note."""
    return entry.kind is Kind.SOURCE or (entry.kind is Kind.DATA and bool(entry.note))


def _is_migrated(tree: Tree, entry: Entry) -> bool:
    try:
        return bool(adapter_of(read_in(tree.files, entry.path, MOST_SOURCE_BYTES)))
    except OSError:
        return False


def _paths(entries: Iterable[Entry]) -> list[str]:
    return [entry.path for entry in entries]


def _take_out(tree: Tree, paths: Iterable[str], *shown: str) -> None:
    gone = set(paths)
    tree.entries = [entry for entry in tree.entries if entry.path not in gone]
    tree.left_out = sorted([*tree.left_out, *(f"{path} ({_REASON})" for path in shown)])
