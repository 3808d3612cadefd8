"""The table of symbols is the shim: each exists with its signature, and each has a test of what it does."""

from __future__ import annotations

import ast
import csv
from pathlib import Path

from tests.legs.tf2.api_programs import run

HERE = Path(__file__).parent
TABLE = HERE.parents[2] / "tf2npu" / "npu_device" / "_symbols.csv"
SIGNATURES = """
import csv, importlib
from tests.shim.symbol_texts import signature_of
for row in csv.DictReader(open({table!r}, encoding="utf-8", newline="")):
    symbol = importlib.import_module(row["module"])
    for part in row["symbol"].split("."):
        symbol = getattr(symbol, part)
    text = "" if isinstance(symbol, (str, property)) else signature_of(symbol)
    if text != row["signature"]:
        print(row["module"], row["symbol"], text)
"""


def rows() -> list[dict[str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_symbols_have_their_signatures():
    """Those of compat come first, and TensorFlow 1's names with them: signatures of the others are the same then."""
    assert run(SIGNATURES.format(table=str(TABLE))).stdout == ""


def test_every_public_name_stands_in_the_table_in_order():
    import npu_device

    keys = [(row["module"], row["symbol"]) for row in rows()]
    assert keys == sorted(set(keys)) and {row["kind"] for row in rows()} == {"F", "R", "N"}
    listed = {symbol for module, symbol in keys if module == "npu_device"}
    assert listed == set(npu_device.__all__) - {"compat", "configs", "distribute", "gen_npu_ops", "ops", "train"}
    for part in ("distribute", "ops"):
        assert {symbol for module, symbol in keys if module == f"npu_device.{part}"} == set(getattr(npu_device, part).__all__)


def test_every_symbol_has_a_test_that_names_it():
    wrong = []
    for row in rows():
        file, _, test = row["test"].partition(".")
        text = (HERE / f"test_api_{file}.py").read_text(encoding="utf-8")
        tests = {node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
        if (
            f"test_{test}" not in tests
            or row["symbol"].rpartition(".")[2] not in text
            or (row["kind"] != "F") != bool(row["effect"])
        ):
            wrong.append(row["symbol"])
    assert wrong == []
