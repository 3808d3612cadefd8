"""The document as JSON: the schema that ships, what is read back, what is refused, and in how many words."""

import json
import random

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from npu_formats.documents import prediction
from tests.prediction import samples

SCHEMA = json.loads(prediction.SCHEMA_FILE.read_text(encoding="utf-8"))


def text(made: prediction.Document) -> str:
    return "".join(prediction.pieces(made))


def test_the_schema_that_ships_is_that_of_the_types(request):
    made = json.dumps(prediction.schema(), indent=1) + "\n"
    if request.config.getoption("--regen"):
        prediction.SCHEMA_FILE.write_text(made, encoding="utf-8")
    Draft202012Validator.check_schema(SCHEMA)
    assert made == prediction.SCHEMA_FILE.read_text(encoding="utf-8"), "`pytest --regen` writes it"


@given(samples.documents)
def test_what_is_written_fits_the_schema_and_is_read_back(made):
    written = text(made)
    assert written.isascii()
    Draft202012Validator(SCHEMA).validate(json.loads(written))
    again = prediction.load(written.encode())
    assert text(prediction.load(text(again).encode())) == text(again)


def test_half_a_surrogate_pair_is_replaced_and_a_whole_one_stays():
    """Readers of JSON that is UTF-8 refuse half a character."""
    for name, read in (("\ud83d", "\ufffd"), ("\ude00", "\ufffd"), ("\ud83d\ude00", "\U0001f600"), ("\\ud800", "\\ud800")):
        made = prediction.Document(subject=name, tasks=[samples.task(name, 1.0, 0.0)])
        again = prediction.load(text(made).encode())
        assert (again.subject, again.tasks[0].name) == (read, read)


def test_the_first_of_several_chips_is_repeated_at_the_top():
    found = json.loads(text(samples.sample()))
    assert [chip["soc"] for chip in found["chips"]] == ["Ascend910A", "Ascend910B2"]
    keys = ("soc", "step_ms", "examples_per_s", "shares", "memory_peak_bytes", "hbm_bytes", "tasks")
    assert {key: found[key] for key in keys} == {key: found["chips"][0][key] for key in keys}
    assert prediction.load(text(samples.sample()).encode()) == samples.sample()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is no JSON: "),
        (b"[]", "it is no prediction: Expected `object`"),
        (b"[" * 100_000, "it is no prediction: "),
        (b"{}", "it is no prediction: Object missing required field `version`"),
        (b'{"version": "9.1"}', "it has version 9.1, this tf2npu reads 1.0"),
        (b'{"version": "x"}', "it is no prediction: `$.version` is not a version such as 1.0"),
        (b'{"version": "1.0", "step_ms": -1}', "it is no prediction: Expected `float` >= 0.0 - at `$.step_ms`"),
        (b'{"version": "1.0", "step_ms": 1e999}', "it is no prediction: Number out of range - at `$.step_ms`"),
        (b'{"version": "1.0", "step_ms": NaN}', "it is no JSON: "),
        (b'{"version": "1.0", "tasks": [{"name": 7}]}', "it is no prediction: Expected `str`, got `int` - at `$.tasks[0].name`"),
        (b'{"version": "1.0", "subject": "\xff"}', "it is no JSON: "),
        (b'{"version": "1.0", "tasks": ' + b'[{"name":' * 5000, "it is no "),
    ],
)
def test_what_is_no_prediction_is_refused_in_one_line(data, reason):
    with pytest.raises(prediction.NotAPrediction) as refused:
        prediction.load(data)
    assert str(refused.value).startswith(reason) and len(str(refused.value)) < 300 and "\n" not in str(refused.value)


def test_a_damaged_document_is_read_or_refused():
    written, chance = text(samples.sample()).encode(), random.Random(1)
    for _ in range(300):
        at = chance.randrange(len(written))
        try:
            prediction.load(written[:at] + bytes([chance.randrange(256)]) + written[at + chance.randrange(3) :])
        except prediction.NotAPrediction as error:
            assert "\n" not in str(error) and len(str(error)) < 400


def test_keys_of_later_versions_are_passed_over():
    assert prediction.load(b'{"version": "1.7", "soc": "x", "new": [1]}').soc == "x"
