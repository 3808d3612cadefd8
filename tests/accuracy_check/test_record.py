"""Reading of a record, and refusals of wrong ones: the script under check can have written it."""

from __future__ import annotations

import copy
import json
import os
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_formats.documents import check_record
from tests.accuracy_check import samples
from tf2npu.accuracy_check import as_text, document, page
from tf2npu.accuracy_check.texts import texts

WHOLE = samples.document([*samples.OVERFLOWING, {"run": "F", "mode": samples.MIX, "failure": samples.FAILURE}])
VALUES = [None, True, -1, 0, 2**70, 1e308, -1e308, float("nan"), float("inf"), "", "x", "NaN", "\ud800", [], {}, [[]], {"": {}}]


def changed(place, value) -> dict:
    made = copy.deepcopy(WHOLE)
    at = made
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = value
    return made


def places(value, start=()) -> list[tuple]:
    """The path of every value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path for key, inner in list(items) for path in ((*start, key), *places(inner, (*start, key)))]


def shown_or_refused(made: object) -> None:
    """Everything that is read is shown in every way; everything else is refused with its place."""
    try:
        found = check_record.read_record(made)
    except ValueError as error:
        assert str(error).startswith("it is no record of a check: ")
        assert "\n" not in str(error) and len(str(error)) < 600
        return
    for language in ("en", "zh"):
        as_text.lines(found, texts(language))
        page.page(found, texts(language)).encode("utf-8", "backslashreplace")
    "".join(document.pieces(document.document(found)))


@given(st.integers(0, 2**32))
def test_wrong_values_and_missing_keys(seed):
    rnd = random.Random(seed)
    made = copy.deepcopy(WHOLE)
    for _ in range(rnd.randrange(1, 5)):
        place = rnd.choice(places(made))
        at = made
        for key in place[:-1]:
            at = at[key]
        if isinstance(at, dict) and rnd.random() < 0.3:
            del at[place[-1]]
        else:
            at[place[-1]] = copy.deepcopy(rnd.choice(VALUES))
    shown_or_refused(made)


@given(samples.documents())
def test_whatever_a_record_can_hold_is_shown(made):
    shown_or_refused(made)
    assert check_record.read_record(made).script == made["script"]


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), lambda v: st.lists(v) | st.dictionaries(st.text(), v)))
def test_what_is_no_record_is_refused(made):
    with pytest.raises(ValueError, match="it is no record of a check"):
        check_record.read_record(made)


@pytest.mark.parametrize(
    "place, value, said",
    [
        (("format",), 2, "$.format"),
        (("runs",), [], "$.runs"),
        (("runs", 0, "run"), "B", "$.runs"),
        (("runs", 1, "run"), "A", "`$.runs` has a run twice"),
        (("runs", 2, "loss", 0), "nan", "$.runs[2].loss[0]"),
        (("runs", 2, "loss", 0), True, "$.runs[2].loss[0]"),
        (("runs", 2, "loss", 0), 10**400, "$.runs[2].loss[0]"),
        (("runs", 5, "mode"), "../x", "$.runs[5].mode"),
        (("runs", 5, "mode"), "x\n", "$.runs[5].mode"),
        (("runs", 5, "cause"), "weather", "$.runs[5].cause"),
        (("runs", 5, "first", "what"), "odd", "$.runs[5].first.what"),
        (("runs", 5, "first", "line"), -1, "$.runs[5].first.line"),
        (("runs", 5, "least_change", "names", 0), 1, "$.runs[5].least_change.names[0]"),
        (("runs", 5, "least_change", "files"), {"../x.cfg": ""}, "$.runs[5].least_change.files"),
        (("runs", 5, "least_change", "files"), {".bashrc": ""}, "$.runs[5].least_change.files"),
        (("runs", 5, "least_change", "files"), {"a.cfg\n": ""}, "$.runs[5].least_change.files"),
        (("runs", 5, "least_change", "files"), {"Check.json": ""}, "$.runs[5].least_change.files"),
        (("runs", 6, "failure", "type"), None, "$.runs[6].failure.type"),
        (("nodes", 3, "runs", "B", "error"), [], "$.nodes[3].runs[...].error"),
        (("nodes", 3, "runs"), {"G": {}}, "$.nodes[3].runs"),
    ],
)
def test_the_place_of_a_wrong_value_is_named(place, value, said):
    with pytest.raises(ValueError, match="it is no record of a check") as caught:
        check_record.read_record(changed(place, value))
    assert said in str(caught.value)


def test_numbers_that_json_has_not_are_read():
    found = check_record.read_record(changed(("runs", 5, "loss"), ["NaN", "Infinity", "-Infinity", None, 1])).runs[5].loss
    assert [str(value) for value in found] == ["nan", "inf", "-inf", "None", "1.0"]


def test_keys_of_a_later_version_are_passed_over():
    assert check_record.read_record({**WHOLE, "colour": 1}) == check_record.read_record(WHOLE)


@pytest.mark.parametrize("data", [b"", b"\xff{}", b"[" * 200_000, b'{"a":' + b"9" * 5000 + b"}", b"null", b"{}"])
def test_a_file_that_is_no_record_is_refused(tmp_path, data):
    path = tmp_path / "record.json"
    path.write_bytes(data)
    with pytest.raises(ValueError, match="it is no record of a check"):
        check_record.record_in(path)


def test_a_file_is_read_within_bounds(tmp_path, monkeypatch):
    path = tmp_path / "record.json"
    path.write_text(json.dumps(WHOLE))
    assert check_record.record_in(path) == check_record.read_record(WHOLE)
    monkeypatch.setattr(check_record, "MOST_RECORD_BYTES", 100)
    with pytest.raises(OSError, match="larger"):
        check_record.record_in(path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="no regular file"):
        check_record.record_in(tmp_path / "pipe")
