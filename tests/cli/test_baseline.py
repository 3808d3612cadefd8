"""A baseline: what is known is shown, and only what is new makes exit 1."""

import json

import jsonschema
import pytest

from tests.cli.test_convert import report_of
from tf2npu.report.formats import as_json

TWO_SITES = "import tensorflow as tf\ne = tf.estimator.Estimator(**a)\ne = tf.estimator.Estimator(**b)\n"


@pytest.fixture
def source(tmp_path):
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "m.py").write_text(TWO_SITES)
    return tmp_path / "s"


@pytest.fixture
def scan(tool, source, tmp_path):
    def run(*words):
        return tool("scan", source, "--report", tmp_path / "rep", "--baseline", tmp_path / "base.json", *words)

    return run


def known(tmp_path):
    return [f.get("known", False) for file in report_of(tmp_path / "rep")["files"] for f in file["findings"]
            if f["level"] in ("manual", "unsupported", "skipped")]  # fmt: skip


def test_what_is_written_is_known_afterwards(scan, tmp_path):
    assert scan("--write-baseline").code == 0
    done = scan()
    assert done.code == 0
    assert "2 findings known from the baseline" in done.out
    assert known(tmp_path) == [True, True]
    assert not any(line.startswith("m.py") for line in done.out.split("\n"))


def test_a_new_finding_is_not_known(scan, source, tmp_path):
    scan("--write-baseline")
    (source / "m.py").write_text(TWO_SITES + "e = tf.estimator.Estimator(**c)\n")
    done = scan()
    assert done.code == 1
    assert next(line for line in done.out.split("\n") if line.startswith("m.py")).startswith("m.py:4:")
    assert known(tmp_path) == [True, True, False]


def test_a_second_one_of_the_same_text_is_not_known(scan, source, tmp_path):
    scan("--write-baseline")
    (source / "m.py").write_text(TWO_SITES + "e = tf.estimator.Estimator(**b)\n")
    assert scan().code == 1
    assert known(tmp_path) == [True, True, False]


def test_lines_may_move_and_change_their_blanks(scan, source):
    scan("--write-baseline")
    lines = TWO_SITES.split("\n")
    moved = ["'''Text'''", "", lines[0], "x = 1", lines[2], "", "if x:", f"    {lines[1]}", ""]
    (source / "m.py").write_text("\n".join(moved))
    assert scan().code == 0


def test_what_is_no_longer_there_is_counted(scan, source):
    scan("--write-baseline")
    (source / "m.py").write_text("\n".join(TWO_SITES.split("\n")[:2]) + "\n")
    done = scan()
    assert done.code == 0
    assert "1 of its entries fit nothing any more" in done.out
    scan("--write-baseline")
    assert "fit nothing" not in scan().out


def test_a_file_that_does_not_parse_can_be_known(scan, source, tmp_path):
    (source / "old.py").write_text("import tensorflow as tf\nprint 'x'\n")
    assert scan().code == 2
    assert scan("--write-baseline").code == 0
    assert scan().code == 0
    (source / "new.py").write_text("import tensorflow as tf\nprint 'x'\n")
    assert scan().code == 3


def test_trouble_of_this_run_is_never_known(scan, source, failing):
    (source / "x.py").write_text("import tensorflow as tf\n")
    failing("reader", "x.py", 13)
    assert scan("--write-baseline").code == 3
    assert scan().code == 3


def test_notebooks_and_cells_that_move(tool, tmp_path, scan, source):
    (source / "m.py").unlink()

    def notebook(*cells):
        made = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": c} for c in cells]
        text = json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
        (source / "n.ipynb").write_text(text)

    notebook("import tensorflow as tf", "e = tf.estimator.Estimator(**a)")
    assert scan("--write-baseline").code == 0
    notebook("# new", "import tensorflow as tf", "x = 1\ne = tf.estimator.Estimator(**a)")
    assert scan().code == 0


def test_it_survives_the_report_and_is_suppressed_in_sarif(tool, scan, tmp_path):
    scan("--write-baseline")
    document = report_of(tmp_path / "rep")
    assert document["summary"]["baseline"] == {"known": 2, "stale": 0}
    again = json.loads(tool("report", tmp_path / "rep" / "report.json", "--format", "json").out)
    jsonschema.Draft202012Validator(json.loads(as_json.SCHEMA_FILE.read_text())).validate(again)
    assert again == document
    results = json.loads((tmp_path / "rep" / "report.sarif").read_text())["runs"][0]["results"]
    assert [r.get("suppressions", [{}])[0].get("kind") for r in results if r["level"] == "warning"] == ["external"] * 2
    prints = [r["partialFingerprints"]["tf2npu/v1"] for r in results]
    assert len(set(prints)) == len(prints)


def test_text_and_pages_show_them_as_known(scan, tmp_path):
    scan("--write-baseline")
    scan("--format", "text,html")
    assert "Known (in the baseline):" in (tmp_path / "rep" / "report.txt").read_text()
    index = (tmp_path / "rep" / "index.html").read_text()
    assert "Nothing is left to do; 2 findings known from the baseline." in index
    assert "known from the baseline" in next((tmp_path / "rep" / "files").iterdir()).read_text()


@pytest.mark.parametrize(
    "content, said",
    [(None, "--write-baseline makes it"), *((text, "no baseline") for text in ("{}", "\0", '{"tool":"tf2npu","version":9}'))],
)
def test_a_wrong_baseline_is_one_message(scan, tmp_path, content, said):
    if content is not None:
        (tmp_path / "base.json").write_text(content)
    done = scan()
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert said in done.err


def test_write_baseline_needs_a_file(tool, source):
    done = tool("scan", source, "--write-baseline")
    assert (done.code, done.err.count("\n")) == (2, 1)
