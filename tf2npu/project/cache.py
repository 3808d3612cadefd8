"""Results by content: an SQLite file in the user's cache folder, used by the main process only.

A key covers everything a result depends on (the file's path and bytes, the configuration, the project's facts, the
converter's own source and the Python that runs it), so an entry never has to be invalidated. An entry is data
(`codec.py`) behind a checksum of it and its key: one that is damaged, or was made for another key, is as good as none, and is
replaced by what the run finds. Nothing about the cache can change a result or end a run; what is wrong is a log line.
"""

from __future__ import annotations

import dataclasses
import errno
import hashlib
import logging
import os
import sqlite3
import sys
from collections.abc import Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

import tf2npu
from npu_formats.files.private_file import NotPrivate, make_private
from npu_formats.files.state import home_folder
from tf2npu.project import codec
from tf2npu.rules import plugins

log = logging.getLogger(__name__)
_MAX_BYTES = 512 << 20
"""Bytes that the cache may hold. Beyond this the entries that were used longest ago go."""
_FLUSH_BYTES = 8 << 20
"""Bytes of new entries that wait in memory for one transaction: it costs as much for one as for thousands."""
_LOCK_SECONDS = 2
"""Seconds to wait for another conversion that has the file. Its transactions take less than a tenth of that."""
_DIGEST_BYTES = 16
"""Bytes of the checksum of an entry. It guards against accidents: who can write the file could write a checksum as well."""
_COLUMNS = ["key", "value", "run"]
_LAST_RUN = 1 << 62
"""The largest number of a run. A larger one is damage, and SQLite's integers end at twice that."""
_SCHEMA = "CREATE TABLE IF NOT EXISTS results (key BLOB PRIMARY KEY, value BLOB, run INTEGER) WITHOUT ROWID"
_T = TypeVar("_T")


def default_folder() -> Path:
    """XDG_CACHE_HOME/tf2npu, else ~/.cache/tf2npu.

    Raises: OSError where neither is a place.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):
        return Path(base) / "tf2npu"
    home = home_folder()
    if not home.is_absolute():
        raise FileNotFoundError(errno.ENOENT, "the home folder is not known: set HOME or XDG_CACHE_HOME")
    return home / ".cache" / "tf2npu"


def fingerprint(*parts: Any) -> bytes:
    """Digest of plain values, containers and dataclasses that is the same in every process."""
    digest = hashlib.sha256()
    for part in parts:
        _feed(digest, part)
    return digest.digest()


def _feed(digest: Any, value: Any) -> None:
    """Add `value` to `digest`, each piece with its type and length so that no two values run together."""
    if isinstance(value, (bytes, str)) and not isinstance(value, Enum):
        data = value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")
        digest.update(b"%s%d:" % (type(value).__name__.encode(), len(data)) + data)
    elif dataclasses.is_dataclass(value):
        _feed(digest, type(value).__qualname__)
        _feed_all(digest, (getattr(value, field.name) for field in dataclasses.fields(value)))
    elif isinstance(value, dict):
        _feed_all(digest, sorted(fingerprint(key, item) for key, item in value.items()))
    elif isinstance(value, (set, frozenset)):
        _feed_all(digest, sorted(fingerprint(item) for item in value))
    elif isinstance(value, (list, tuple)):
        _feed_all(digest, value)
    else:
        _feed(digest, f"{type(value).__qualname__} {value!r}")


def _feed_all(digest: Any, values: Iterable[Any]) -> None:
    digest.update(b"(")
    for value in values:
        _feed(digest, value)
    digest.update(b")")


def tool_fingerprint() -> bytes:
    """Digest of the converter's version, its source files as they stand on disk, and the Python and libcst that run it."""
    seen = [(path.name, info.st_size, info.st_mtime_ns) for path, info in _sources(Path(tf2npu.__file__).parent)]
    return fingerprint(tf2npu.__version__, seen, plugins.fingerprint(), sys.version_info[:3], _libcst_place())


_PARTS = ("api_support", "engine", "python2", "rules", "scanner")
"""The folders of the package on which a result depends, beside the modules at its top."""


def _sources(root: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """The files of the package in `root` on which a result depends. Bytecode is none of them: Python writes it as it goes."""
    inside = [folder for part in _PARTS for folder in sorted((root / part).glob("**/")) if folder.name != "__pycache__"]
    for folder in (root, *inside):
        yield from ((path, path.stat()) for path in sorted(folder.glob("*.*")))


def _libcst_place() -> tuple[str, int]:
    """The path of libcst's version file and its time in ns: the version without the cost of importlib.metadata."""
    import libcst

    version_file = Path(libcst.__file__).parent / "_version.py"
    return str(version_file), version_file.stat().st_mtime_ns if version_file.exists() else 0


class Cache:
    """Results by key. It is used only where nobody but this user can have written it."""

    def __init__(self, folder: Path | None = None) -> None:
        self._base = tool_fingerprint()
        self._new: list[tuple[bytes, bytes, int]] = []
        self._used: list[tuple[int, bytes]] = []
        self._pending_bytes = 0
        self._n_damaged = 0
        self._run = 0  # number of this run; an entry carries that of the last run that used it
        self._path = Path()
        self._db = self._open(folder)

    def key(self, *parts: Any) -> bytes:
        return fingerprint(self._base, *parts)

    def get(self, key: bytes, kind: type[_T]) -> _T | None:
        """The stored result, or None; `kind` is its type."""
        if self._db is None:
            return None
        try:
            row = self._db.execute("SELECT value FROM results WHERE key = ?", (key,)).fetchone()
        except sqlite3.Error as error:
            self._give_up(error)
            return None
        if row is None:
            return None
        try:
            found = codec.decode(_checked(key, row[0]), kind)
        except codec.NotData as error:
            self._n_damaged += 1
            if self._n_damaged == 1:
                log.warning("cache %r: an entry is damaged (%s); it and others like it are made anew", str(self._path), error)
            return None
        self._used.append((self._run, key))
        return found

    def put(self, key: bytes, value: Any) -> None:
        """Store a result; one that has no form as data is not stored."""
        try:
            data = codec.encode(value)
        except codec.NotData as error:
            log.info("not stored in the cache: %s", error)
            return
        self._new.append((key, _digest(key, data) + data, self._run))
        self._pending_bytes += len(data)
        if self._pending_bytes > _FLUSH_BYTES:
            self._flush()

    def close(self) -> None:
        """Store what is new; let the entries of earlier runs go when the file has grown too large."""
        self._flush()
        if self._db is None:
            return
        try:
            if self._path.stat().st_size > _MAX_BYTES:
                self._db.execute("DELETE FROM results WHERE run < ?", (self._run,))
                self._db.commit()
                self._db.execute("VACUUM")
            self._db.close()
        except (sqlite3.Error, OSError) as error:
            self._give_up(error)

    def _flush(self) -> None:
        """One short transaction, so that two conversions at a time do not wait for each other."""
        if self._db is not None:
            try:
                self._db.executemany("INSERT OR REPLACE INTO results VALUES (?, ?, ?)", self._new)
                self._db.executemany("UPDATE results SET run = ? WHERE key = ?", self._used)
                self._db.commit()
            except sqlite3.Error as error:
                self._give_up(error)
        self._new, self._used, self._pending_bytes = [], [], 0

    def _give_up(self, error: Exception) -> None:
        """Go on without a cache. A damaged file goes, so that the next run has one again; a locked or full one stays."""
        log.warning("cache %r is not used any further: %s", str(self._path), error)
        db, self._db = self._db, None
        try:
            if db is not None:
                db.close()
            if _is_damage(error):
                self._path.unlink(missing_ok=True)
        except (sqlite3.Error, OSError) as second:
            log.warning("cache %r: %s", str(self._path), second)

    def _open(self, folder: Path | None) -> sqlite3.Connection | None:
        """The database, made anew once if it is damaged; None (and a log line) where none can be had."""
        try:
            self._path = (folder or default_folder()) / "results.sqlite"
            try:
                return self._connect()
            except sqlite3.Error as error:
                if not _is_damage(error):
                    raise
                log.warning("cache %r is damaged and made anew: %s", str(self._path), error)
                self._path.unlink(missing_ok=True)
                return self._connect()
        except NotPrivate as error:
            log.warning("the cache is not used: %s", error.strerror)
        except (sqlite3.Error, OSError) as error:
            log.warning("the cache is not used: %s", error)
        return None

    def _connect(self) -> sqlite3.Connection:
        make_private(self._path)
        db = sqlite3.connect(self._path, timeout=_LOCK_SECONDS)
        try:
            db.text_factory = bytes  # a text in the place of a value is damage, whatever its encoding
            db.execute("PRAGMA synchronous = OFF")
            db.execute(_SCHEMA)
            if [row[1].decode() for row in db.execute("PRAGMA table_info(results)")] != _COLUMNS:
                raise sqlite3.DatabaseError("its table is not that of a cache")
            last = db.execute("SELECT max(run) FROM results").fetchone()[0] or 0
            if not isinstance(last, int) or not 0 <= last < _LAST_RUN:
                raise sqlite3.DatabaseError("its runs are not counted")
        except BaseException:
            db.close()
            raise
        self._run = last + 1
        return db


def _is_damage(error: Exception) -> bool:
    """Whether the file itself is wrong; locks, rights and full disks are OperationalErrors."""
    return isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError)


def _digest(key: bytes, data: bytes) -> bytes:
    """Digest of the data and of its key, so that an entry is good for its own key only."""
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES, key=key[:64]).digest()


def _checked(key: bytes, value: object) -> bytes:
    """The data of an entry, whose digest stands before it.

    Raises: NotData.
    """
    if not isinstance(value, bytes) or len(value) < _DIGEST_BYTES:
        raise codec.NotData("it is no data")
    data = value[_DIGEST_BYTES:]
    if _digest(key, data) != value[:_DIGEST_BYTES]:
        raise codec.NotData("its checksum is wrong")
    return data
