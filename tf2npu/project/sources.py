"""The sources of a project: which they are, and their bytes, the same each time that a conversion asks for them."""

from __future__ import annotations

import errno
import os

from npu_formats.files.bounded_read import MOST_SOURCE_BYTES
from tf2npu.project.walk import Entry, Kind, Tree
from tf2npu.scanner.console_scripts import is_project_settings
from tf2npu.scanner.known_modules import is_requirements
from tf2npu.scanner.notebooks.path import is_notebook
from tf2npu.scanner.options.defaults import MOST_BYTES, is_run_settings

_MOST_RUN_SETTINGS = 1_000
"""Launchers and files of settings that are read: folders of data hold more such files than a program has settings."""


class Sources:
    """The files of a tree, each read anew when it is asked for, as large projects do not fit into memory.

    all: every source, of which `ordinary` are converted and the others `too_large`; settings: data that may name commands,
    distributions or options.
    unread: the reason for each path that could not be read, or that has changed meanwhile.
    """

    def __init__(self, tree: Tree) -> None:
        self.all = [entry for entry in tree.entries if entry.kind is Kind.SOURCE]
        self.ordinary = [entry for entry in self.all if not entry.is_large or is_notebook(entry.path)]
        self.too_large = [entry for entry in self.all if entry.is_large and not is_notebook(entry.path)]
        data = [entry for entry in tree.entries if entry.kind is Kind.DATA and not entry.is_large]
        named = {entry.path for entry in data if is_project_settings(entry.path) or is_requirements(entry.path)}
        of_runs = [e for e in data if is_run_settings(e.path) and e.path not in named and e.size <= MOST_BYTES]
        self.settings = [*(e for e in data if e.path in named), *of_runs[:_MOST_RUN_SETTINGS]]
        self.unread: dict[str, str] = {}
        self._tree = tree
        self._seen: dict[str, tuple[int, int, int]] = {}

    def read(self, entry: Entry) -> bytes | None:
        """The bytes of a file, the same each time; None, and the reason noted, for one that cannot be read or has changed."""
        if entry.path in self.unread:
            return None
        try:
            with self._tree.files.reader(entry.path) as stream:
                info = os.fstat(stream.fileno())
                identity = info.st_ino, info.st_size, info.st_mtime_ns
                if self._seen.setdefault(entry.path, identity) != identity:
                    raise OSError(errno.ESTALE, "it was changed while it was being converted: run again")
                return stream.read(MOST_SOURCE_BYTES)
        except OSError as error:
            self.unread[entry.path] = error.strerror or str(error)
            return None
