"""Results by content: an SQLite file in the user's cache folder, used by the main process only.

A key covers everything a result depends on (the file's path and bytes, the configuration, the project's facts, the
converter's own source and the Python that runs it), so an entry never has to be invalidated. A damaged or unwritable
cache is dropped or ignored with a log line; it can never change a result.
"""

from __future__ import annotations

import dataclasses
import hashlib
import logging
import os
import pickle
import sqlite3
import sys
from collections.abc import Iterable
from enum import Enum
from pathlib import Path
from typing import Any

import tf2npu
from tf2npu.rules import plugins

log = logging.getLogger(__name__)
_MAX_BYTES = 512 << 20  # beyond this the entries that were used longest ago go
_FLUSH_BYTES = 8 << 20
_SCHEMA = "CREATE TABLE IF NOT EXISTS results (key BLOB PRIMARY KEY, value BLOB, run INTEGER) WITHOUT ROWID"


def default_folder() -> Path:
    """XDG_CACHE_HOME/tf2npu, else ~/.cache/tf2npu."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "tf2npu"


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
    root = Path(tf2npu.__file__).parent
    seen = []
    for folder in (root, root / "rules", root / "scanner", root / "api_support", root / "api_support" / "data"):
        for path in sorted(folder.glob("*.*")):
            info = path.stat()
            seen.append((path.name, info.st_size, info.st_mtime_ns))
    return fingerprint(tf2npu.__version__, seen, plugins.fingerprint(), sys.version_info[:3], _libcst_place())


def _libcst_place() -> tuple[str, int]:
    """Where libcst is and when it was installed: its version without the cost of importlib.metadata."""
    import libcst

    version_file = Path(libcst.__file__).parent / "_version.py"
    return str(version_file), version_file.stat().st_mtime_ns if version_file.exists() else 0


class Cache:
    """Pickled results by key. Only this user's own cache folder is read: pickles of others are never loaded."""

    def __init__(self, folder: Path | None = None) -> None:
        self._base = tool_fingerprint()
        self._path = (folder or default_folder()) / "results.sqlite"
        self._new: list[tuple[bytes, bytes, int]] = []
        self._used: list[tuple[int, bytes]] = []
        self._pending_bytes = 0
        self._run = 0  # number of this run; an entry carries that of the last run that used it
        self._db = self._open()

    def key(self, *parts: Any) -> bytes:
        return fingerprint(self._base, *parts)

    def get(self, key: bytes) -> Any | None:
        """The stored result, or None."""
        if self._db is None:
            return None
        try:
            row = self._db.execute("SELECT value FROM results WHERE key = ?", (key,)).fetchone()
            if row is None:
                return None
            self._used.append((self._run, key))
            return pickle.loads(row[0])
        except (sqlite3.Error, pickle.UnpicklingError, EOFError, AttributeError, ImportError, IndexError) as error:
            log.warning("cache entry ignored: %s", error)
            return None

    def put(self, key: bytes, value: Any) -> None:
        blob = pickle.dumps(value, 5)
        self._new.append((key, blob, self._run))
        self._pending_bytes += len(blob)
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
            log.warning("cache not tidied: %s", error)

    def _flush(self) -> None:
        """One short transaction, so that two conversions at a time do not wait for each other."""
        if self._db is not None:
            try:
                self._db.executemany("INSERT OR REPLACE INTO results VALUES (?, ?, ?)", self._new)
                self._db.executemany("UPDATE results SET run = ? WHERE key = ?", self._used)
                self._db.commit()
            except sqlite3.Error as error:
                log.warning("cache not used any further: %s", error)
                self._db = None
        self._new, self._used, self._pending_bytes = [], [], 0

    def _open(self) -> sqlite3.Connection | None:
        """The database, made anew once if it is damaged; None (and a log line) where none can be had."""
        for last_try in (False, True):
            try:
                return self._connect()
            except (sqlite3.Error, OSError) as error:
                log.warning("cache %s: %s", self._path, error)
                if last_try or not isinstance(error, sqlite3.DatabaseError) or isinstance(error, sqlite3.OperationalError):
                    return None
                self._path.unlink(missing_ok=True)
        return None

    def _connect(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        db = sqlite3.connect(self._path, timeout=2)
        db.execute("PRAGMA synchronous = OFF")
        db.execute(_SCHEMA)
        self._run = 1 + (db.execute("SELECT max(run) FROM results").fetchone()[0] or 0)
        return db
