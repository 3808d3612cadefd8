"""The table of MindSpore's names says of each what the package does with it."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path

import pytest

TOOL = run_path(str(Path(__file__).parents[3] / "tools" / "build_mindspore_names.py"))
TABLE = TOOL["TABLE"]


def test_the_table_is_up_to_date() -> None:
    wanted = TOOL["text"](TOOL["listed"]([TABLE]))
    assert TABLE.read_text(encoding="utf-8") == wanted, "run: make regen"


def test_names_of_both_releases_are_listed() -> None:
    pairs = TOOL["listed"]([TABLE])
    assert ("mindspore.ops", "TensorAdd") in pairs and ("mindspore.ops", "control_depend") in pairs
    assert ("mindspore.train.quant.quant", "convert_quant_network") in pairs, "of r1.0"
    assert ("mindspore.compression.quant", "QuantizationAwareTraining") in pairs, "of r1.1"
    assert len(pairs) > 1000 and not any(name.startswith("_") for _, name in pairs)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("from mindspore.nn import BatchNorm3d", "mindspore.nn.BatchNorm3d is in MindSpore"),
        ("from mindspore.nn import Layer", "mindspore.nn.Layer is not in MindSpore"),
        ("import mindspore.mindrecord", "mindspore.mindrecord is in MindSpore"),
        ("from mindspore.train.quant import quant", "mindspore.train.quant is in MindSpore"),
        ("import mindspore.layers", "mindspore.layers is not in MindSpore"),
    ],
)
def test_an_import_of_what_is_not_there_says_so(statement: str, words: str) -> None:
    with pytest.raises(ImportError, match=f"{words} r1.0 or r1.1.*generated/mindspore_names.md"):
        exec(statement)
