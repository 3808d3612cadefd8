"""The exit code is a promise (docs/report.md): 0 where the result is ready to run, on the simulated device and on a host."""

from __future__ import annotations

import pytest

HEAD = "import numpy as np\nimport tensorflow as tf\n"
RUN = "with tf.Session() as sess:\n    sess.run(tf.zeros([1]))\n"


@pytest.mark.whole(beyond=6)
@pytest.mark.parametrize(
    ("code", "is_ready"),
    [
        (RUN, True),
        (f"x = np.float(3)\n{RUN}", True),
        (f"import scipy.misc\nx = scipy.misc.imresize(y, 50)\n{RUN}", True),
        (f"import yaml\nx = yaml.load(open('a'))\n{RUN}", True),
        (f"import time\nfrom collections import Iterable\nx = time.clock()\n{RUN}", True),
        (f"x = np.array(list(zip(a, b)))\n{RUN}", True),
        ("class M(object):\n    def __init__(self):\n        self.sess = tf.Session()\n    def f(self, x):\n"
         "        return self.sess.run(x)\n", True),
        ("def f(**kw):\n    with tf.Session(**kw) as sess:\n        sess.run(x)\n", True),
        (f"def f(place):\n    with tf.device(place):\n        return tf.zeros([1])\n{RUN}", True),
        (f"def f(b):\n    return tf.train.batch([b], 8)\n{RUN}", True),
        (f"x = tf.contrib.rnn.GridLSTMCell(3)\n{RUN}", False),
        (f"e = tf.estimator.BoostedTreesClassifier(columns, 1)\n{RUN}", False),
        (f"from scipy.misc import face\n{RUN}", False),
        (f"import cPickle\n{RUN}", False),
        (f"x = np.rank(y)\n{RUN}", False),
        (f"for i in xrange(3):\n    print(i)\n{RUN}", False),
        (f"x = tf.batch_matmul(a, b, True, False, None)\n{RUN}", False),
        (f"r = tf.TFRecordReader()\n{RUN}", False),
        (f"b = tf.train.batch([x], 8, num_threads=4)\n{RUN}", True),
        (f"b = tf.train.batch_join([[x]], 8)\n{RUN}", False),
        (f"import cupy\n{RUN}", False),
        ("import npu_device\nnpu_device.open().as_default()\n", False),
    ],
)  # fmt: skip
def test_the_exit_code_is_0_where_the_result_runs_and_only_there(tool, tmp_path, code: str, is_ready: bool) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text(HEAD + code, encoding="utf-8")
    done = tool("convert", tmp_path / "src", tmp_path / "out", "--no-cache")
    assert done.code == (0 if is_ready else 1), done.out


@pytest.mark.parametrize("name", ["tf.contrib.rnn.GridLSTMCell", "tf.estimator.BoostedTreesClassifier"])
def test_the_first_line_names_what_ends_a_simulated_run(tool, tmp_path, name: str) -> None:
    (tmp_path / "net.py").write_text(f"{HEAD}\n\nx = {name}(3)\n", encoding="utf-8")
    done = tool("scan", tmp_path / "net.py", "--no-cache", "--report", tmp_path / "report")
    assert f"A simulated run ends at {name} (net.py:5)." in done.out.splitlines()[0]


def test_the_first_line_names_three_of_them_and_says_how_many_more_there_are(tool, tmp_path) -> None:
    names = ("rnn.GridLSTMCell", "rnn.TimeFreqLSTMCell", "batching", "bigtable", "copy_graph")
    (tmp_path / "net.py").write_text("".join([HEAD, *(f"c = tf.contrib.{name}\n" for name in names)]), encoding="utf-8")
    done = tool("scan", tmp_path / "net.py", "--no-cache", "--report", tmp_path / "report", "--ignore", "NPU970")
    first = done.out.splitlines()[0]
    assert first.count("tf.contrib.") == 3 and first.endswith("and 2 more.")
