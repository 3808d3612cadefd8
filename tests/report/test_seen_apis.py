"""The list of APIs says in which runs each was seen, and where its nodes ran; runs know lines, and references stand on lines."""

from __future__ import annotations

import re

from tests.report.samples import result
from tests.report.test_json import RUN
from tf2npu.report.html import as_html
from tf2npu.report.languages.language import catalogue
from tf2npu.report.model.build import build
from tf2npu.report.runs.seen_apis import SeenApis
from tf2npu.runs.api_use import api_lines

SOURCE = b"""import tensorflow as tf
from tensorflow import layers as tl
from mine import graph as g
def model(x):
    y = tf.concat(
        [tf.abs(x),
         tl.dense(x, 3)], axis=1)
    return tf.cast(y, tf.float32)
with tf.Session() as sess:
    sess.run(g.sqrt(2.0))
z = tf.zeros([2])
"""
MINE = b"import tensorflow as graph\n"
SEEN = ["train.py:5", "train.py:8", "train.py:10", "other.py:1", "train.py:", ""]
STATEMENTS = {"train.py": [(1, 1), (4, 4), (5, 7), (8, 8), (9, 9), (10, 10), (11, 11)]}


def by_line(sources: dict[str, bytes]) -> dict[str, list[str]]:
    return {entry["place"]: entry["apis"] for entry in api_lines(sources, STATEMENTS, SEEN)}


def test_the_apis_of_a_statement_are_named_by_their_lines_and_resolved_across_files():
    assert by_line({"train.py": SOURCE, "mine.py": MINE}) == {
        "train.py:5": ["tensorflow.concat"],
        "train.py:6": ["tensorflow.abs"],
        "train.py:7": ["tensorflow.layers.dense"],
        "train.py:8": ["tensorflow.cast"],  # a type makes no node
        "train.py:10": ["tensorflow.Session.run", "tensorflow.sqrt"],
    }


def test_a_file_that_cannot_be_parsed_has_no_apis():
    assert by_line({"train.py": b"import tensorflow as tf\nprint 'x'\n"}) == {}
    assert by_line({"train.py": b"\xff\xfe\x00"}) == {}
    assert by_line({"train.py": b"x = " + b"(" * 5_000 + b")" * 5_000}) == {}
    assert by_line({}) == {}


def run(script: str = "out/train.py", **more: object) -> dict:
    """A run of a file in which py_func and cast share a statement of two lines."""
    return {
        "script": script,
        "reached_files": [{"path": "train.py", "reached": [[3, 3], [35, 36], [37, 37]], "not_reached": []}],
        "device_lines": [{"path": "train.py", "line": 35, "count": 3}],
        "host_lines": [
            {"at": {"path": "train.py", "line": 36}, "count": 1},
            {"at": {"path": "train.py", "line": 36}, "count": 4},
            {"at": None, "count": 9},
        ],
        "session_lines": [{"path": "train.py", "line": 37, "ran_on": "TensorFlow", "is_left_open": False}],
        "api_lines": [
            {"path": "train.py", "line": 35, "apis": ["tensorflow.cast", "tensorflow.float32"]},
            {"path": "train.py", "line": 36, "apis": ["tensorflow.cast", "tensorflow.py_func"]},
            {"path": "train.py", "line": 37, "apis": ["tensorflow.Session", "tensorflow.ConfigProto"]},
        ],
        **more,
    }


def seen(runs: list[dict], api: str, language: str = "en") -> str:
    return SeenApis(runs).of(api, catalogue(language))


def test_nodes_of_an_api_are_counted_where_they_ran():
    assert seen([run()], "tensorflow.py_func") == "`out/train.py`: 5 nodes ran on the host"
    assert seen([run()], "tensorflow.cast") == "`out/train.py`: 3 nodes ran on the device, 5 nodes ran on the host"
    assert seen([run()], "tensorflow.Session") == "`out/train.py`: 1 session ran on TensorFlow"
    assert seen([run()], "tensorflow.ConfigProto") == "" == seen([run()], "tensorflow.sqrt")
    assert seen([run()], "tensorflow.py_func", "zh") == "`out/train.py`: 5 个节点 在主机上运行"


def test_several_runs_stand_beside_each_other_and_one_of_a_changed_file_says_nothing():
    other = run("out/eval.py", device_lines=[], host_lines=[])
    stale = run("out/old.py", changed_files=["train.py"])
    third = run("out/third.py")
    told = seen([run(), other, stale, third], "tensorflow.py_func")
    assert told == "`out/train.py`: 5 nodes ran on the host; `out/third.py`: 5 nodes ran on the host"


def rows_of(report) -> dict[str, list[str]]:
    page = dict(as_html.Pages(report).texts())["apis.html"]
    heads = re.findall(r"<th scope=\"col\"[^>]*>([^<]*)</th>", page)
    rows = re.findall(r"<tr data-row.*?</tr>", page, re.DOTALL)
    cells = [[re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)] for row in rows]
    assert all(len(row) == len(heads) for row in cells)
    return {row[0]: row for row in cells} | {"": heads}


def test_the_list_has_a_column_of_what_was_seen_once_something_was_run():
    report = build([result()])
    assert "Seen in runs" not in rows_of(report)[""]
    hostile = "<script>a</script>.py"
    report.run = {**RUN, **run(hostile, host_lines=[])}
    rows = rows_of(report)
    assert rows[""][-1] == "Seen in runs"
    assert rows["tensorflow.Session"][-1] == "&lt;script&gt;a&lt;/script&gt;.py: 1 session ran on TensorFlow"
    assert rows["tensorflow.x"][-1] == ""
