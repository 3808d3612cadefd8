"""The work that was left after each conversion into a folder: kept outside of it, beside the record of its files.

An entry holds numbers only, and a conversion that leaves as much as the one before adds none: so the same input gives the same
report, byte for byte, however often it is converted.
"""

from __future__ import annotations

import hashlib
import logging
import os
from pathlib import Path

import msgspec

from npu_formats.files.draft import replacing
from npu_formats.files.state_folder import NoState, tree_state
from tf2npu.report.model.report import HistoryEntry
from tf2npu.report.work.decisions import Decision, n_findings

log = logging.getLogger(__name__)
_FILE = "history.json"
MOST_ENTRIES = 100
"""Entries that are kept: a line of more has no pixel for each."""


class _Stored(msgspec.Struct):
    """of: what was converted, as a digest, since the reports of several projects may go into one folder, one after the other."""

    of: str
    entries: list[HistoryEntry]


def entry_of(left: list[Decision], minutes: float | None = None) -> HistoryEntry:
    """The numbers of a report.  left: its decisions.  minutes: what they are estimated to cost."""
    places = sum(decision.n_places for decision in left)
    return HistoryEntry(len(left), n_findings(left), places, None if minutes is None else round(minutes))


def extended(folder: Path, src: Path, entry: HistoryEntry) -> tuple[HistoryEntry, ...]:
    """The entries of a report folder with this one behind them, unless it says the same as the last; they are stored."""
    of = hashlib.sha256(os.fsencode(os.path.realpath(src))).hexdigest()[:32]
    stored = _load(folder)
    earlier = stored.entries if stored is not None and stored.of == of else []
    if earlier and earlier[-1] == entry:
        return tuple(earlier)
    entries = [*earlier, entry][-MOST_ENTRIES:]
    _store(folder, _Stored(of, entries))
    return tuple(entries)


def _load(folder: Path) -> _Stored | None:
    """The stored history of a folder; None where there is none, or where the file is damaged."""
    try:
        state = tree_state(folder)
        if state is None:
            return None
        with state:
            return msgspec.json.decode(state.read(_FILE), type=_Stored)
    except (OSError, msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _store(folder: Path, stored: _Stored) -> None:
    try:
        state = tree_state(folder, make=True)
        assert state is not None
        with state, replacing(state, _FILE, 0o600) as stream:
            stream.write(msgspec.json.encode(stored) + b"\n")
    except NoState as error:
        log.warning("%s; the history of %s is not kept", error.strerror, folder)
