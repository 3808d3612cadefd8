"""A name that nothing uses fails lint, and so does an exception that nothing needs any more."""

from __future__ import annotations

import pytest

from tools import dead_code


@pytest.fixture
def checked(tmp_path, monkeypatch, capsys):
    """Checks a package that consists of one file, with exceptions; returns the exit code and what was printed."""
    monkeypatch.setattr(dead_code, "ROOT", tmp_path)
    monkeypatch.setattr(dead_code, "READ", ("tf2npu",))
    monkeypatch.setattr(dead_code, "EXCEPTIONS", tmp_path / "dead_code.toml")

    def check(source: str, names: str = "") -> tuple[int, str]:
        (tmp_path / "tf2npu").mkdir()
        (tmp_path / "tf2npu/module.py").write_text(source)
        (tmp_path / "dead_code.toml").write_text(f'[decorators]\n"@rule*" = "found by walking"\n[folders]\n[names]\n{names}')
        return dead_code.main(), capsys.readouterr().out

    return check


def test_what_nothing_uses_is_named_with_its_place(checked):
    code, said = checked("def lonely():\n    return 1\n")
    assert code == 1 and "tf2npu/module.py:1: unused function lonely" in said


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def used():\n    return 1\n\nprint(used())\n", ""),
        ("@rule(id=1)\ndef found():\n    return 1\n", ""),
        ("def lonely():\n    return 1\n", 'lonely = "another program calls it"'),
    ],
    ids=["used", "decorated", "excepted"],
)
def test_what_is_used_or_excepted_is_not(checked, source, names):
    assert checked(source, names) == (0, "")


def test_an_exception_that_nothing_needs_is_named(checked):
    code, said = checked("print(1)\n", 'gone = "another program calls it"')
    assert code == 1 and "gone is used, or gone" in said
