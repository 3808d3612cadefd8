"""The end of a run on a terminal: a sentence, a table, what to do; as wide as the terminal, and harmless."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import termios
from collections.abc import Iterator
from contextlib import suppress

import pytest
from npu_bridge import _closing_block
from rich.cells import cell_len

SEQUENCE = re.compile(r"\x1b\[[0-9;]*m")
LINES = [
    "simulated Ascend910A: 1 session, 3 runs, 99.50 % of 2.18e+08 floating-point operations on the device",
    "  on the host: a and 9 more: strings are host data",
    "  options without effect here: dynamic_input",
    "1 session still open at the end, made at train.py:3",
]
NOTHING = {
    "host_nodes": [], "new_shapes": 0, "sessions_on_tensorflow": [], "options_without_effect": [], "sessions_left_open": [],
}  # fmt: skip


def drawn(lines: list[str], document: dict, columns: int) -> str:
    person, program = pty.openpty()
    fcntl.ioctl(program, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    with os.fdopen(program, "w", encoding="utf-8") as stream:
        _closing_block.show(lines, document, stream)
    text = b"".join(_read(person)).decode()
    os.close(person)
    return SEQUENCE.sub("", text).replace("\r\n", "\n")


def _read(person: int) -> Iterator[bytes]:
    """All that a terminal was sent, which comes in parts, and then an error since nobody holds its other end."""
    with suppress(OSError):
        while data := os.read(person, 1 << 16):
            yield data


@pytest.mark.parametrize("columns", [80, 40])
def test_a_sentence_a_table_and_what_to_do(columns):
    document = NOTHING | {
        "host_nodes": [{"reason": "strings are host data", "count": 10, "example": "a"}], "new_shapes": 2,
        "sessions_left_open": ["train.py:3"],
    }  # fmt: skip
    text = drawn(LINES, document, columns)
    assert max(map(cell_len, text.split("\n"))) <= columns
    words = " ".join(text.split())
    assert LINES[0] in words and "What to do: 1. Pad what is fed" in words and "3. Close the sessions" in words
    assert "on the host: a" not in words, "the table says it"
    assert "10 a strings are host data" in words and "options without effect here: dynamic_input" in words


def test_nothing_to_do_says_nothing():
    text = drawn(LINES[:1], NOTHING, 80)
    assert "What to do" not in text and "such as" not in text


def test_many_reasons_are_counted_and_odd_names_are_harmless():
    reasons = [{"reason": f"[red]why\x1b]0;x\x07{n}", "count": 1, "example": f"n\u202e{n}"} for n in range(25)]
    text = drawn(["on \x1b[31m"], NOTHING | {"host_nodes": reasons}, 120)
    assert "and 15 more reasons" in text and "[red]why<U+001B>]0;x<U+0007>0" in text
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", text)
