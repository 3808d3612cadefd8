"""Result files: the form of listing 5-59, both orders of the name, and what a reader takes from others' files."""

from __future__ import annotations

import ast
import json
import re
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_formats.vendor.tune_result import TunedOperator, percent, read_tune_result
from npu_runtime.observers.tuning.programs.bank_policy import decide
from npu_runtime.observers.tuning.programs.outcome import Outcome
from npu_runtime.observers.tuning.programs.result_files import (
    aoe_result,
    read_name,
    tune_result,
    tune_result_name,
)

# As in the textbook and in a file of a user: quoted and not, with times and without, spaces that differ.
LISTING = """
{
    "[['scale5a_branch1', 'bn5a_branch1', 'res5a_branch1', 'res5a', 'res5a_relu']]": {
        "result_data": {"after_tune": 58, "before_tune": 66},
        "status_data": {"bank_append": true, "bank_hit": false, "bank_reserved": false, "bank_update": false},
        "ticks_best": ["[82, 2020-08-08 18:03:38]", "[58,2020-08-08 18:05:00]"]
    },
    "[model/dense/MatMul]": {
        "status_data": {"bank_append": false, "bank_hit": true, "bank_reserved": true, "bank_update": false}
    },
    "[['a', 'b'],['c']]": {"status_data": {"bank_append": false, "bank_hit": false, "bank_reserved": false, "bank_update": false}}
}
"""


def outcome(decision=(False, True, True), before=66.4, after=57.6, names=("conv", "relu"), **further) -> Outcome:
    made = Outcome(names[0], "Conv2D", decide(*decision), None, before, before, after, **further)
    made.operators = {"".join(names): names}
    return made


def test_a_listing_is_read():
    first, second, third = read_tune_result(LISTING)
    assert first.operators == (("scale5a_branch1", "bn5a_branch1", "res5a_branch1", "res5a", "res5a_relu"),)
    assert (first.before_us, first.after_us, first.flags["bank_append"]) == (66, 58, True)
    assert first.ticks == ((82.0, "2020-08-08 18:03:38"), (58.0, "2020-08-08 18:05:00"))
    assert second == TunedOperator(
        (("model/dense/MatMul",),), {"bank_append": False, "bank_hit": True, "bank_reserved": True, "bank_update": False}
    )
    assert third.operators == (("a", "b"), ("c",))


def test_ours_has_the_form_of_the_listing():
    rounds = ((66.4, "2026-01-01 00:00:01"), (57.6, "2026-01-01 00:00:02"))
    others = outcome((True, False, False), names=("bias",)), outcome((False, False, False), names=("cast",))
    found = json.loads(tune_result([outcome(rounds=rounds), *others]))
    assert list(found) == ["[['bias']]", "[['cast']]", "[['conv', 'relu']]"]
    tuned = found["[['conv', 'relu']]"]
    assert tuned["result_data"] == {"after_tune": 58, "before_tune": 66}
    assert tuned.keys() == next(iter(json.loads(LISTING).values())).keys()
    assert tuned["ticks_best"] == ["[66, 2026-01-01 00:00:01]", "[58, 2026-01-01 00:00:02]"]
    assert found["[['bias']]"] == {
        "status_data": {"bank_append": False, "bank_hit": True, "bank_reserved": True, "bank_update": False}
    }
    assert not any(found["[['cast']]"]["status_data"].values())


def test_operators_with_the_same_members_have_an_entry_each():
    first, second = outcome(), outcome()
    second.operators = {"trans_Cast_1": ("conv", "relu")}
    found = json.loads(tune_result([first, second]))
    assert set(found) == {"[['conv', 'relu']]", "[['conv', 'relu', 'trans_Cast_1']]"}


names = st.text(st.characters(categories=("L", "N"), include_characters="/_-."), min_size=1)


@given(st.lists(st.lists(names, min_size=1).map(tuple), min_size=1, unique=True))
def test_keys_are_read_back(groups):
    made = outcome()
    made.operators = {str(n): group for n, group in enumerate(groups)}
    text = tune_result([made])
    assert [ast.literal_eval(key) for key in json.loads(text)] == [list(map(list, groups))]
    assert read_tune_result(text)[0].operators == tuple(groups)


def test_names_tell_process_and_time_in_both_orders():
    when = datetime(2020, 8, 8, 18, 3, 38, 123456)
    name = tune_result_name(42, when)
    assert name == "tune_result_pid42_20200808_180338123.json"
    assert read_name(name) == read_name("tune_result_20200808_180338123_pid42.json") == (42, when.replace(microsecond=123000))
    wrong = (
        "tune_result.json",
        "tune_result_pidx_20200808_180338123.json",
        "tune_result_pid1_20209999_180338123.json",
        name + "x",
    )
    for other in wrong:
        assert read_name(other) is None


@pytest.mark.parametrize(
    "text",
    ["", "[]", "3", '{"a": 1}', '{"[a]": {"status_data": 3}}', '{"a": {"status_data": {}}}', "[" * 100_000,
     '{"[a]": {"status_data": {}, "result_data": {"after_tune": "x"}}}', '{"[a]": {"status_data": {}, "ticks_best": ["now"]}}',
     '{"[a]": {"status_data": {}, "result_data": {"after_tune": 3}}}',
     '{"[a]": {"status_data": {}, "result_data": {"before_tune": 3}}}'],
)  # fmt: skip
def test_what_is_no_result_file_is_refused(text):
    with pytest.raises(ValueError):
        read_tune_result(text)


def test_aoe_results_have_the_newer_layout():
    found = json.loads(
        aoe_result([outcome(), outcome((True, True, True), 20.0, 10.0), outcome((True, False, False))], "net", 12.4)
    )
    assert found[0] == {"basic": {"tuning_name": "net", "tuning_time(s)": 12}}
    operators = found[1]["OPAT"].pop("repo_modified_operators")
    assert found[1]["OPAT"] == {
        "model_baseline_performance(ms)": 0.1528, "model_performance_improvement": "18.06%",
        "model_result_performance(ms)": 0.1252, "opat_tuning_result": "tuning successful",
    }  # fmt: skip
    assert [one["tune_performance"]["Format"]["update_mode"] for one in operators] == ["add", "update"]
    assert operators[1]["tune_performance"]["Format"] == {
        "performance_after_tune(us)": 10.0, "performance_before_tune(us)": 20.0, "performance_improvement": "50.00%",
        "update_mode": "update",
    }  # fmt: skip
    assert operators[0].keys() == {"op_name", "op_type", "tune_performance"}
    assert re.fullmatch(r"\d+\.\d\d%", percent(3, 2)) and percent(0.0, 0.0) == "0.00%"
