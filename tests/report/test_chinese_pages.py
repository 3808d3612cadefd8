"""The pages of a Chinese report in real Chromium: what a reader sees is Chinese, but for names, ids and what the user wrote."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.report.browser import Browser
from tf2npu import convert_source
from tf2npu.report import folder
from tf2npu.report.build import build

pytestmark = pytest.mark.one_python

SOURCE = """\
import tensorflow as tf
import horovod.tensorflow as hvd
s = tf.Session(**k)
d = tf.data.Dataset.range(10).padded_batch(3, [None])
q = tf.train.batch([a], 8, 4)
y = tf.boolean_mask(x, m)
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
    for (const element of document.querySelectorAll(`[${name}]`)) found.push(element.getAttribute(name));
  return JSON.stringify(found);
})()
"""
NAMES = re.compile(
    r"\b(?:tf2npu|tensorflow|horovod|keras|numpy|np|tf|hvd|npu\w*|NPU\d*|GPU|CPU|TPU|API|APIs|AI|XLA|CUDA|NVIDIA|HCCL|Ascend|SARIF|JSON|TOML"
    r"|TensorFlow|Horovod|Estimator|Python|Markdown|pyproject\.toml|epoch|rank|batch|config|dtype|None|True|False|placeholder|reader|run|with|Esc|Enter|pkg)\b"
)
"""Names of products, formats, keys and parts of programs, which are the same in Chinese, and a folder of the report."""
IDENTIFIER = re.compile(r"[\w./\[\]()'\"=:*<>-]*[_.()=*\[\]/][\w./\[\]()'\"=:*<>-]*|\b[A-Z]\w*[A-Z]\w*\b|--?[\w-]+|\w*\d\w*")
WORD = re.compile(r"[A-Za-z]{3,}")


@pytest.fixture
def report(tmp_path: Path) -> Path:
    found = build([convert_source(SOURCE, "train.py"), convert_source("import tensorflow as tf\ns = tf.Session()\n", "pkg/m.py")])
    found.language = "zh"
    folder.write(found, tmp_path / "report", ["html"])
    return tmp_path / "report"


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    driven = Browser(tmp_path / "profile")
    yield driven
    driven.close()


def test_no_english_is_seen_on_a_chinese_page(report: Path, browser: Browser) -> None:
    names = sorted(path.relative_to(report).as_posix() for path in report.rglob("*.html"))
    assert {"index.html", "decisions.html", "findings.html", "files.html", "apis.html", "rules.html"} <= set(names)
    seen: dict[str, list[str]] = {}
    for name in names:
        browser.open((report / name).as_uri())
        texts = json.loads(browser.ask(SEEN))
        assert len(texts) > 20, name
        seen[name] = [text for text in texts if WORD.search(NAMES.sub("", IDENTIFIER.sub("", text)))]
        assert browser.complaints() == []
    assert {name: texts for name, texts in seen.items() if texts} == {}
