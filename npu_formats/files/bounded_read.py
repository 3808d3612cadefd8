"""Read a file that somebody else wrote: no more of it than makes sense, and nothing that is no regular file.

A tree may hold a pipe that nobody writes to, a device that never ends or a sparse file of terabytes under any name.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from npu_formats.files.directory import Directory

KB, MB = 1 << 10, 1 << 20
"""Bytes of a kibibyte and of a mebibyte."""
MOST_SETTINGS_BYTES = 1 * MB  # pyproject.toml, setup.cfg: the largest known ones have some hundred KB
MOST_PATTERN_BYTES = 1 * MB  # .gitignore, likewise; each line is a regular expression that every path is held against
MOST_BASELINE_BYTES = 64 * MB  # some 200 bytes a finding: room for 300,000
MOST_DECISIONS_BYTES = 16 * MB  # some 50 bytes a finding: room for 300,000
MOST_REPORT_BYTES = 512 * MB  # it holds the sources: 32 MB for TensorFlow's own 2,000 files
MOST_SOURCE_BYTES = 128 * MB  # the largest that is read at all; of these only notebooks are converted, which hold pictures


def read_at_most(path: Path, most: int) -> bytes:
    """The bytes of a regular file that the user named; links are followed.

    Raises: OSError, also for a file of more than `most` bytes and for one that is no regular file.
    """
    with open(path, "rb", opener=_open_without_waiting) as stream:
        return _bounded(stream, most, str(path))


def read_in(folder: Directory, path: str, most: int) -> bytes:
    """The bytes of a regular file below a folder; links are not followed.  Raises: OSError, as above."""
    with folder.reader(path) as stream:
        return _bounded(stream, most, str(folder.path / path))


def _bounded(stream: BinaryIO, most: int, shown: str) -> bytes:
    info = os.fstat(stream.fileno())
    if not stat.S_ISREG(info.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file", shown)
    data = (stream.read(most + 1) or b"") if info.st_size <= most else b""  # None where nothing is to be had now
    if max(info.st_size, len(data)) > most:  # it may have grown since
        raise OSError(errno.EFBIG, f"it is larger than {size_in_words(most)}, the most that is read of such a file", shown)
    return data


def size_in_words(size: int) -> str:
    """A limit as a user reads it."""
    return f"{size // MB} MB" if size >= MB else f"{size // KB} KB"


def _open_without_waiting(path: str, flags: int) -> int:
    """Opening a pipe would wait for somebody who writes to it."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
