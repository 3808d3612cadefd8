"""Every row of pytorch_rows.py holds, its conversion is Python, and a second conversion changes nothing."""

from __future__ import annotations

import ast

import pytest

from tests.converter.pytorch_rows import ROWS, SAME
from tf2npu.engine.convert_file import convert_source


@pytest.mark.parametrize(("source", "holds", "levels"), [pytest.param(*row[1:], id=row[0]) for row in ROWS])
def test_row_holds(source: str, holds: tuple[str, ...], levels: tuple[str, ...]) -> None:
    result = convert_source(source)
    text = result.after.decode()
    for wanted in holds:
        if wanted == SAME:
            assert text == source
        elif wanted.startswith("!"):
            assert wanted[1:] not in text
        else:
            assert wanted in text
    found = {f"{finding.rule} {finding.level.value}" for finding in result.findings}
    for wanted in levels:
        if wanted.startswith("!"):
            assert not any(one.startswith(wanted[1:]) for one in found)
        else:
            assert any(one.endswith(wanted) for one in found)
    if text != source:
        ast.parse(text)
        assert convert_source(text).after.decode() == text


def test_there_are_as_many_as_were_asked_for() -> None:
    assert len({row[0] for row in ROWS}) == len(ROWS) >= 60
