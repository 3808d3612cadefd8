"""The banks that the package brings: every entry is of use, and an operator that is in one is not searched."""

from __future__ import annotations

import pytest

from npu_formats.device.chip import load_chip
from npu_runtime.cost.choice import choice_of, cost_with
from npu_runtime.observers.tuning.bank.operator_bank import OperatorBank, built_in
from npu_runtime.observers.tuning.programs.operator_key import work_of
from tests.tuning.test_bank_files import better, entry
from tests.tuning.test_rules import Told

SOCS = ("Ascend910A", "Ascend910B2")


@pytest.mark.parametrize("soc", SOCS)
def test_every_entry_is_of_use(soc):
    chip, entries = load_chip(soc), built_in(soc)
    assert len(entries) > 100
    gains = []
    for one in entries.values():
        work = work_of(one.operator)
        us, default_us = cost_with(work, chip, choice_of(one.record, work, chip)).us, cost_with(work, chip, None).us
        assert work.product is not None and us == pytest.approx(one.us, rel=1e-9) and us <= default_us
        gains.append(default_us / us)
    assert max(gains) > 1.05 and sum(gain > 1 for gain in gains) > len(gains) / 2


def test_both_banks_count_as_one_and_the_custom_one_wins(tmp_path):
    brought = next(iter(built_in(SOCS[0]).values()))
    bank = OperatorBank(SOCS[0], tmp_path, told := Told())
    assert bank.get(brought.key) == brought and not list(tmp_path.iterdir())
    own = type(brought)(brought.operator, brought.record, brought.us * 2)
    assert bank.put([own, entry(1)], better) and bank.get(brought.key) == own
    again = OperatorBank(SOCS[0], tmp_path, told)
    assert again.get(brought.key) == own and len(again.custom.read()) == 2 and told == []


def test_a_chip_without_a_built_in_bank_has_none():
    assert built_in("Ascend910ProA") == {}
