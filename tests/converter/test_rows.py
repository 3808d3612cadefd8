"""Every row of rows.py holds in what is recorded, and has a test."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from tests.converter.rows import ROWS, SAME

HERE = Path(__file__).parent
FIXTURES = HERE.parent / "fixtures" / "convert"
IN_FOLDERS = [pytest.param(*row, id=f"{row[0]}-{row[1]}") for row in ROWS if "::" not in row[1]]


def texts(folder: Path) -> dict[str, str]:
    return {p.relative_to(folder).as_posix(): p.read_bytes().decode("latin-1") for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize(("row", "folder", "holds", "levels"), IN_FOLDERS)
def test_row_holds(row: str, folder: str, holds: tuple[str, ...], levels: tuple[str, ...]) -> None:
    before, after = texts(FIXTURES / folder / "src"), texts(FIXTURES / folder / "out")
    written = "\n".join(after.values())
    for wanted in holds:
        if wanted == SAME:
            assert after == before
        elif wanted.startswith("!"):
            assert wanted[1:] not in written
        else:
            assert wanted in written
    found = {(f["rule"], f["level"]) for f in json.loads((FIXTURES / folder / "findings.json").read_text())["findings"]}
    rules, said = {rule for rule, _ in found}, {level for _, level in found}
    for wanted in levels:
        if wanted.startswith("!"):
            assert wanted[1:] not in rules
        else:
            rule, _, level = wanted.rpartition(" ")
            assert (rule, level) in found if rule else level in said


@pytest.mark.parametrize(("row", "where"), [(row, where) for row, where, *_ in ROWS if "::" in where])
def test_row_has_its_test(row: str, where: str) -> None:
    file, name = where.split("::")
    tree = ast.parse((HERE / file).read_text())
    tests = [n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    assert any(test == name or test.startswith(f"{name}_") for test in tests)


def test_every_topic_is_numbered_without_a_gap_it_does_not_know() -> None:
    """Rows once taken into the table stay: a folder named after one belongs to it."""
    rows = {row for row, *_ in ROWS}
    assert len(rows) >= 190
    assert {where for _, where, *_ in ROWS if "::" not in where} <= {p.name for p in FIXTURES.iterdir()}
