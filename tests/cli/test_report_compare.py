"""`tf2npu report --compare`: exit codes, files, and refusals of one line that write nothing."""

from __future__ import annotations

import json
import os
import shutil

import pytest

TF = "import tensorflow as tf\n"
ONE, TWO = (f"q = tf.py_func({name}, [x], tf.float32)\n" for name in "fg")


@pytest.fixture
def reports(tool, tmp_path):
    """Two report.json of one project: the later has one finding less, one more, and one that moved."""
    source = tmp_path / "src"
    source.mkdir()
    files = []
    for name, text in (("old", TF + ONE + TWO), ("new", TF + "\n" + ONE + TWO.replace("g", "h"))):
        (source / "train.py").write_text(text)
        tool("scan", source, "--report", tmp_path / name)
        files.append(tmp_path / name / "report.json")
    return files


def test_numbers_and_exit_codes(tool, reports):
    done = tool("report", "--compare", *reports)
    assert done.code == 0 and done.out.startswith("1 closed, 1 new, 1 moved, 0 as before: 2 findings are left to do.\n")
    assert tool("report", "--compare", *reports, "--fail-on", "new").code == 1
    assert tool("report", "--compare", reports[0], reports[0], "--fail-on", "new").code == 0
    data = json.loads(tool("report", "--compare", *reports, "--format", "json", "--lang", "zh").out)
    assert data["counts"] == {"new": 1, "closed": 1, "moved": 1, "stayed": 0, "left": 2}
    assert data["new"][0]["message"].isascii(), "JSON is English in every language"


def test_files_are_written_whole_and_the_same_again(tool, reports, tmp_path):
    words = ("report", "--compare", *reports, "--format", "md,json,text", "--report", tmp_path / "out")
    assert tool(*words).code == 0
    first = {path.name: path.read_bytes() for path in sorted((tmp_path / "out").iterdir())}
    assert {"compare.md", "compare.json", "compare.txt"} <= first.keys()
    assert tool(*words).code == 0
    assert {path.name: path.read_bytes() for path in sorted((tmp_path / "out").iterdir())} == first


def test_a_file_of_somebody_elses_stays(tool, reports, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "compare.md").write_text("mine")
    done = tool("report", "--compare", *reports, "--format", "md", "--report", tmp_path / "out")
    assert done.code == 2 and "not written by tf2npu" in done.err and done.err.count("\n") == 1
    assert os.listdir(tmp_path / "out") == ["compare.md"] and (tmp_path / "out" / "compare.md").read_text() == "mine"


DAMAGED = {
    "empty": b"", "cut": b'{"schema_version": "1.1", "tool"', "foreign": b'{"results": []}', "text": b"\xff\xfe\x00",
    "deep": b"[" * 100_000, "newer": b'{"schema_version": "2.0", "tool": {"name": "tf2npu", "version": "9"}}',
}  # fmt: skip


@pytest.mark.whole(beyond=4)
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("name", [*DAMAGED, "missing"])
def test_what_is_no_report_is_refused_in_one_line(tool, reports, tmp_path, name, which):
    bad = tmp_path / "bad.json"
    if name != "missing":
        bad.write_bytes(DAMAGED[name])
    both = [bad, reports[1]] if which == 0 else [reports[0], bad]
    done = tool("report", "--compare", *both, "--format", "html,json", "--report", tmp_path / "out")
    assert done.code == 2 and done.out == "" and done.err.count("\n") == 1 and "bad.json" in done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("report",), ("report", "x.json", "--fail-on", "new"), ("report", "x.json", "--compare", "a", "b"),
        ("report", "--compare", "a", "b", "--prefix", "p"), ("report", "--compare", "a", "b", "--format", "sarif"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(tool, words):
    done = tool(*words)
    assert done.code == 2 and done.out == ""


def test_a_folder_stands_for_the_report_in_it(tool, reports, tmp_path):
    """Of a report, and of what a conversion has written, which has its report in a folder of its own."""
    old, new = reports
    for path in (tmp_path / "folder" / "report.json", tmp_path / "out" / "tf2npu-report" / "report.json"):
        path.parent.mkdir(parents=True)
        shutil.copy(new, path)
    by_file = tool("report", "--compare", old, new)
    assert tool("report", "--compare", old, tmp_path / "folder").out == by_file.out
    assert tool("report", "--compare", old, tmp_path / "out").out == by_file.out
    assert tool("report", tmp_path / "folder", "--format", "md").out == tool("report", new, "--format", "md").out
    empty = tmp_path / "empty"
    empty.mkdir()
    assert f"{empty / 'report.json'}" in tool("report", empty).err
