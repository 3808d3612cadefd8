"""Unsafe fixes that are chosen on a card: made at exactly the places of the card, byte for byte as --unsafe-fixes makes them."""

import json

import pytest

from tests.cli.test_convert import report_of
from tests.decisions.made import decided_of
from tf2npu.report.formats import as_json
from tf2npu.report.html import as_html

LABELS = "import tensorflow as tf\na = tf.metrics.accuracy(labels, p)\n"
GELU = (
    "import tensorflow as tf\n\n\ndef gelu(x):\n    cdf = 0.5 * (1.0 + tf.erf(x / tf.sqrt(2.0)))\n    return x * cdf\n\n\n"
    "with tf.Session() as s:\n    s.run(gelu(tf.ones([2])))\n"
)
BATCHES = (
    "import tensorflow as tf\n\n\ndef read(path):\n"
    "    one = tf.data.TFRecordDataset(path).map(\n        parse).batch(8)\n"
    "    two = tf.data.TFRecordDataset(path + 'x').batch(9)\n"
    "    return one, two\n"
)
PLACED = "import tensorflow as tf\n\n\ndef f(place):\n    with tf.device(place):\n        pass\n"
POOLED = "import tensorflow as tf\ny = tf.nn.max_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], 'SAME')\n"
HOROVOD = (
    "import tensorflow as tf\nimport horovod.tensorflow as hvd\nscale = 4 if hvd.nccl_built() else 1\n"
    "with tf.Session() as s:\n    s.run(tf.ones(scale))\n"
)
SOURCES = {
    "NPU508": LABELS, "NPU503": GELU, "NPU601": BATCHES, "NPU701": PLACED, "NPU509": POOLED, "NPU406": HOROVOD,
}  # fmt: skip


def notebook(*cells):
    return json.dumps({"cells": [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells],
                       "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)  # fmt: skip


@pytest.fixture
def decided_on(tool, tmp_path):
    """Convert the folder `s`, choose the code for some rules, and convert again."""

    def run(rules, *words, source=tmp_path / "s"):
        tool("convert", source, tmp_path / "o", *words)
        (tmp_path / "d.toml").write_text(decided_of(tmp_path / "o" / "tf2npu-report", dict.fromkeys(rules, "edit")))
        tool("convert", source, tmp_path / "o", "--decisions", tmp_path / "d.toml", *words)
        return tmp_path / "o"

    (tmp_path / "s").mkdir()
    return run


@pytest.mark.whole(beyond=2)
@pytest.mark.parametrize("rule", SOURCES)
def test_the_fix_is_that_of_unsafe_fixes(decided_on, tool, tmp_path, rule):
    (tmp_path / "s" / "m.py").write_text(SOURCES[rule])
    out = decided_on([rule], "--distributed", "horovod")
    tool("convert", tmp_path / "s", tmp_path / "wanted", "--distributed", "horovod", "--unsafe-fixes")
    text = (out / "m.py").read_text()
    assert text == (tmp_path / "wanted" / "m.py").read_text()
    tool("convert", tmp_path / "s", tmp_path / "safe", "--distributed", "horovod")
    assert text != (tmp_path / "safe" / "m.py").read_text()
    answers = [f["answer"] for file in report_of(out / "tf2npu-report")["files"] for f in file["findings"] if "answer" in f]
    assert {(a["choice"], a["who"]) for a in answers} == {("edit", "Ann")}


def test_other_places_and_other_rules_stay_as_they_are(decided_on, tool, tmp_path):
    for rule, source in SOURCES.items():
        (tmp_path / "s" / f"{rule}.py").write_text(source)
    (tmp_path / "s" / "later.py").write_text("x = 1\n")
    tool("convert", tmp_path / "s", tmp_path / "safe")
    tool("convert", tmp_path / "s", tmp_path / "unsafe", "--unsafe-fixes")
    out = decided_on(["NPU601"])
    (tmp_path / "s" / "later.py").write_text(BATCHES)
    tool("convert", tmp_path / "s", out, "--decisions", tmp_path / "d.toml")
    for rule in SOURCES:
        wanted = tmp_path / ("unsafe" if rule == "NPU601" else "safe") / f"{rule}.py"
        assert (out / f"{rule}.py").read_bytes() == wanted.read_bytes(), rule
    assert "drop_remainder" not in (out / "later.py").read_text()


def test_places_in_cells(decided_on, tool, tmp_path):
    cells = ("import tensorflow as tf\n", "%time\n" + BATCHES.split("\n", 1)[1], LABELS)
    (tmp_path / "s" / "m.ipynb").write_text(notebook(*cells))
    out = decided_on(["NPU601"])
    after = ["".join(cell["source"]) for cell in json.loads((out / "m.ipynb").read_text())["cells"]]
    assert after[1] == cells[1].replace("batch(8)", "batch(8, drop_remainder=True)").replace(
        "batch(9)", "batch(9, drop_remainder=True)"
    )
    assert after[2] == cells[2].rstrip("\n") or after[2] == cells[2]


def test_a_comment_and_a_fix_meet_in_one_file(tool, tmp_path):
    (tmp_path / "s").mkdir()
    alone = GELU.partition("with tf.Session")[0]
    (tmp_path / "s" / "m.py").write_text(alone + "z = tf.py_func(g, [y], tf.float32)\n")
    tool("convert", tmp_path / "s", tmp_path / "o")
    choices = {"NPU503": "edit", "NPU912": "suppress"}
    (tmp_path / "d.toml").write_text(decided_of(tmp_path / "o" / "tf2npu-report", choices))
    words = ("convert", tmp_path / "s", tmp_path / "o", "--decisions", tmp_path / "d.toml")
    tool(*words)
    first = (tmp_path / "o" / "m.py").read_bytes()
    assert b"    return npu_unary_ops.gelu(x)\n" in first
    assert b"z = tf.py_func(g, [y], tf.float32)  # tf2npu: ignore[NPU912] Ann: measured\n" in first
    tool(*words)
    assert (tmp_path / "o" / "m.py").read_bytes() == first


def test_what_is_not_made_is_told(decided_on, tool, tmp_path):
    (tmp_path / "s" / "m.py").write_text(LABELS)
    decided_on(["NPU508"])
    (tmp_path / "s" / "m.py").write_text("# tf2npu: off\n" + LABELS)
    tool("convert", tmp_path / "s", tmp_path / "o", "--decisions", tmp_path / "d.toml")
    assert "tf.cast" not in (tmp_path / "o" / "m.py").read_text()
    told = [f["message"] for file in report_of(tmp_path / "o" / "tf2npu-report")["files"] for f in file["findings"]]
    assert any("fits 1 finding no more" in message for message in told)


def test_stdin_knows_of_it(tool, tmp_path):
    tool("convert", "-", "--report", tmp_path / "rep", stdin=LABELS.encode())
    (tmp_path / "d.toml").write_text(decided_of(tmp_path / "rep", {"NPU508": "edit"}))
    done = tool("convert", "-", "--decisions", tmp_path / "d.toml", stdin=LABELS.encode())
    assert "accuracy(tf.cast(labels, tf.float32), p)" in done.out


def test_the_card_shows_the_code_and_that_values_may_change(tool, tmp_path):
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "m.py").write_text(GELU)
    assert tool("convert", tmp_path / "s", tmp_path / "o").code == 0
    pages = dict(as_html.Pages(as_json.read(tmp_path / "o" / "tf2npu-report" / "report.json")).texts())
    page = pages["decisions.html"]
    assert "<ins>+     return npu_unary_ops.gelu(x)</ins>" in page
    assert "<del>-     return x * cdf</del>" in page
    choice = page[page.index('value="edit"') :]
    assert "values may change" in choice[: choice.index("</label>")]
    assert "Cards at the end that can be left: 1." in page
    assert "Left to do" in page and "ready" in pages["index.html"].lower()


def test_a_fix_that_cannot_be_made_is_told_and_holds_up_no_other(decided_on, tool, tmp_path):
    named = "import tensorflow as tf\n\n\ndef f(pick):\n    with tf.device(d := pick()):\n        return d\n"
    (tmp_path / "s" / "m.py").write_text(named + LABELS.split("\n", 1)[1])
    out = decided_on(["NPU701", "NPU508"])
    assert (out / "m.py").read_text() == named + "a = tf.metrics.accuracy(tf.cast(labels, tf.float32), p)\n"
    found = [f for file in report_of(out / "tf2npu-report")["files"] for f in file["findings"]]
    assert [f["rule"] for f in found if "answer" in f] == ["NPU508"]
    (told,) = [f["message"] for f in found if f["rule"] == "NPU012"]
    assert "could not make its fix at each of these places" in told
