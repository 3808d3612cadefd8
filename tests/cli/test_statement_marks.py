"""Marks in the code of a file: the statements that a run came to, and nothing else about the file that a script could see."""

from __future__ import annotations

import builtins
import importlib
import os
import sys
import traceback
from pathlib import Path

import pytest

from tf2npu.runs.coverage import StatementMarks

SOURCE = '''"""What it is."""
from __future__ import annotations
import os


def used(n: int) -> int:
    """Its text."""
    if n > 1:
        return n * (
            2)
    elif n == 1:
        return 1
    else:
        raise ValueError(
            "none")


class Kind:
    """A kind."""

    value = 3

    def never(self):
        return os.sep


total = used(2)
try:
    used(0)
    total += 1
except ValueError:
    total += 10
for number in ():
    total += 100
'''
REACHED = {2, 3, 6, 8, 9, 11, 14, 18, 21, 23, 27, 28, 29, 32, 33}
MISSED = {12, 24, 30, 34}


@pytest.fixture
def marks(tmp_path):
    """Marks of the files of a folder; the process is as before when the test is over."""
    root = os.path.realpath(tmp_path)
    made = StatementMarks(lambda file: os.path.relpath(file, root) if file.startswith(root + os.sep) else None)
    finders, modules = list(sys.meta_path), set(sys.modules)
    made.install()
    yield made
    sys.meta_path[:] = finders
    del builtins.__tf2npu_reached__
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def run(marks: StatementMarks, file: Path) -> dict:
    namespace: dict = {"__name__": "marked"}
    exec(marks.compiled(file.read_bytes(), str(file)), namespace)
    return namespace


def test_statements_that_were_begun_and_those_that_were_not(marks, tmp_path):
    (tmp_path / "one.py").write_text(SOURCE)
    namespace = run(marks, tmp_path / "one.py")
    assert namespace["total"] == 14 and namespace["__doc__"] == "What it is."
    assert namespace["used"].__doc__ == "Its text." and namespace["Kind"].__doc__ == "A kind."
    assert namespace["used"].__annotations__ == {"n": "int", "return": "int"}
    (told,) = marks.document()
    assert told["path"] == "one.py"
    assert {first for first, _ in told["reached"]} == REACHED - {2}, "an import from the future has no mark"
    assert {first for first, _ in told["not_reached"]} == MISSED
    assert [9, 10] in told["reached"] and [14, 15] in told["reached"]


def test_a_traceback_names_the_lines_of_the_file(marks, tmp_path):
    (tmp_path / "one.py").write_text(SOURCE)
    namespace = run(marks, tmp_path / "one.py")
    with pytest.raises(ValueError, match="none") as raised:
        namespace["used"](0)
    last = traceback.extract_tb(raised.value.__traceback__)[-1]
    assert (last.filename, last.lineno, last.line) == (str(tmp_path / "one.py"), 14, "raise ValueError(")


def test_modules_are_marked_when_they_are_imported_and_no_cache_keeps_their_code(marks, tmp_path, monkeypatch):
    (tmp_path / "marked_module.py").write_text("a = 1\nif a > 1:\n    b = 2\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert importlib.import_module("marked_module").a == 1
    assert marks.document() == [{"path": "marked_module.py", "reached": [[1, 1], [2, 2]], "not_reached": [[3, 3]]}]
    assert not list(tmp_path.rglob("*.pyc"))


@pytest.mark.parametrize("source", ["x = (\n", "x = '\0'\n", "def f(:\n"])
def test_what_python_refuses_is_refused_in_its_own_words(marks, tmp_path, source):
    (tmp_path / "one.py").write_text(source)
    with pytest.raises((SyntaxError, ValueError)) as plain:
        compile(source, "one.py", "exec")
    with pytest.raises(type(plain.value)) as marked:
        run(marks, tmp_path / "one.py")
    assert str(marked.value).replace(str(tmp_path) + os.sep, "") == str(plain.value)
    assert marks.document() == []


def test_files_of_others_have_no_marks(marks):
    assert marks.compiled(b"a = 1\n", "/elsewhere/one.py").co_names == ("a",)
    assert marks.document() == []
