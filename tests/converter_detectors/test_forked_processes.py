"""Processes that are started while a session is open, seen in the blocks around them."""

from __future__ import annotations

import pytest

from tf2npu.engine.convert_file import convert_source

HEAD = (
    "import multiprocessing, concurrent.futures, joblib, os\nfrom multiprocessing import Pool, Process\nimport tensorflow as tf\n"
)


def lines(code: str) -> list[int]:
    return [f.span.line - 3 for f in convert_source(HEAD + code, "m.py").findings if f.rule == "NPU952"]


@pytest.mark.parametrize(
    "start",
    [
        "multiprocessing.Pool(2)",
        "Pool()",
        "Process(target=f)",
        "multiprocessing.Manager()",
        "concurrent.futures.ProcessPoolExecutor()",
        "joblib.Parallel(2, backend='multiprocessing')",
        "joblib.Parallel(2, 'multiprocessing')",
        "os.fork()",
    ],
)
@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("with tf.Session() as s:\n    s.run(x)\n    p = {}\n", 3),
        ("with tf.Graph().as_default(), tf.Session() as s:\n    if a:\n        p = {}\n", 3),
        ("def f():\n    s = tf.Session()\n    for i in r:\n        p = {}\n    s.close()\n", 4),
        ("with tf.Session().as_default():\n    p = {}\n", 2),
        ("with tf.train.MonitoredTrainingSession() as s:\n    p = {}\n", 2),
        ("s = tf.InteractiveSession()\nif __name__ == '__main__':\n    p = {}\n", 3),
    ],
)
def test_it_is_told_inside_an_open_session(code: str, line: int, start: str) -> None:
    assert lines(code.format(start)) == [line]


@pytest.mark.parametrize(
    "code",
    [
        "p = Pool()\nwith tf.Session() as s:\n    p.map(f, s.run(x))\n",
        "with tf.Session() as s:\n    s.run(x)\np = Pool()\n",
        "s = tf.Session()\ns.run(x)\ns.close()\np = Pool()\n",
        "with tf.Session() as s:\n    def f():\n        return Pool()\n",
        "with tf.Session() as s:\n    p = multiprocessing.dummy.Pool()\n",
        "with tf.Session() as s:\n    p = concurrent.futures.ThreadPoolExecutor()\n",
        "with tf.Session() as s:\n    joblib.Parallel(2)(jobs)\n",
        "with tf.Session() as s:\n    joblib.Parallel(2, backend='threading')(jobs)\n",
        "with tf.Session() as s:\n    with concurrent.futures.ProcessPoolExecutor(mp_context=c) as p:\n        pass\n",
        "multiprocessing.set_start_method('spawn')\nwith tf.Session() as s:\n    p = Pool()\n",
        "with tf.Session() as s:\n    p = multiprocessing.get_context('forkserver').Pool()\n",
        "with open(f) as s:\n    p = Pool()\n",
    ],
)
def test_it_is_not_told_where_nothing_is_forked_or_open(code: str) -> None:
    assert lines(code) == []
