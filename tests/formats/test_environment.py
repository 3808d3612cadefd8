"""Every variable that begins with TF2NPU_ stands in one table, and the code takes its name from there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import npu_formats.environment
from npu_formats.environment import PREFIX, VARIABLES

ROOT = Path(__file__).parents[2]
SOURCES = [path for package in ("tf2npu", "npu_runtime", "npu_formats") for path in sorted((ROOT / package).rglob("*.py"))]
OF_THE_USER = [variable for variable in VARIABLES if "user" in variable.writer]


def test_a_name_is_written_in_the_table_alone():
    written = [path.relative_to(ROOT).as_posix() for path in SOURCES if re.search(rf"[\"']{PREFIX}\w*[\"']", path.read_text())]
    assert written == ["npu_formats/environment.py"]


def test_each_is_described_once_by_the_name_that_it_has():
    names = [variable.name for variable in VARIABLES]
    assert names == sorted(set(names)) == sorted(name for name in vars(npu_formats.environment) if name.startswith(PREFIX))
    assert all(getattr(npu_formats.environment, name) == name for name in names)


@pytest.mark.parametrize("variable", VARIABLES, ids=lambda variable: variable.name)
def test_each_is_read_by_whom_the_table_says(variable):
    packages = {"npu_bridge": ROOT / "tf2npu/npu_bridge", "npu_runtime": ROOT / "npu_runtime"}
    folder = packages.get(variable.reader, ROOT / "tf2npu")
    assert [path for path in SOURCES if path.is_relative_to(folder) and re.search(rf"\b{variable.name}\b", path.read_text())]


@pytest.mark.parametrize("variable", OF_THE_USER, ids=lambda variable: variable.name)
def test_what_a_user_sets_is_documented(variable):
    assert any(variable.name in page.read_text() for page in sorted((ROOT / "docs").glob("*.md")))
