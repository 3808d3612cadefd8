"""The history of a folder through the command: the same input is no news, a change is."""

from __future__ import annotations

import json


def folder(path) -> dict[str, bytes]:
    return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}


def test_conversions_of_one_folder(tool, tmp_path):
    src, out = tmp_path / "src", tmp_path / "out"
    src.mkdir()
    lines = [f"q{name} = tf.py_func({name}, [x], tf.float32)\n" for name in "abc"]
    (src / "train.py").write_text("import tensorflow as tf\n" + "".join(lines))
    tool("convert", src, out)
    first = folder(out)
    tool("convert", src, out)
    assert folder(out) == first, "the same input gives the same bytes"
    (src / "train.py").write_text("import tensorflow as tf\n" + lines[0])
    tool("convert", src, out)
    report = json.loads((out / "tf2npu-report" / "report.json").read_text())
    assert [entry["places"] for entry in report["history"]] == [3, 1]
    page = (out / "tf2npu-report" / "index.html").read_bytes()
    assert b"<polyline" in page
    tool("report", out / "tf2npu-report" / "report.json", "--format", "html", "--report", tmp_path / "again")
    assert (tmp_path / "again" / "index.html").read_bytes() == page
