"""The report on a terminal: as wide as it is, colours where they are wanted, and nothing that a text of a user's would draw."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

import pytest
from hypothesis import HealthCheck, given, settings
from rich.cells import cell_len

from npu_formats.escape import ODD
from tests.how_many import drawn as drawn_examples
from tests.report import samples
from tf2npu.commands.convert_summary import _with_places, show_path, show_summary
from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import FileResult, Finding, Level, Span, Status
from tf2npu.report.formats import terminal
from tf2npu.report.formats.as_text import place
from tf2npu.report.formats.localized import localized
from tf2npu.report.model.build import build
from tf2npu.report.model.report import Report
from tf2npu.report.work.labels import label_of_work
from tf2npu.report.work.overview import outlook

SEQUENCE = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b]*\x1b\\")
COLOUR = re.compile(r"\x1b\[(?:[0-9;]*;)?3[0-7]m")
SOURCE = "import tensorflow as tf\n" + "".join(f"q{n} = tf.py_func({n}, [x], tf.float32)\n" for n in "abcd")


@contextmanager
def tty(columns: int, rows: int = 50) -> Iterator[tuple[TextIO, bytearray]]:
    """A terminal: the end that a program writes to, and all that a person sees, whole behind the block.

    The person reads beside the program: the kernel holds 4 KB only, and hands on what is written some time later.
    """
    person, program = pty.openpty()
    fcntl.ioctl(program, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    seen = bytearray()
    reader = threading.Thread(target=read_all, args=(person, seen))
    reader.start()
    try:
        with os.fdopen(program, "w", encoding="utf-8", errors="backslashreplace") as stream:
            yield stream, seen
    finally:
        reader.join()
        os.close(person)


def read_all(person: int, seen: bytearray) -> None:
    """Reads until the program's end is closed, which Linux tells by an error."""
    with suppress(OSError):
        while piece := os.read(person, 65536):
            seen += piece


def drawn(report: Report, columns: int, *, language: str = "en", volume: str = "") -> str:
    """A report as a person sees it, with its sequences."""
    report.language = language
    with tty(columns) as (stream, seen):
        show_summary(report, stream, (Path("src"), Path("out")), volume)
    return seen.decode("utf-8").replace("\r\n", "\n")


def sample() -> Report:
    return build([convert_source(SOURCE, "train.py"), convert_source("import tensorflow as tf\ntf.Session()\n", "model.py")])


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "COLUMNS", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("columns", [80, 40])
def test_sentences_are_as_wide_as_the_terminal(columns, language):
    lines = SEQUENCE.sub("", drawn(sample(), columns, language=language)).split("\n")
    assert len(lines) > 10
    assert max(cell_len(line) for line in lines if not line.startswith("   tf2npu ")) <= columns


def test_the_verdict_stands_first_and_the_level_alone_is_coloured():
    text = drawn(sample(), 80)
    plain = SEQUENCE.sub("", text)
    assert plain.startswith(f"{outlook(sample()).verdict}\n")
    said = next(line for line in text.split("\n") if "manual" in line and "NPU912" in line)
    assert COLOUR.search(said) and not COLOUR.search(said.split("NPU912")[1])
    assert "train.py:2:6 and 3 more" in plain, "the places of a sentence are told with it"
    assert f"{outlook(sample()).steps[0].command}\n" in plain


def test_no_color_is_obeyed(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert not COLOUR.search(drawn(sample(), 80))
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" not in drawn(sample(), 80)


def test_quiet_is_one_line_and_verbose_has_every_place():
    assert drawn(sample(), 80, volume="quiet").count("\n") == 1
    text = SEQUENCE.sub("", drawn(sample(), 80, volume="verbose"))
    assert all(f"train.py:{line}:6\n" in text for line in (2, 3, 4, 5))


def test_a_pipe_gets_plain_lines(tmp_path):
    with (tmp_path / "out.txt").open("w", encoding="utf-8") as stream:
        show_summary(sample(), stream, (Path("src"), None), "")
    lines = (tmp_path / "out.txt").read_text().splitlines()
    assert lines[1].startswith("train.py:2:6: manual NPU912 ") and lines[2] == "train.py:3:6: manual NPU912 as at 2:6"


def test_the_path_of_the_report_is_a_link(tmp_path):
    path = tmp_path / "a b\x1b]0;x\x07" / "index.html"
    with tty(80) as (stream, seen):
        show_path(path, stream, "en")
    text = seen.decode()
    assert path.as_uri() in text and "\x1b]0;" not in text and "<U+001B>" in text


def test_markup_of_a_user_is_no_markup():
    finding = Finding("NPU1", Level.MANUAL, Span(1, 1, 1, 2), "[bold red]x[/] :smile: [link=http://a]b[/link] \x1b[31m")
    report = build([FileResult("[red]a.py", Status.UNCHANGED, [finding], [], b"x\n", b"x\n")])
    text = SEQUENCE.sub("", drawn(report, 200))
    assert "[bold red]x[/] :smile: [link=http://a]b[/link] <U+001B>[31m" in text and "[red]a.py:1:1" in text


@settings(max_examples=drawn_examples(40), suppress_health_check=list(HealthCheck))
@given(samples.reports)
def test_nothing_hostile_reaches_a_terminal_and_no_place_is_lost(report: Report):
    plain = SEQUENCE.sub("", drawn(report, 80, volume="verbose"))
    assert not ODD.search(plain.replace("\n", ""))
    for file in report.files:
        for finding in file.new_findings():
            if label_of_work(file, finding):
                assert place(file.path, finding).expandtabs(8) in plain.expandtabs(8)


def test_levels_have_their_numbers():
    report = localized(sample(), "en")
    found = outlook(report)
    with tty(80) as (stream, seen):
        terminal.console(stream).print(terminal._levels(report, found, terminal.catalogue("en")))
    rows = SEQUENCE.sub("", seen.decode()).splitlines()
    assert rows[0].split() == ["level", "decisions", "places"]
    numbers = len(found.left), sum(d.n_places for d in found.left)
    assert ["manual", *map(str, numbers)] in [row.split() for row in rows]


def test_the_headline_names_the_folders_that_the_user_typed():
    headline = "To convert it too, run `tf2npu convert SRC OUT --distributed tf`."
    assert "`tf2npu convert 'my src' out --distributed tf`" in _with_places(headline, Path("my src"), Path("out"))
    assert "`tf2npu convert a OUT --distributed tf`" in _with_places(headline, Path("a"), None)
