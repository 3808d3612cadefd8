"""The bytes of a project's files, the same each time that a conversion asks for them."""

from __future__ import annotations

import errno
import os

from npu_formats.files.bounded_read import MOST_SOURCE_BYTES
from tf2npu.project.walk import Entry, Tree


class Sources:
    """The files of a tree, each read anew when it is asked for, as large projects do not fit into memory.

    unread: the reason for each path that could not be read, or that has changed meanwhile.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._seen: dict[str, tuple[int, int, int]] = {}
        self.unread: dict[str, str] = {}

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
