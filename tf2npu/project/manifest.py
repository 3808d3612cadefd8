"""The record of what this tool wrote into an output folder: it tells our files from a person's.

`manifest.json` in the state of the folder (`files/state.py`) maps each path to a signature. While a conversion runs, every
signature is first appended to a journal beside it, so that after a kill at any moment the next run still knows which files
are its own.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from npu_formats.files import draft
from npu_formats.files.directory import Directory
from npu_formats.files.state_folder import NoState, tree_state
from tf2npu.project.signature import is_inside

log = logging.getLogger(__name__)
_NO_RECORD = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
_FILE, _JOURNAL = "manifest.json", "journal"


def is_recorded(out: Path) -> bool:
    """Whether a conversion has written into this folder, be it one that was broken off."""
    try:
        state = tree_state(out)
    except NoState:
        return False
    if state is None:
        return False
    with state:
        return _is_recorded(state)


def recorded_paths(out: Path) -> frozenset[str] | None:
    """The paths that conversions have written below this folder, be it long ago; None where there is no record."""
    try:
        state = tree_state(out)
    except NoState:
        return None
    if state is None:
        return None
    with state:
        if not _is_recorded(state):
            return None
        written = [path for path, _ in _in_file(state)]
        begun = [line[0] for line in _journal(state) if isinstance(line, list) and line]
    return frozenset(path for path in (*written, *begun) if isinstance(path, str) and is_inside(path))


class Manifest:
    """The signatures this tool left in an output folder; what a run does not touch stays known."""

    def __init__(self, out: Path) -> None:
        self.draft_name = draft.new_name()
        self.recorded: dict[str, str] = {}  # of this run
        self._accepted: dict[str, set[str]] = {}
        self._forgotten: set[str] = set()
        self.left_drafts: list[str] = []  # paths at which a killed run may have left a draft
        self._stream: BinaryIO | None = None
        self._state = _state(out)
        if self._state is not None:
            self._load(self._state)

    def accepts(self, path: str, signature: str) -> bool:
        """Whether `signature` at `path` is something this tool wrote there."""
        return signature in self.accepted(path)

    def accepted(self, path: str) -> set[str]:
        """The signatures of what this tool wrote at `path`, be it earlier."""
        return self._accepted.get(path, set())

    def knows(self, path: str) -> bool:
        return path in self._accepted

    def known(self) -> list[str]:
        return sorted(self._accepted)

    def open(self) -> None:
        """Begin to write the journal.  Raises: OSError."""
        if self._state is not None:
            self._stream = self._state.appender(_JOURNAL)
            self._stream.write(b"\n")  # ends a line that a kill has cut
            self._write({"draft": self.draft_name})

    def announce(self, path: str, signature: str) -> None:
        """Write down what is about to be put at `path`, before it is."""
        self._write([path, signature])
        self.keep(path, signature)

    def keep(self, path: str, signature: str) -> None:
        """Record that `signature` stands at `path` as ours."""
        self.recorded[path] = signature
        self._accepted.setdefault(path, set()).add(signature)

    def take_back(self, path: str) -> None:
        """Undo `announce` for an entry that could not be put in place."""
        self.recorded.pop(path, None)

    def forget(self, path: str) -> None:
        """Notes that what stood at `path` is gone, or no longer ours."""
        self.recorded.pop(path, None)
        self._forgotten.add(path)

    def close(self) -> None:
        """Store the record and end the journal.  Raises: OSError."""
        if self._state is None or self._stream is None:
            return
        untouched = self._accepted.keys() - self._forgotten - self.recorded.keys()
        files = {path: [self.recorded[path]] for path in self.recorded} | {
            path: sorted(self._accepted[path]) for path in untouched
        }
        text = json.dumps({"tool": "tf2npu", "version": 1, "files": dict(sorted(files.items()))}, indent=1)
        with draft.replacing(self._state, _FILE, 0o600) as stream:
            stream.write(text.encode("ascii") + b"\n")
        self._stream.close()
        self._state.remove(_JOURNAL)
        draft.sweep(self._state)

    def _write(self, line: object) -> None:
        if self._stream is not None:
            self._stream.write(json.dumps(line).encode("ascii") + b"\n")
            self._stream.flush()

    def _load(self, state: Directory) -> None:
        entries, drafts = _in_journal(state)
        for path, signature in [*_in_file(state), *entries]:
            if is_inside(path):
                self._accepted.setdefault(path, set()).add(signature)
        self.left_drafts = sorted({draft.beside(path, name) for path in self._accepted for name in drafts})


def _is_recorded(state: Directory) -> bool:
    return any(state.lstat(name) is not None for name in (_FILE, _JOURNAL))


def _state(out: Path) -> Directory | None:
    try:
        return tree_state(out, make=True)
    except NoState as error:
        log.warning("%s; the next conversion into %s will ask for --force", error.strerror, out)
        return None


def _in_file(state: Directory) -> list[tuple[str, str]]:
    try:
        files = json.loads(_read(state, _FILE))["files"]
        return [(str(path), str(signature)) for path, signatures in files.items() for signature in list(signatures)]
    except _NO_RECORD:
        return []  # no manifest, or a damaged one: nothing in OUT counts as written by us


def _in_journal(state: Directory) -> tuple[list[tuple[str, str]], set[str]]:
    """The entries of the journal, and the names of drafts that it announces."""
    entries: list[tuple[str, str]] = []
    drafts: set[str] = set()
    for document in _journal(state):
        try:
            if isinstance(document, dict):
                drafts.update(name for name in (document["draft"],) if draft.is_name(name))
            else:
                path, signature = document
                entries.append((str(path), str(signature)))
        except _NO_RECORD:
            continue
    return entries, drafts


def _journal(state: Directory) -> Iterator[Any]:
    """Lines of the journal; a kill can cut the last one, whose file was not written yet."""
    for line in _read(state, _JOURNAL).split(b"\n")[:-1]:
        try:
            yield json.loads(line)
        except _NO_RECORD:
            continue


def _read(state: Directory, name: str) -> bytes:
    try:
        return state.read(name)
    except OSError:
        return b""
