"""The progress on a terminal, and where there is none."""

from __future__ import annotations

import io

import pytest

from tf2npu.project.progress import Bar


class _Terminal(io.StringIO):
    """A stream that says it is a terminal, and keeps what is written to it."""

    def isatty(self) -> bool:
        return True


def test_the_bar_moves_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("tf2npu.project.progress.time.monotonic", iter(range(100)).__next__)
    terminal, drawn = _Terminal(), []
    with Bar(terminal) as bar:
        for done in range(1, 4):
            bar.show("reading", done, 3)
            drawn.append(terminal.getvalue())
    assert all(f"{done}/3" in text for done, text in enumerate(drawn, 1))
    assert "reading" in drawn[0]


def test_a_log_gets_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    log = io.StringIO()
    monkeypatch.setattr("tf2npu.project.progress.time.monotonic", iter(range(100)).__next__)
    with Bar(log) as bar:
        for done in range(1, 14):
            bar.show("converting", done, 13)
    assert log.getvalue() == "converting: 6 of 13 files\nconverting: 12 of 13 files\n"
