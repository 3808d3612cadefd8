"""Facts: found once for a script, apart for each, and gone with it."""

from __future__ import annotations

import pytest

from tf2npu.config import Config
from tf2npu.engine.convert_file import ProjectFacts
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.tree import parse

pytestmark = pytest.mark.each_python

ASKED: list[str] = []


@fact
def length(script: Script) -> int:
    """Length of the text."""
    ASKED.append(script.text)
    return len(script.text)


@fact
def nothing(script: Script) -> None:
    """An answer that is None."""
    ASKED.append(script.text)


def script(text: str) -> Script:
    return Script("m.py", parse(text), Config(), ProjectFacts.merge([]))


def test_a_fact_is_found_once_for_each_script() -> None:
    one, two = script("x = 1\n"), script("xyz = 1\n")
    ASKED.clear()
    assert [length(one), length(two), length(one), length(two)] == [6, 8, 6, 8]
    assert ASKED == ["x = 1\n", "xyz = 1\n"]
    assert (length.__name__, length.__doc__) == ("length", "Length of the text.")


def test_none_is_an_answer_too() -> None:
    one = script("x = 1\n")
    ASKED.clear()
    assert nothing(one) is None and nothing(one) is None
    assert ASKED == ["x = 1\n"]
