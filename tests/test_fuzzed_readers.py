"""Damaged files through every reader of files that others write: exit codes 0 to 3, no traceback, each in time."""

from __future__ import annotations

import pytest

from benchmarks.fuzzing.reader_trials import failures
from benchmarks.fuzzing.readers import readers
from tests.how_many import drawn

SEED, TRIALS, TRIALS_OF_SLOW = 20261128, drawn(200, 10), drawn(40, 8)
"""`make acceptance` has 20,000 of each."""


@pytest.mark.parametrize("reader", readers(), ids=str)
def test_a_damaged_file_is_read_or_told(reader, tmp_path, monkeypatch):
    for place in ("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(place, str(tmp_path / place))
    monkeypatch.chdir(tmp_path)
    trials = TRIALS_OF_SLOW if reader.is_slow else TRIALS
    found = failures(reader, trials, SEED, tmp_path / "files")
    assert [f"{told}: {content[:200]!r}" for told, _, content in found] == []
