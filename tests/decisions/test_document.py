"""tf2npu-decisions.toml: what is read, and what is refused with one line."""

import json

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npu_formats.toml_document import parsed
from tests.decisions.made import decided
from tests.how_many import drawn
from tests.report.samples import result
from tf2npu.decisions import document
from tf2npu.report.model.build import build

GOOD = decided(build([result("train.py"), result("sub/eval.py")]), {"NPU901": "accept", "NPU902": "suppress"})


def refused(text: str | bytes) -> str:
    with pytest.raises(document.NotDecisions) as told:
        document.load(text.encode() if isinstance(text, str) else text)
    assert "\n" not in str(told.value)
    return str(told.value)


def test_what_a_report_exports_fits_the_schema_and_is_read():
    jsonschema.Draft202012Validator(json.loads(document.SCHEMA_FILE.read_text())).validate(parsed(GOOD.encode()))
    held = document.load(GOOD.encode())
    assert {entry.choice for entry in held.entries} == {"accept", "suppress"}
    one = next(entry for entry in held.entries if entry.choice == "accept")
    assert held.of(one.id, "train.py", one.files["train.py"][0]) is one
    assert held.of(one.id, "other.py", one.files["train.py"][0]) is None


def test_keys_of_a_later_minor_version_are_passed_over():
    later = GOOD.replace('"1.0"', '"1.7"').replace("who =", 'mood = "good"\nwho =')
    assert len(document.load(later.encode()).entries) == len(document.load(GOOD.encode()).entries)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda text: text.replace('"1.0"', '"2.0"'), "schema version 2.0, this tf2npu reads 1.0"),
        (lambda text: text.replace('"1.0"', "1.0"), "no version"),
        (lambda text: text.replace('"tf2npu"', '"ruff"'), "no decisions of tf2npu"),
        (lambda text: '[project]\nname = "x"\n', "no decisions of tf2npu"),
        (lambda text: text.replace('"accept"', '"maybe"'), "maybe"),
        (lambda text: text.replace('"train.py"', '"../train.py"'), "below SRC"),
        (lambda text: text.replace('"train.py"', '"/train.py"'), "below SRC"),
        (lambda text: text.replace("findings = 2", "findings = 3"), "cut off"),
        (lambda text: text.replace("count = ", "count = 1"), "cut off"),
        (lambda text: text + text[text.index("[[decisions]]") :], "`count` says"),
        (lambda text: text.replace("count = 2\n", "") + text[text.index("[[decisions]]") :], "there twice"),
        (lambda text: "\x00" + text, "no TOML"),
        (lambda text: "x = " + "[" * 100_000, "no TOML"),
        (lambda text: text.encode() + b"\xff", "no TOML"),
        (lambda text: text.replace("places = 2", "places = 99999999999999999999999"), "no file of decisions"),
    ],
)
def test_what_is_damaged_newer_or_foreign_is_refused(change, told):
    assert told in refused(change(GOOD))


@settings(max_examples=drawn(60), deadline=None)
@given(st.integers(0, len(GOOD) - 3))
def test_a_file_that_was_cut_off_is_refused(at):
    refused(GOOD[:at])


@settings(max_examples=drawn(60), deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_do_harm(data):
    with pytest.raises(document.NotDecisions):
        document.load(data)
