"""The list of ops that TensorFlow's public functions build is complete, current and explained."""

from __future__ import annotations

import json
from pathlib import Path
from runpy import run_path

import pytest
import tensorflow.compat.v1 as tf

from tools.op_inventory import build

ROOT = Path(__file__).parents[2]
INVENTORY = json.loads((ROOT / "tests" / "fixtures" / "ops" / "public_ops.json").read_text(encoding="utf-8"))


def test_every_public_name_has_a_line() -> None:
    assert build.unlisted() == []


def test_every_line_was_built() -> None:
    assert set(INVENTORY["functions"]) == {name for name, expression in build.recipes().items() if expression}
    assert INVENTORY["fails"] == {}


@pytest.mark.parametrize("name", sorted(INVENTORY["functions"])[::9])
def test_the_list_is_current(name: str) -> None:
    """One function in nine: built anew it gives the recorded ops."""
    tf.disable_v2_behavior()
    expression = build.recipes()[name]
    assert expression is not None
    assert sorted(build.used_types(build.build(expression))) == INVENTORY["functions"][name]


def test_gaps_are_explained() -> None:
    assert run_path(str(ROOT / "docs" / "op_coverage.py"))["unexplained"]() == [[], [], []]
