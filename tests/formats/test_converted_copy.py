"""Lines of a converted copy are those of the user's file that they were made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from npu_formats.converted_copy import users_line, users_text, variable
from npu_formats.environment import TF2NPU_CONVERTED

BEFORE = "import a\nx = 1\ny = f(x)\nz = 2\n"
AFTER = "import a\nimport added\nimport more\nx = 1\ny = g(\n    x)\nz = 2\n"


@pytest.fixture
def folders(tmp_path: Path, monkeypatch) -> tuple[Path, Path]:
    root, copy = tmp_path / "mine", tmp_path / "copy"
    for folder, text in ((root, BEFORE), (copy, AFTER)):
        (folder / "inner").mkdir(parents=True)
        (folder / "inner" / "train.py").write_text(text)
    monkeypatch.setenv(TF2NPU_CONVERTED, variable(copy, root))
    return root, copy


@pytest.mark.parametrize(("line", "before"), [(1, 1), (2, 1), (3, 1), (4, 2), (5, 3), (6, 3), (7, 4), (99, 99)])
def test_a_line_of_the_copy_is_one_of_the_users(folders, line, before):
    root, copy = folders
    assert users_line(str(copy / "inner" / "train.py"), line) == f"{root / 'inner' / 'train.py'}:{before}"


def test_other_files_stay_as_they_are(folders, monkeypatch):
    root, copy = folders
    for file in (str(root / "inner" / "train.py"), str(copy / "gone.py"), "<string>"):
        assert users_line(file, 3) == f"{file}:3"
    monkeypatch.delenv(TF2NPU_CONVERTED)
    assert users_line(str(copy / "inner" / "train.py"), 3) == f"{copy / 'inner' / 'train.py'}:3"


def test_places_in_a_text_are_those_of_the_users_files(folders, monkeypatch):
    root, copy = folders
    told = """Traceback (most recent call last):
  File "{0}/inner/train.py", line {1}, in main
  File "/lib/other.py", line 5, in run
ValueError: defined at {0}/inner/train.py:{1}), see {0}/inner"""
    assert users_text(told.format(copy, 7)) == told.format(root, 4)
    assert users_text(told.format("/elsewhere", 7)) == told.format("/elsewhere", 7)
    monkeypatch.delenv(TF2NPU_CONVERTED)
    assert users_text(told.format(copy, 7)) == told.format(copy, 7)
