"""Requests of options and variables."""

from __future__ import annotations

import json
import os
import pwd
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn

import pytest

from npu_runtime.config import MOST_TUNING_SECONDS, load_config
from npu_runtime.errors import InvalidArgument
from npu_runtime.observers.tuning.programs import bank_process
from npu_runtime.observers.tuning.programs.narrowing import DEEP_EFFORT, read_narrowing
from npu_runtime.observers.tuning.programs.sharing import NoBank, own_banks
from npu_runtime.observers.tuning.programs.tuning_request import requested
from tests.tuning.tasks import product_task
from tf2npu.commands import bank
from tf2npu.commands.bank import export_bank, merge_banks, show_bank
from tf2npu.commands.tune import tune
from tf2npu.refused_request import RefusedRequest

CORES = len(os.sched_getaffinity(0))


def asked(environment=None, **options):
    return requested(load_config(options, {}), "Ascend910A", {"TUNE_BANK_PATH": "/bank", **(environment or {})})


@pytest.mark.parametrize(
    ("text", "mode"),
    [("GA", "GA"), ("RL", "RL"), ("RL,GA", "RL,GA"), ("GA, RL", "RL,GA"), (b"GA", "GA"), ("", None), ("x", None)],
)
def test_modes(text, mode):
    request, notes = asked(auto_tune_mode=text)
    assert (request and request.mode) == mode and notes == ()


def test_nothing_is_asked_by_variables_of_the_bank_alone():
    assert asked({"REPEAT_TUNE": "true", "ENABLE_TUNE_BANK": "True", "TE_PARALLEL_COMPILER": "4"}) == (None, ())


def test_aoe_mode_wins_over_its_variable_and_has_results_of_its_own():
    request, _ = asked(aoe_mode="2", work_path="/work")
    assert (request.mode, request.results, request.aoe_results) == ("RL,GA", None, Path("/work"))
    assert asked({"AOE_MODE": "2", "ASCEND_WORK_PATH": "/other"})[0].aoe_results == Path("/other")
    request, notes = asked({"AOE_MODE": "2"}, aoe_mode="4")
    assert request is None and "aoe_mode='4' tunes nothing here" in notes[0]
    request, _ = asked(aoe_mode="2", auto_tune_mode="GA")
    assert (request.mode, request.results) == ("RL,GA", Path("/bank"))


@pytest.mark.parametrize(
    ("text", "workers"), [("", min(8, CORES)), ("1", 1), ("100000", CORES), ("0", min(8, CORES)), ("x", min(8, CORES))]
)
def test_workers_are_bounded_by_the_cores(text, workers):
    request, notes = asked({"TE_PARALLEL_COMPILER": text}, auto_tune_mode="GA")
    assert request.workers == workers and bool(notes) == (text in ("0", "x"))


@pytest.fixture
def nameless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user whom the system does not know, with no home, as in a container."""

    def unknown(user: int) -> NoReturn:
        raise KeyError(user)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    for name in ("HOME", "TUNE_BANK_PATH", "ASCEND_CACHE_PATH"):
        monkeypatch.delenv(name, raising=False)


def test_without_a_place_for_the_bank_nothing_is_tuned(nameless):
    request, notes = requested(load_config({"auto_tune_mode": "GA"}, {}), "Ascend910A", {})
    assert request is None and len(notes) == 1 and "nothing is tuned" in notes[0] and "TUNE_BANK_PATH" in notes[0]
    assert asked(auto_tune_mode="GA")[0].folder == Path("/bank")
    with pytest.raises(NoBank, match="TUNE_BANK_PATH"):
        own_banks({})


@pytest.mark.parametrize(
    "command", [lambda: show_bank(None, None), lambda: merge_banks([Path("x")]), lambda: export_bank(Path("x")),
                lambda: tune([__file__], soc="Ascend910A", mode="GA", devices=1, steps=1, json_file=None)],
)  # fmt: skip
def test_commands_refuse_to_work_on_a_bank_without_a_place(nameless, command, monkeypatch):
    monkeypatch.setattr(bank_process, "load", lambda path: {})
    monkeypatch.setattr(bank.subprocess, "run", _in_this_process)
    with pytest.raises(RefusedRequest, match="TUNE_BANK_PATH"):
        command()


def _in_this_process(command: list[str], input: str, **_: object) -> SimpleNamespace:
    """The answer of the runtime's process, whose user the system would know."""
    return SimpleNamespace(returncode=0, stdout=json.dumps(bank_process.answer(json.loads(input))))


def test_in_a_folder_that_is_gone_relative_paths_tune_nothing(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    for request, notes in (asked(aoe_mode="2"), asked({"TUNE_BANK_PATH": "bank"}, auto_tune_mode="GA")):
        assert request is None and "the current folder is gone" in notes[0]
    assert asked(aoe_mode="2", work_path="/work")[0].aoe_results == Path("/work")


def test_rules_of_the_bank():
    request, _ = asked({"REPEAT_TUNE": "TRUE", "ENABLE_TUNE_BANK": "false"}, auto_tune_mode="GA")
    assert request.repeats and not request.reads_bank
    request, _ = asked({"REPEAT_TUNE": "1"}, auto_tune_mode="GA")
    assert not request.repeats and request.reads_bank


def test_the_time_limit_is_an_option():
    assert asked(auto_tune_mode="GA", tuning_seconds="2.5")[0].seconds == 2.5
    assert asked(auto_tune_mode="GA", tuning_seconds=604800)[0].seconds == MOST_TUNING_SECONDS < threading.TIMEOUT_MAX
    for wrong in ("x", "-1", "inf", "nan", 1e300, "604800.1", "9" * 5000):
        with pytest.raises(InvalidArgument, match=r"tuning_seconds=.{1,40}: use a number of seconds up to 604800"):
            load_config({"tuning_seconds": wrong}, {})


@pytest.mark.parametrize(
    ("level", "searches"), [(0, True), (1, False), (2, False), (3, True), (4, True), (None, True), ("x", True)]
)
def test_operators_to_be_debugged_are_not_searched(level, searches):
    request, notes = asked(auto_tune_mode="GA", op_debug_level=level)
    assert request.searches == searches == (notes == ())


def configured(folder: Path, text: str) -> Path:
    (folder / "aoe.cfg").write_text(text)
    return folder / "aoe.cfg"


def test_a_configuration_takes_names_and_types(tmp_path):
    task = product_task("loss/MatMul", 16, 16, 16)
    cases = {
        '{"tune_ops_name": ["loss/MatMul"]}': True, '{"tune_ops_name": "x,loss/MatMul"}': True,
        '{"tune_ops_name": ["MatMul"]}': False,
        '{"tune_ops_type": ["Relu"]}': True, '{"tune_ops_type": ["MatMul"]}': False, "{}": True,
        '{"tune_ops_name": ["x"], "tune_ops_type": ["MatMulV2"]}': True,
    }  # fmt: skip
    for text, takes in cases.items():
        assert read_narrowing(configured(tmp_path, text)).takes(task) == takes, text
    assert read_narrowing(configured(tmp_path, '{"tune_optimization_level": "O1"}')).effort == DEEP_EFFORT
    assert read_narrowing(configured(tmp_path, '{"tune_optimization_level": "O2"}')).effort == 1


@pytest.mark.parametrize(
    "text", ["", "[]", "[" * 100_000, json.dumps({"tune_ops_name": 3}), json.dumps({"tune_optimization_level": "O3"}), "\x00"]
)
def test_a_configuration_that_is_none_is_told_and_all_is_tuned(tmp_path, text):
    request, notes = asked(auto_tune_mode="GA", aoe_config_file=str(configured(tmp_path, text)))
    assert request.narrowing.takes(product_task("x", 16, 16, 16)) and "all operators are tuned" in notes[0]
    assert "no such file" in asked(auto_tune_mode="GA", aoe_config_file=str(tmp_path / "no"))[1][0]
