"""One bank file in a folder that several processes use: what is read is checked, what is written loses nobody's entries."""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock
from typing import Any, Generic, TypeVar

from npu_formats.files.lock import Busy
from npu_formats.files.whole_file import OWN_FILE, Unfit, locked, put_text, read_bounded, set_aside
from npu_runtime.observers.tuning.bank.document import MOST_BYTES, MOST_ENTRIES, Damaged, Newer, parse, render

PATIENCE_SECONDS = 10.0
"""Seconds to wait for another process that writes the bank: it needs less than one second for the largest file."""
Entry = TypeVar("Entry")
Entries = dict[str, Entry]
Tell = Callable[[str], None]
"""Takes a line for the user."""


class BankFile(Generic[Entry]):
    """folder, name: the place.  kind, subject: as `document.render` has them.  entry_of: (key, entry) of a JSON value, or raises
    Damaged.  value_of: the JSON value of an entry.  tell: takes each warning once.
    """

    def __init__(
        self, folder: Path, name: str, kind: str, subject: Mapping[str, Any], entry_of: Callable[[Any], tuple[str, Entry]],
        value_of: Callable[[Entry], Any], tell: Tell,
    ) -> None:  # fmt: skip
        self.folder, self.name, self.kind, self.subject = folder, name, kind, subject
        self._entry_of, self._value_of, self._tell = entry_of, value_of, tell
        self._told: set[str] = set()
        self._unread = ""
        self._lock = Lock()
        self.is_newer = False
        """Whether a newer release has written the file, which is then left alone."""

    @property
    def path(self) -> Path:
        return self.folder / self.name

    def read(self) -> Entries[Entry]:
        """The entries by key; none where there is no file.

        One that cannot be believed is set aside, and one that the system does not let us read stays; each with a warning.
        """
        try:
            return self._parsed()
        except (OSError, Damaged):
            return self._read_in_turn()

    def _read_in_turn(self) -> Entries[Entry]:
        """Look again while nobody writes: only what is damaged then is set aside. Another user's bank, a disk that fails, or too
        many open files say nothing of the file itself."""
        try:
            with self._lock, locked(self.folder, PATIENCE_SECONDS):
                return self._parsed_or_set_aside()
        except (Busy, OSError) as error:
            self._unread = _reason(error)
            self._warn(
                f"{self.path}: cannot be read ({self._unread}); tuning goes on without it, and it stays as it is: let this "
                "user read it, or name another folder in TUNE_BANK_PATH"
            )
            return {}

    def update(self, merge: Callable[[Entries[Entry]], Entries[Entry]]) -> bool:
        """Let `merge` change what the file holds now, and write that.

        A file that cannot be read is not written: it may be a good one.  Returns: whether it was written; else it is told, once
        for reading and writing.
        """
        try:
            with self._lock, locked(self.folder, PATIENCE_SECONDS):
                merged = merge(self._parsed_or_set_aside())
                if self.is_newer:
                    return False
                put_text(self.folder, self.name, self._rendered(merged), OWN_FILE)
            return True
        except (Busy, OSError) as error:
            if _reason(error) != self._unread:
                self._warn(
                    f"{self.path}: what was tuned cannot be kept ({_reason(error)}): let this user read the file and write the "
                    "folder, or name another one in TUNE_BANK_PATH"
                )
            return False

    def _rendered(self, entries: Entries[Entry]) -> str:
        text = render(self.kind, self.subject, [self._value_of(entries[key]) for key in sorted(entries)])
        if len(entries) > MOST_ENTRIES or len(text) > MOST_BYTES:
            raise OSError(errno.EFBIG, f"it is full with {MOST_ENTRIES} entries or {MOST_BYTES >> 20} MB")
        return text

    def _parsed(self) -> Entries[Entry]:
        data = read_bounded(self.folder, self.name, MOST_BYTES)
        return {} if data is None else dict(parse(data, self.kind, self.subject, self._entry_of))

    def _parsed_or_set_aside(self) -> Entries[Entry]:
        """Raises: OSError for a file that the system does not let us read."""
        try:
            return self._parsed()
        except Newer as problem:
            self.is_newer = True
            self._warn(f"{self.path}: {problem}; it is left alone: update tf2npu, or name another folder in TUNE_BANK_PATH")
        except (Unfit, Damaged) as problem:
            self._set_aside(_reason(problem))
        return {}

    def _set_aside(self, reason: str) -> None:
        try:
            became = f"it is set aside as {set_aside(self.folder, self.name)}"
        except OSError as error:
            became = f"it cannot be set aside ({_reason(error)})"
        self._warn(f"{self.path}: is not used, as {reason}; {became}, and the defaults count until tuning fills it again")

    def _warn(self, line: str) -> None:
        if line not in self._told:
            self._told.add(line)
            self._tell(line)


def _reason(error: Exception) -> str:
    return str(error.strerror or error) if isinstance(error, OSError) else str(error)
