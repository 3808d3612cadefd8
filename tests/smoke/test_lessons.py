"""The error that ends an attempt tells what the lines of a text are to hold: Python and numpy wrote the messages."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tf2npu.launch.smoke_lessons import learn

_FORM = {"delimiter": " ", "n_columns": 10, "names": [], "labels": [], "has_numbers": True, "lists": {}}


def _error(text: str, folder: Path) -> str:
    """The traceback that Python prints of a script that fails."""
    (folder / "train.py").write_text(textwrap.dedent(text))
    run = subprocess.run([sys.executable, "train.py"], cwd=folder, capture_output=True, text=True, check=False)
    return run.stderr.replace(f"{folder}/", "")


@pytest.mark.parametrize(
    ("script", "form", "taught"),
    [
        ("for user, item, rating in [range(10)]: pass", {}, {"n_columns": 3, "is_table": True}),
        ("a, b, c, d = '1 0'.split(' ')", {"n_columns": 2}, {"n_columns": 4, "is_table": True, "delimiter": " "}),
        ("x = '1 0'.split('|')[2]", {"n_columns": 2}, {"n_columns": 3, "is_table": True, "delimiter": "|"}),
        ("float('the')", {"has_numbers": False}, {"has_numbers": True, "is_table": True}),
        ("[int(one) for one in '1,0,1'.split('|')]", {"delimiter": ","}, {"delimiter": "|"}),
        ("row = 1\nrow['words'].split(',')", {"names": ["words"]}, None),
        ("{}['Black_Hair']", {}, {"names": ["Black_Hair", "Male"], "n_columns": 10, "n_heads": 2}),
        ("import numpy\nnumpy.zeros(20000).reshape(2000, )", {}, {"n_columns": 1, "is_table": True}),
        ("import numpy\nnumpy.vstack([numpy.zeros([4, 10]), [[0.0] * 30]])", {}, {"n_columns": 30, "is_table": True}),
        ("import numpy\nnumpy.zeros([4, 10])[:, 12]", {}, {"n_columns": 13, "is_table": True}),
    ],
)  # fmt: skip
def test_an_error_teaches_the_form_of_the_text_that_was_read_last(script, form, taught, tmp_path):
    (tmp_path / "options.py").write_text("wanted = ['Black_Hair', 'Male']\n")
    lessons: dict[str, dict] = {}
    made = [["data/a.txt", {**_FORM, **form}, "train.py"]]
    assert learn(_error(script, tmp_path), made, lessons, tmp_path) is (taught is not None)
    assert lessons == ({"data/a.txt": taught} if taught else {})


def test_a_lesson_that_has_been_learnt_says_nothing_new(tmp_path):
    made = [["a.txt", {**_FORM, "n_columns": 3, "is_table": True}, "train.py"]]
    lessons: dict[str, dict] = {}
    assert not learn(_error("a, b, c = range(9)", tmp_path), made, lessons, tmp_path) and not lessons


def test_a_text_of_the_file_that_fails_is_asked_before_a_later_one_of_another(tmp_path):
    made = [["a.txt", _FORM, "train.py"], ["b.txt", _FORM, "other.py"]]
    lessons: dict[str, dict] = {}
    assert learn(_error("a, b, c = range(9)", tmp_path), made, lessons, tmp_path) and list(lessons) == ["a.txt"]
