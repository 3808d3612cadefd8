"""The table of MindSpore's names says of each what the package does with it."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path

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
