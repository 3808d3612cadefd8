"""check.json: its schema, what stands in each mode, and the exit code."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from tests.accuracy_check import samples
from tests.accuracy_check.samples import MIX, OVERFLOWING, SAMPLES, agreeing, differing
from tf2npu.accuracy_check import document, verdicts

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "accuracy.md"
SCHEMA = json.loads(document.SCHEMA_FILE.read_text(encoding="utf-8"))


def text(found) -> str:
    return "".join(document.pieces(document.document(found)))


def written(found) -> dict:
    return json.loads(text(found))


def mode(found, name: str) -> dict:
    (entry,) = [entry for entry in written(found)["modes"] if entry["mode"] == name]
    return entry


def test_the_schema_that_ships_is_that_of_the_types(request):
    made = json.dumps(document.schema(), indent=1) + "\n"
    if request.config.getoption("--regen"):
        document.SCHEMA_FILE.write_text(made, encoding="utf-8")
    Draft202012Validator.check_schema(SCHEMA)
    assert made == document.SCHEMA_FILE.read_text(encoding="utf-8"), "`pytest --regen` writes it"


def test_every_key_is_in_the_schema_and_no_other():
    for name, definition in SCHEMA["$defs"].items():
        assert set(definition["required"]) == set(definition["properties"]), name
    assert set(written(SAMPLES["clean"])) == set(SCHEMA["$defs"]["Document"]["properties"])


def test_every_key_is_in_the_documentation():
    section = DOCUMENTATION.read_text(encoding="utf-8").partition("### check.json")[2].partition("### ")[0]
    keys = {key for name in SCHEMA["$defs"] for key in SCHEMA["$defs"][name]["properties"]}
    words = set(re.findall(r"[a-z_]+", section))
    assert sorted(keys - words) == []


@given(samples.records)
def test_what_is_written_fits_the_schema(found):
    made = text(found)
    assert made.isascii() and made.endswith("}\n") and made == text(found)
    Draft202012Validator(SCHEMA).validate(json.loads(made))


def test_the_graphs_types_come_first_and_each_mode_once():
    assert [entry["mode"] for entry in written(SAMPLES["two_modes"])["modes"]] == [
        "must_keep_origin_dtype", MIX, "force_fp16", "force_fp32",
    ]  # fmt: skip
    assert mode(SAMPLES["two_modes"], MIX)["runs"] == ["E", "F"]
    assert mode(SAMPLES["two_modes"], "must_keep_origin_dtype")["runs"] == ["B", "C", "D"]


def test_a_mode_that_differs_says_where_why_and_what_mends_it():
    assert mode(SAMPLES["precision"], "must_keep_origin_dtype")["verdict"] == "agrees"
    assert mode(SAMPLES["precision"], MIX) == {
        "mode": MIX, "run": "E", "runs": ["E"], "verdict": "differs", "loss": [2.3026, 2.2417, 2.109], "tolerance": 0.01,
        "loss_error": 0.19, "update_error": 0.5, "update_tolerance": 0.5,
        "first_difference": {
            "node": "encoder/scores", "op": "BatchMatMulV2", "dtype": "float16", "file": "model.py", "line": 88, "step": 1,
            "error": 0.31, "own_error": 0.31, "input_error": 2e-7, "what": "overflow", "original": "",
            "here": "",
        },
        "cause": "precision", "least_change": ["encoder/scores"], "least_change_kind": "nodes",
        "least_change_loss": [2.3026, 1.9872, 1.7716], "least_change_loss_error": 1e-4, "least_change_is_proven": True,
        "files": ["customize_dtypes.cfg"], "failure": None,
    }  # fmt: skip


def test_a_difference_of_the_conversion_counts_in_the_graphs_types():
    entry = mode(SAMPLES["conversion"], "must_keep_origin_dtype")
    assert (entry["run"], entry["verdict"], entry["cause"]) == ("B", "differs", "conversion")
    assert entry["least_change"] == ["NPU105", "NPU203", "NPU101"] and entry["least_change_kind"] == "rules"


def test_where_runs_of_the_original_differ_the_cause_is_randomness():
    entry = mode(SAMPLES["random"], "must_keep_origin_dtype")
    assert (entry["run"], entry["verdict"], entry["cause"]) == ("A'", "differs", "randomness")
    assert entry["first_difference"]["node"] == "random_uniform" and entry["first_difference"]["line"] == 12
    assert entry["least_change"] == [] and entry["files"] == []
    found = samples.record(OVERFLOWING, randomness=[samples.RANDOM])
    assert mode(found, MIX)["cause"] == "randomness" and mode(found, MIX)["files"] == []
    assert mode(found, MIX)["first_difference"]["node"] == "encoder/scores"


def test_numbers_that_json_has_not_are_texts():
    assert mode(SAMPLES["nan"], MIX)["loss"] == [2.3026, "NaN", "NaN"]
    assert "NaN" not in text(SAMPLES["nan"]).replace('"NaN"', "")


def test_a_failed_run_brings_its_own_text():
    entry = mode(SAMPLES["failed"], "must_keep_origin_dtype")
    assert (entry["run"], entry["verdict"], entry["cause"]) == ("C", "failed", None)
    assert entry["failure"] == samples.FAILURE
    assert [run["verdict"] for run in written(SAMPLES["failed"])["runs"]] == ["agrees", "agrees", "agrees", "failed", "agrees"]


def test_files_of_one_name_and_two_texts_get_the_runs_into_their_names():
    other = differing("E", "force_fp16", "precision")
    assert mode(samples.record([*OVERFLOWING, other]), "force_fp16")["files"] == ["customize_dtypes.cfg"]
    other["least_change"]["files"] = {"customize_dtypes.cfg": "other", "modify_mixlist.json": "{}"}
    found = samples.record([*OVERFLOWING, other])
    assert mode(found, "force_fp16")["files"] == ["customize_dtypes.E_force_fp16.cfg", "modify_mixlist.json"]
    assert mode(found, MIX)["files"] == [f"customize_dtypes.E_{MIX}.cfg"]


@pytest.mark.parametrize(
    "found, code",
    [
        *((SAMPLES[name], 0) for name in ("clean", "many_steps")),
        *((SAMPLES[name], 1) for name in ("precision", "two_modes", "conversion", "fusion", "nan", "random", "no_loss")),
        *((SAMPLES[name], 3) for name in ("failed", "stopped")),
        (samples.record([*OVERFLOWING, {"run": "F", "mode": MIX, "failure": samples.FAILURE}]), 3),
        (samples.record([{"run": "A", "failure": samples.FAILURE}]), 3),
        (samples.record([samples.ORIGINAL]), 3),
        (samples.record(samples.CLEAN, is_complete=False, stopped="budget"), 3),
        (samples.record([samples.ORIGINAL, {**samples.AGAIN, "agrees": False}, agreeing("B")]), 1),
    ],
)
def test_the_exit_code(found, code):
    assert verdicts.exit_code(found) == written(found)["exit_code"] == code
