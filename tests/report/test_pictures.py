"""Golden pictures: overview, decisions, a file and a run, light and dark, on a screen and on a telephone.

They lie in tests/fixtures/pictures, at half the size, and show the first screen and a little more of each page. A test that fails
writes what it saw, and the same with the differences in red, into build/report_pictures. If the page is as it should be, one
command writes the golden pictures again, and fails with the names of those that it wrote; look at them before you commit them:

    python -m pytest tests/report/test_pictures.py --regen

What is compared is the mean colour of areas of 16 by 16 pixels of the page, each of which may have moved by a line of text:
another word, count or drawing of letters passes, and another layout does not. Letters of another width wrap at other places, so
that the pictures hold where Chromium's letters are DejaVu, as on a Debian with nothing more.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.how_many import some
from tests.report.browser import playwright_chromium
from tests.report.test_json import RUN
from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import EntryScript
from tf2npu.report import writer
from tf2npu.report.model.build import build
from tf2npu.report.model.report import Report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "fixtures" / "pictures"
SEEN = ROOT / "build" / "report_pictures"
PAGES = {"overview": "index.html", "decisions": "decisions.html", "file": "files/net-train.py-*.html", "run": "runs.html"}
HEIGHTS = {1280: 1200, 390: 1400}
"""Width of the window -> pixels of a page that its picture shows, from the top."""
THEMES = ("light", "dark")
AGAIN = "run python -m pytest tests/report/test_pictures.py --regen"
TRAIN = '''"""Trains a small network on rows of a file."""
import numpy as np
import tensorflow as tf

from net import rows

FLAGS = tf.app.flags.FLAGS
tf.app.flags.DEFINE_integer("steps", 200, "Steps of training")


def logits_of(x):
    hidden = tf.layers.dense(x, 64, activation=tf.nn.relu)
    hidden = tf.layers.dropout(hidden, rate=0.4, training=True)
    return tf.layers.dense(hidden, 10)


def scaled(x):
    return np.clip(x / 255.0, 0.0, 1.0).astype(np.float32)


def main(_):
    x = tf.placeholder(tf.float32, [None, 784])
    labels = tf.placeholder(tf.int64, [None])
    clipped = tf.py_func(scaled, [x], tf.float32)
    clipped.set_shape([None, 784])
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits_of(clipped))
    scaler = tf.train.experimental.FixedLossScale(128.0)
    optimizer = tf.train.AdamOptimizer(1e-3)
    optimizer = tf.train.experimental.enable_mixed_precision_graph_rewrite(optimizer, scaler)
    train = optimizer.minimize(loss)
    config = tf.ConfigProto(allow_soft_placement=True)
    config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1
    with tf.Session(config=config) as sess, tf.device("/gpu:0"):
        sess.run(tf.global_variables_initializer())
        for step, batch in zip(range(FLAGS.steps), rows.batches("train.csv", 32)):
            _, value = sess.run([train, loss], {x: batch[0], labels: batch[1]})
            if np.isnan(value):
                raise ValueError("the loss is no number in step %d" % step)


if __name__ == "__main__":
    tf.app.run()
'''
ROWS = '''"""Rows of a file as batches."""
import tensorflow as tf


def batches(path, size):
    rows = tf.data.TextLineDataset(path).map(tf.strings.to_number)
    return rows.shuffle(1000).batch(size, drop_remainder=False)
'''
RAN: dict[str, Any] = {
    **RUN, "script": "net/train.py", "device_share": 0.9987, "steps": 200,
    "host_nodes": [{"reason": "Python of the script", "count": 2, "example": "PyFunc"}],
    "sessions": [{"name": "session 1", "runs": [{**RUN["sessions"][0]["runs"][0], "fetches": ["Adam", "loss:0"], "steps": 200}],
                  "place": "net/train.py:32"}],
    "shape_changes": [{"input": "Placeholder:0", "count": 7, "shapes": ["[32,784]", "[8,784]"], "places": ["net/train.py:35"]}],
    "precision": ["precision: the types of the graph, as TensorFlow computes"], "options_without_effect": [], "failure": None,
    "scalars": [{"name": "loss:0", "first": "2.5", "last": "0.25"}], "sessions_left_open": [], "sessions_on_tensorflow": [],
    "ranks": [], "work": [{"op": "MatMul", "operations": 3e6}, {"op": "others", "operations": 1e4}],
    "files": {}, "reached_files": [], "device_lines": [], "session_lines": [],
    "host_lines": [{"place": "net/train.py:24", "at": None, "reason": "Python of the script", "count": 2, "example": "PyFunc",
                    "is_expected": False, "finding": None}],
    "input_lines": [],
}  # fmt: skip
RAN = {name: value for name, value in RAN.items() if value is not None}


def pictured() -> Report:
    """A small project: a script with work of each level, what it imports, and a run. It names no day, machine or folder."""
    results = [
        convert_source(TRAIN, "net/train.py"),
        convert_source(ROWS, "net/rows.py"),
        convert_source("x = 1\n", "net/setup.py"),
    ]
    report = build(results, entries=[EntryScript("net/train.py", "guard", True)], imports={"net/train.py": ("net/rows.py",)})
    report.run = RAN
    return report


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, Path]:
    target = tmp_path_factory.mktemp("report")
    writer.write(pictured(), target, ["html"])
    return {name: next(target.glob(pattern)) for name, pattern in PAGES.items()}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with playwright_chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def decoder(chromium) -> Page:
    """An empty page, whose browser reads pictures."""
    return chromium.new_page()


@pytest.fixture
def opened(chromium) -> Iterator[Callable[..., Page]]:
    """Opens a page in a window of its own; styles that a test plants pass the policy of the page."""
    with ExitStack() as closing:

        def open_page(path: Path, width: int, theme: str) -> Page:
            of_theme = {"color_scheme": theme, "reduced_motion": "reduce", "offline": True, "bypass_csp": True}
            context = chromium.new_context(viewport={"width": width, "height": 800}, **of_theme)
            closing.callback(context.close)
            page = context.new_page()
            page.goto(path.as_uri())
            return page

        yield open_page


def golden_path(name: str, width: int, theme: str) -> Path:
    return GOLDEN / f"{name}-{width}-{theme}.png"


def share_of_others(page: Page, decoder: Page, name: str, width: int, theme: str) -> float:
    """Share of a page that is not as in its golden picture."""
    from tests.report import pictures

    return pictures.share_of_others(pictures.read(golden_path(name, width, theme)), pictures.taken(page, HEIGHTS[width], decoder))


@pytest.mark.whole(but=("overview-1280-light", "decisions-390-light", "file-1280-dark", "run-390-dark"))
@pytest.mark.parametrize(("name", "width", "theme"), some(itertools.product(PAGES, HEIGHTS, THEMES), 3))
def test_a_page_looks_as_its_golden_picture(opened, decoder, pages, request, name: str, width: int, theme: str) -> None:
    from tests.report import pictures

    now = pictures.taken(opened(pages[name], width, theme), HEIGHTS[width], decoder)
    path = golden_path(name, width, theme)
    golden = pictures.read(path) if path.exists() else None
    if request.config.getoption("--regen"):
        if golden is None or golden.shape != now.shape or (golden != now).any():
            pictures.write(path, now)
            pytest.fail(f"rewritten: {path.name}; look at it before you commit it")
    elif golden is None:
        pytest.fail(f"{path.relative_to(ROOT)} is missing; {AGAIN}")
    elif (share := pictures.share_of_others(golden, now)) > pictures.MOST_DIFFERENT:
        SEEN.mkdir(parents=True, exist_ok=True)
        pictures.write(SEEN / path.name, now)
        pictures.write(SEEN / f"{path.stem}-differs.png", pictures.marked(now, pictures.other_cells(golden, now)))
        pytest.fail(
            f"{path.relative_to(ROOT)}: {share:.0%} of the page look otherwise, and {pictures.MOST_DIFFERENT:.0%} may. Look at "
            f"{SEEN.relative_to(ROOT)}/{path.name}, and at {path.stem}-differs.png beside it. If the page is as it should be, "
            f"{AGAIN}"
        )


WIDE_TABLE = "table { min-width: 60rem } .scroll { overflow: visible }"
BREAKS = {
    "a column is pushed below": ("overview", 1280, ".cards { grid-template-columns: 1fr }"),
    "the columns of the code stand below each other": ("file", 1280, "table.diff tr, table.diff td { display: block }"),
    "the navigation is gone": ("overview", 1280, "nav.sections { display: none }"),
    "the navigation is a list": ("decisions", 390, "nav.sections { flex-direction: column }"),
    "a part of the page is gone": ("overview", 1280, "#next_steps { display: none }"),
    "a card is narrow": ("decisions", 1280, ".decision { width: 30rem }"),
    "the heading covers the page": ("run", 1280, "header.top { position: fixed; width: 100%; height: 12rem }"),
    "text is twice as large": ("file", 390, "body { font-size: 28px }"),
    **{f"a table overflows: {name}": (name, 390, WIDE_TABLE) for name in ("overview", "file", "run")},
}


@pytest.mark.whole(beyond=2)
@pytest.mark.parametrize("what", BREAKS)
def test_a_broken_layout_is_seen(opened, decoder, pages, what: str) -> None:
    from tests.report.pictures import MOST_DIFFERENT

    name, width, style = BREAKS[what]
    page = opened(pages[name], width, "light")
    page.add_style_tag(content=style)
    assert share_of_others(page, decoder, name, width, "light") > 2 * MOST_DIFFERENT


@pytest.mark.whole
@pytest.mark.parametrize(("name", "width", "theme"), zip(PAGES, (1280, 390, 1280, 390), (*THEMES, *THEMES), strict=True))
def test_a_lost_style_sheet_and_the_other_theme_are_seen(opened, decoder, pages, name: str, width: int, theme: str) -> None:
    from tests.report.pictures import MOST_DIFFERENT

    other = next(one for one in THEMES if one != theme)
    assert share_of_others(opened(pages[name], width, other), decoder, name, width, theme) > 2 * MOST_DIFFERENT
    for sheets in ("link[rel=stylesheet]", "link[href$='report.css']"):
        page = opened(pages[name], width, theme)
        page.evaluate("(sheets) => document.querySelectorAll(sheets).forEach((sheet) => sheet.remove())", sheets)
        assert share_of_others(page, decoder, name, width, theme) > 2 * MOST_DIFFERENT, sheets


OTHER_TEXT = """
(word) => {
  const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  for (let text; (text = texts.nextNode());) {
    const found = text.data.match(/\\d/), named = text.data.match(/[a-z]{5,}/);
    if (word ? named : found) {
      text.data = word ? text.data.replace(named[0], word) : text.data.replace(found[0], (Number(found[0]) + 1) % 10);
      return true;
    }
  }
  return false;
}
"""
"""Changes the first count, or puts a word in the place of the first long one."""


@pytest.mark.whole(but=("overview-1280",))
@pytest.mark.parametrize("width", HEIGHTS)
@pytest.mark.parametrize("name", PAGES)
def test_another_count_and_another_word_pass(opened, decoder, pages, name: str, width: int) -> None:
    from tests.report.pictures import MOST_DIFFERENT

    page = opened(pages[name], width, "light")
    for word in ("", "otherwise"):
        assert page.evaluate(OTHER_TEXT, word)
    assert share_of_others(page, decoder, name, width, "light") <= MOST_DIFFERENT


@pytest.mark.whole(but=("body*",))
@pytest.mark.parametrize("style", ["body { transform: translate(.4px, .4px) }", "* { -webkit-text-stroke: .25px }"])
def test_letters_that_are_drawn_otherwise_pass(opened, decoder, pages, style: str) -> None:
    """As by another library for letters: all edges fall on other pixels, or all strokes are a little thicker."""
    from tests.report.pictures import MOST_DIFFERENT

    for name in ("overview", "file"):
        page = opened(pages[name], 1280, "light")
        page.add_style_tag(content=style)
        assert share_of_others(page, decoder, name, 1280, "light") <= MOST_DIFFERENT, name
