"""History of conversions: the work that each left, numbers alone, bounded, and the same report for the same input."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from tests.report.samples import NAMES_BELOW_SRC, sample
from tf2npu.report.formats import as_json
from tf2npu.report.html import as_html
from tf2npu.report.html.sections.history import HEIGHT, WIDTH, points
from tf2npu.report.model.report import HistoryEntry
from tf2npu.report.work.history import MOST_ENTRIES, entry_of, extended

SCHEMA = json.loads(as_json.SCHEMA_FILE.read_text())


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def numbers(n: int) -> HistoryEntry:
    return HistoryEntry(n, n, n)


def stored(tmp_path) -> Path:
    (file,) = (tmp_path / "state").rglob("history.json")
    return file


def test_the_same_again_adds_nothing(tmp_path):
    for given in (5, 5, 3, 3, 5):
        found = extended(tmp_path / "out", tmp_path / "src", numbers(given))
        before = stored(tmp_path).read_bytes()
        assert extended(tmp_path / "out", tmp_path / "src", numbers(given)) == found
        assert stored(tmp_path).read_bytes() == before
    assert [entry.places for entry in found] == [5, 3, 5]


def test_another_project_begins_anew(tmp_path):
    extended(tmp_path / "out", tmp_path / "one", numbers(1))
    assert extended(tmp_path / "out", tmp_path / "other", numbers(2)) == (numbers(2),)


def test_it_is_bounded(tmp_path):
    for n in range(MOST_ENTRIES + 20):
        found = extended(tmp_path / "out", tmp_path / "src", numbers(n))
    assert len(found) == MOST_ENTRIES and found[-1] == numbers(MOST_ENTRIES + 19)


@pytest.mark.parametrize("data", [b"", b"[", b"{}", b'{"of": 1, "entries": 2}', b"\xff", b"[" * 100_000])
def test_a_damaged_file_is_begun_anew(tmp_path, data):
    extended(tmp_path / "out", tmp_path / "src", numbers(1))
    stored(tmp_path).write_bytes(data)
    assert extended(tmp_path / "out", tmp_path / "src", numbers(2)) == (numbers(2),)
    assert extended(tmp_path / "out", tmp_path / "src", numbers(2)) == (numbers(2),)


def test_without_a_state_folder_there_is_none(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert extended(tmp_path / "out", tmp_path / "src", numbers(1)) == (numbers(1),)
    assert entry_of([]) == numbers(0)


def test_it_goes_through_json_and_onto_the_first_page():
    report = replace(sample(NAMES_BELOW_SRC), history=(numbers(9), numbers(4), HistoryEntry(1, 2, 3, 40)))
    document = json.loads(as_json.render(report))
    jsonschema.validate(document, SCHEMA)
    read = as_json.load(as_json.render(report))
    assert read.history == report.history
    pages = dict(as_html.Pages(report).texts())
    page = pages["index.html"]
    assert "<polyline" in page and " style=" not in page and "from 9 to 3, at most 9." in page
    assert dict(as_html.Pages(read).texts())["index.html"] == page


def test_a_first_conversion_has_none():
    report = replace(sample(), history=(numbers(9),))
    assert "history" not in json.loads(as_json.render(report))
    assert all("<polyline" not in text for _, text in as_html.Pages(report).texts())


@pytest.mark.parametrize("given", [[0, 0], [5, 3, 0], [1, 10**15], list(range(MOST_ENTRIES))])
def test_the_line_stays_in_the_picture(given):
    found = [(float(x), float(y)) for x, y in points(given)]
    assert len(found) == len(given) and all(0 < x < WIDTH and 0 < y < HEIGHT for x, y in found)
    assert sorted(x for x, _ in found) == [x for x, _ in found], "from left to right"
    assert min(found, key=lambda point: point[1]) == found[given.index(max(given))], "the most is at the top"
