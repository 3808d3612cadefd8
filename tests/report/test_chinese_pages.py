"""The pages of a Chinese report in real Chromium: what a reader sees is Chinese, but for names, ids and what the user wrote."""

from __future__ import annotations

import json
import re
import unittest
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.report import made_project
from tests.report.browser import Browser
from tf2npu import convert_source
from tf2npu.report import writer
from tf2npu.report.model.build import build

SOURCE = """\
import tensorflow as tf
import horovod.tensorflow as hvd
s = tf.Session(**k)
d = tf.data.Dataset.range(10).padded_batch(3, [None])
q = tf.train.batch([a], 8, 4)
y = tf.boolean_mask(x, m)
i = tf.setdiff1d(a, b)
for i in range(3):
    s.run(tf.assign(v, i))
z = tf.placeholder(tf.float64)
"""
SEEN = """
(() => {
  const skipped = "script, style, code, pre, .code, .path, table.diff td, .note .walk, .name, [lang=en]";
  for (const details of document.querySelectorAll("details")) details.open = true;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [document.title];
  while (walker.nextNode()) {
    const above = walker.currentNode.parentElement;
    const text = walker.currentNode.data.trim();
    if (text && !above.closest(skipped)) found.push(text);
  }
  for (const name of ["aria-label", "placeholder", "title", "alt"])
    for (const element of document.querySelectorAll(`[${name}]:not(.command button)`)) found.push(element.getAttribute(name));
  return JSON.stringify(found);
})()
"""
NAMES = re.compile(
    r"\b(?:tf2npu|tensorflow|horovod|keras|numpy|np|tf|hvd|npu\w*|NPU\d*|GPU|CPU|TPU|API|APIs|AI|XLA|CUDA|NVIDIA|HCCL|Ascend|SARIF|JSON|TOML"
    r"|TensorFlow|Horovod|Estimator|Python|Markdown|pyproject\.toml|epoch|batch|config|dtype|None|True|False|placeholder|initializer|reader|run|with|Esc|Enter|pkg|[Rr]ank)\b"
)
"""Names of products, formats, keys and parts of programs, which are the same in Chinese, and a folder of the report."""
IDENTIFIER = re.compile(
    r"[\w./\[\]()'\"=:*<>-]*[_.()=*\[\]/][\w./\[\]()'\"=:*<>-]*|\b[A-Z]\w*[A-Z]\w*\b|--?[\w-]+|\w*\d\w*|\w+:\d+"
)
WORD = re.compile(r"[A-Za-z]{3,}")


@pytest.fixture
def report(tmp_path: Path) -> Path:
    found = build([convert_source(SOURCE, "train.py"), convert_source("import tensorflow as tf\ns = tf.Session()\n", "pkg/m.py")])
    found.language = "zh"
    writer.write(found, tmp_path / "report", ["html"])
    return tmp_path / "report"


TRAIN = """\
import numpy as np
import tensorflow as tf
def double(v):
    return 2 * v
x = tf.placeholder(tf.float32, [None, 3])
w = tf.get_variable("w", [3, 2])
loss = tf.reduce_mean(tf.square(tf.matmul(x, w)), name="loss")
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
z = tf.py_func(double, [x], tf.float32)
text = tf.as_string(x)
wide = tf.cast(x, tf.float64) + 1.0
rows = tf.data.Dataset.range(12).batch(5).repeat().make_one_shot_iterator().get_next()
config = tf.ConfigProto()
sess = tf.Session(config=config)
sess.run(tf.global_variables_initializer())
for n in range(1, 8):
    sess.run([step, loss, tf.reduce_sum(rows)], {x: np.ones([n, 3])})
    sess.run([z, text, wide], {x: np.ones([n, 3])})
"""
FAILS = """\
import tensorflow as tf
def refuse(v):
    raise ValueError("没有这一行")
x = tf.placeholder(tf.float32, [2])
y = tf.py_func(refuse, [x], tf.float32)
with tf.Session() as sess:
    sess.run(y, {x: [1.0, 2.0]})
"""
PLAIN = """\
# tf2npu: ignore-file
import tensorflow as tf
with tf.Session() as sess:
    print(sess.run(tf.constant(1.0)))
"""
OPTIONS = ("--option", "precision_mode=force_fp16", "--option", "enable_scope_fusion_passes=x")
RANKS = [
    {
        "rank": rank, "steps": 12, "step_seconds": 0.25, "collective_seconds": 1.5, "times_last": 7, "seconds_awaited": 0.75,
        "scalars": [{"name": "a/loss:0", "first": "2.5", "last": "1.5", "points": [[1, "2.5"], [12, "1.5"]]}],
    }
    for rank in range(2)
]  # fmt: skip
CHECKED = {
    "script": "train.py", "steps": 3, "is_stale": True, "modes": [
        {"mode": "must_keep_origin_dtype", "verdict": "agrees", "cause": "", "first_difference": None, "least_change": []},
        {
            "mode": "allow_mix_precision", "verdict": "differs", "cause": "precision",
            "first_difference": {"node": "a/scores", "op": "MatMul", "place": "model.py:88"},
            "least_change": ["a/scores", "a/exp", "a/sum", "a/mean"],
        },
        *({"mode": mode, "verdict": verdict, "cause": "", "first_difference": None, "least_change": []}
          for mode, verdict in (("force_fp16", "failed"), ("force_fp32", "not run"))),
    ],
}  # fmt: skip
NOTES = [
    "precision: the types of the graph, as TensorFlow computes; the chip's own mode is allow_fp32_to_fp16 "
    "(--option device_defaults=on)",
    "overflow: results of 2 nodes were too large for 16 bits, first of a/b (1 time); steps of a loss-scale optimizer are skipped "
    "then, others go on with such numbers",
]
"""Lines of runs of other options, as the runtime writes them."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with three real runs, beside which stand ranks, a check and lines of other runs."""
    if find_spec("tensorflow") is None:
        raise unittest.SkipTest("TensorFlow is not installed, with which the scripts are run")
    place = tmp_path_factory.mktemp("runs")
    (place / "src").mkdir()
    for name, text in {"train.py": TRAIN, "fails.py": FAILS, "plain.py": PLAIN}.items():
        (place / "src" / name).write_text(text, encoding="utf-8")
    with made_project.own_folders(place):
        assert made_project.tf2npu("convert", place / "src", place / "out") == 1
    made_project.run_script(place / "out", "fails.py", code=1)
    made_project.run_script(place / "out", "plain.py")
    made_project.run_script(place / "out", "train.py", *OPTIONS)
    report = place / "out" / "tf2npu-report" / "report.json"
    document: dict[str, Any] = json.loads(report.read_text())
    document["run"] |= {"ranks": RANKS, "changed_files": ["train.py"], "uncounted_nodes": 3}
    document["run"]["precision"] += NOTES
    document["check"] = CHECKED
    report.write_text(json.dumps(document))
    return report


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    driven = Browser(tmp_path / "profile")
    yield driven
    driven.close()


def test_no_english_is_seen_on_a_chinese_page(report: Path, browser: Browser) -> None:
    names = {path.relative_to(report).as_posix() for path in report.rglob("*.html")}
    assert {"index.html", "decisions.html", "findings.html", "files.html", "apis.html", "rules.html"} <= names
    assert english_on(report, browser) == {}


@pytest.mark.whole
def test_no_english_is_seen_on_the_pages_of_runs(runs: Path, browser: Browser, tmp_path: Path) -> None:
    assert made_project.tf2npu("report", runs, "--lang", "zh", "--format", "html", "--report", tmp_path / "zh") == 0
    assert {"runs.html", "run-2.html", "run-3.html", "scripts.html"} <= {path.name for path in (tmp_path / "zh").iterdir()}
    assert english_on(tmp_path / "zh", browser) == {}
    browser.open((tmp_path / "zh" / "runs.html").as_uri())
    sections = json.loads(browser.ask("JSON.stringify([...document.querySelectorAll('main section')].map((e) => e.id))"))
    expected = {"findings", "speed", "timeline", "host", "shapes", "sessions", "precision", "options", "ranks", "check", "work"}
    assert expected <= set(sections)


@pytest.mark.whole
def test_no_english_is_seen_where_two_reports_are_compared(runs: Path, browser: Browser, tmp_path: Path) -> None:
    document = json.loads(runs.read_text())
    half = document | {"files": [file for file in document["files"] if file["path"] != "fails.py"]}
    (tmp_path / "half.json").write_text(json.dumps(half))
    for number, pair in enumerate([(runs, tmp_path / "half.json"), (tmp_path / "half.json", runs)]):
        words = ["report", "--compare", *pair, "--lang", "zh", "--format", "html", "--report", tmp_path / "zh" / str(number)]
        assert made_project.tf2npu(*words) == 0
    assert english_on(tmp_path / "zh", browser) == {}


def english_on(folder_of_pages: Path, browser: Browser) -> dict[str, list[str]]:
    """By page the texts with a Latin word that is no name."""
    seen: dict[str, list[str]] = {}
    for path in sorted(folder_of_pages.rglob("*.html")):
        browser.open(path.as_uri())
        texts = json.loads(browser.ask(SEEN))
        assert len(texts) > 15, path.name
        found = [text for text in texts if WORD.search(NAMES.sub("", IDENTIFIER.sub("", text)))]
        if found:
            seen[path.relative_to(folder_of_pages).as_posix()] = found
        assert browser.complaints() == []
    return seen
