"""The table of symbols is the shim: each exists with its signature, each that works has a test of what it does."""

from __future__ import annotations

import ast
import csv
import importlib
import inspect
import re
from pathlib import Path

import pytest

from benchmarks import shim_signatures
from tests.shim.symbol_texts import signature_of
from tests.shim.test_imports import MODULES

HERE = Path(__file__).parent
TABLE = HERE.parents[1] / "tf2npu" / "npu_bridge" / "_symbols.csv"
ROWS = list(csv.DictReader(TABLE.open(encoding="utf-8", newline="")))
NAMES = [f"{row['module']}.{row['symbol']}" for row in ROWS]


def found(row: dict[str, str]) -> object:
    is_library = row["module"] == "get_gen_ops()"
    symbol: object = importlib.import_module("npu_bridge._gen_ops" if is_library else row["module"])
    for part in row["symbol"].split("."):
        symbol = getattr(symbol, part)
    return symbol


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_a_symbol_has_its_signature(row):
    assert signature_of(found(row)) == row["signature"]


def test_the_table_is_complete_and_in_order():
    keys = [(row["module"], row["symbol"]) for row in ROWS]
    assert keys == sorted(set(keys))
    listed = {(row["module"], row["symbol"]) for row in ROWS}
    assert {(module, name) for module, names in MODULES.items() for name in names.split()} - listed == set()
    assert {row["kind"] for row in ROWS} == {"F", "R", "N"}


def functions(file: str) -> dict[str, str]:
    text = (HERE / f"test_{file}.py").read_text(encoding="utf-8")
    return {node.name: text for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}


def test_every_symbol_has_a_test_that_names_it():
    wrong = []
    for row in ROWS:
        file, _, test = row["test"].partition(".")
        text = functions(file).get(f"test_{test}", "")
        name = row["symbol"].partition(".")[0]
        # Some tests name their symbols by a common beginning and a parameter.
        if file != "symbols" and not re.search(rf"\b{name}\b", text) and not re.search(rf"\b{name.rpartition('_')[0]}\{{", text):
            wrong.append(f"{row['module']}.{name}: {row['test']}")
        if row["kind"] != "F" and not row["effect"]:
            wrong.append(f"{row['module']}.{name}: say what a call does")
    assert wrong == []


REFUSED = [row for row in ROWS if row["effect"].startswith("raises an error")]


@pytest.mark.parametrize("row", REFUSED, ids=[row["symbol"] for row in REFUSED])
def test_what_is_refused_says_what_to_do(row):
    call = found(row)
    parameters = inspect.signature(call).parameters.values()
    needed = [p for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    with pytest.raises(RuntimeError, match=r": .*\b(not|no)\b") as error:
        call(*range(len(needed)))
    assert row["symbol"].rpartition(".")[2] in str(error.value)
    if needed:
        with pytest.raises(TypeError, match=needed[0].name):
            call()


RELEASE = """
from tensorflow.python.framework import ops
def npu_config_proto(config_proto=None): pass
def npu_hooks_append(hooks_list=[]): pass
def npu_tf_optimizer(opt, colour): pass
def gone(a, b=1): pass
def _private(): pass
@ops.RegisterGradient("Gelu")
def a_gradient(op, grad): pass
class NPURunConfig: pass
"""


def test_a_release_is_read_and_not_run(tmp_path, capsys):
    assert shim_signatures.main([]) == shim_signatures.main([str(tmp_path)]) == 77
    folder = tmp_path / shim_signatures.PACKAGE
    folder.mkdir(parents=True)
    (folder / "npu_init.py").write_text(RELEASE, encoding="utf-8")
    capsys.readouterr()
    assert shim_signatures.main([str(tmp_path)]) == 1
    shown = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in shown[:-1]] == [
        ["other", "npu_bridge.npu_init.npu_hooks_append"],
        ["other", "npu_bridge.npu_init.npu_tf_optimizer"],
        ["missing", "npu_bridge.npu_init.gone"],
    ]
    assert "4 public functions, classes and methods; 1 equal" in shown[-1]
    (folder / "npu_init.py").write_text("def npu_config_proto(): pass", encoding="utf-8")
    assert shim_signatures.main([str(tmp_path), "--all"]) == 0
