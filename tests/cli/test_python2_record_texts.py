"""Values of records: bytes to Python 3, text to Python 2."""

from __future__ import annotations

import pytest

from tests.cli.test_convert import file_in, report_of
from tf2npu.python2.record_texts import texts_of_records

pytestmark = pytest.mark.each_python
VALUE = "e.features.feature['a'].bytes_list.value[0]"


@pytest.mark.parametrize(
    "code",
    [
        f"words = {VALUE}.split()", f"a = {VALUE}\nb = a.split(' ')", f"a = {VALUE}\nuse(a)", f"use({VALUE})",
        f"a = {VALUE} + 'x'", f"a = {VALUE}\nn = len(a)\nb = a", f"def f():\n    a = {VALUE}\n    return a",
    ],
)  # fmt: skip
def test_values_that_may_be_meant_as_text_are_told(code: str) -> None:
    assert texts_of_records(code)


@pytest.mark.parametrize(
    "code",
    [
        f"a = {VALUE}.decode()", f"a = np.frombuffer({VALUE}, dtype=np.uint8)",
        f"a = {VALUE}\nb = np.fromstring(a, np.uint8)\nlen(a)", f"{VALUE} = b'x'",
        "e.features.feature['a'].bytes_list.value.append(x)",
        "n = e.features.feature['a'].int64_list.value[0]",
    ],
)  # fmt: skip
def test_values_that_are_used_as_bytes_need_no_word(code: str) -> None:
    assert not texts_of_records(code)


def test_they_are_told_in_sources_of_python_2_alone(tool, tmp_path):
    root = tmp_path / "src"
    root.mkdir()
    (root / "old.py").write_text(f"import tensorflow as tf\nprint 'x'\nwords = {VALUE}.split()\n")
    done = tool("convert", root, tmp_path / "out", "--python2")
    said = [f for f in file_in(report_of(tmp_path / "out" / "tf2npu-report"), "old.py")["findings"] if f["level"] == "manual"]
    assert [(f["rule"], f["line"]) for f in said] == [("NPU010", 3)] and done.code == 1
    again = tool("convert", tmp_path / "out", tmp_path / "again", "--python2")
    assert again.code == 0
