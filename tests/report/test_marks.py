"""Marks of runs on findings stand in each format that lists findings, the same as on the pages."""

import csv
import io
import json
import re
import unittest
from dataclasses import replace
from importlib.util import find_spec

import jsonschema
import pytest

from tests.report.test_json import RUN
from tests.report.test_sarif import VALIDATOR
from tf2npu import convert_source
from tf2npu.report import writer
from tf2npu.report.formats import as_csv, as_json, as_markdown, as_sarif, as_text, as_xlsx
from tf2npu.report.formats.localized import localized, localized_lines
from tf2npu.report.formats.render_context import page_name
from tf2npu.report.html import as_html
from tf2npu.report.model.build import build
from tf2npu.report.model.report import Report

SOURCE = """import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 3])
y = tf.py_func(f, [x], tf.float32)
if a:
    y = tf.py_func(g, [x], tf.float32)
with session() as s:
    s.run(y)
"""
SHAPES = {"input": "Placeholder:0", "lines": [{"path": "train.py", "line": 2}], "shapes": ["[4,3]"], "count": 1, "steps": 7}
EVIDENCE = {
    "script": "=run.py", "files": {"train.py": "0"}, "failure": None,
    "reached_files": [{"path": "train.py", "reached": [[n, n] for n in (1, 2, 3, 4, 6, 7)], "not_reached": [[5, 5]]}],
    "host_lines": [
        {"place": "train.py:3", "at": {"path": "train.py", "line": 3}, "reason": "it calls <b>Python</b>", "count": 2,
         "example": "PyFunc", "is_expected": True, "finding": None},
    ],
    "device_lines": [], "input_lines": [SHAPES], "session_lines": [],
}  # fmt: skip
MARKS = {("NPU922", 2): "contradicted", ("NPU912", 3): "confirmed", ("NPU912", 5): "not reached"}
CONFIRMED = "On the host ran 2 nodes of this line, such as PyFunc: it calls <b>Python</b>"


def report_of() -> Report:
    return replace(build([convert_source(SOURCE, "train.py")]), run={**RUN, **EVIDENCE})


def of_claimed(found: dict) -> dict:
    """Marks of the findings that a run can speak of here."""
    return {key: value for key, value in found.items() if key in MARKS}


def test_csv_has_the_mark_the_evidence_and_the_script():
    rows = list(csv.DictReader(io.StringIO(as_csv.render(report_of()).removeprefix("\ufeff"), newline="")))
    found = {(row["rule"], int(row["line"])): row for row in rows}
    assert {key: row["mark"] for key, row in of_claimed(found).items()} == MARKS
    assert found["NPU912", 3]["evidence"] == CONFIRMED
    assert found["NPU912", 3]["run"] == "'=run.py", "no formula"
    assert {row["run"] for row in rows if not row["mark"]} <= {""}


def test_the_workbook_has_what_csv_has():
    if find_spec("openpyxl") is None:
        raise unittest.SkipTest("needs openpyxl, of the extra xlsx")
    import openpyxl

    book = openpyxl.load_workbook(io.BytesIO(b"".join(as_xlsx.pieces(report_of()))))
    head, *rows = book["findings"].iter_rows(values_only=True)
    found = {(row["rule"], row["line"]): row for row in (dict(zip(head, values, strict=True)) for values in rows)}
    assert {key: row["mark"] for key, row in of_claimed(found).items()} == MARKS
    assert (found["NPU912", 3]["evidence"], found["NPU912", 3]["run"]) == (CONFIRMED, "=run.py")


def test_confirmed_has_no_colour_of_a_warning(browser, tmp_path):
    """A run confirms what was expected: its badge does not look like work that is left."""
    writer.write(report_of(), tmp_path / "report", ["html"])
    browser.open((tmp_path / "report" / "runs.html").as_uri())
    colours = "(e) => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor].join()"
    made = "document.body.appendChild(Object.assign(document.createElement('span'), {className: 'badge LEVEL'}))"
    found = browser.ask(f"({colours})(document.querySelector('.badge.proof-confirmed'))")
    warnings = {browser.ask(f"({colours})({made.replace('LEVEL', level)})") for level in ("manual", "unsupported", "failed")}
    assert found and warnings and found not in warnings


def test_sarif_has_them_as_properties():
    log = json.loads(as_sarif.render(report_of()))
    VALIDATOR.validate(log)
    results = log["runs"][0]["results"]
    found = {
        (r["ruleId"], r["locations"][0]["physicalLocation"]["region"]["startLine"]): r["properties"]
        for r in results
        if "tf2npu/mark" in r["properties"]
    }
    assert {key: properties["tf2npu/mark"] for key, properties in of_claimed(found).items()} == MARKS
    assert found["NPU912", 3]["tf2npu/evidence"] == CONFIRMED and found["NPU912", 3]["tf2npu/run"] == "=run.py"


def test_a_line_of_the_text_ends_in_it():
    text = as_text.render(report_of())
    found = {
        (rule, int(line)): mark
        for line, rule, mark in re.findall(r"^train\.py:(\d+):\d+: \w+ (\w+) .* \[([a-z ]+): .* \(Run: =run\.py\)\]$", text, re.M)
    }
    assert of_claimed(found) == MARKS
    assert " as at 3:5 [not reached: This line was not reached. (Run: =run.py)]\n" in text
    assert f"[confirmed: {CONFIRMED} (Run: =run.py)]\n" in text


def test_markdown_has_it_at_the_place():
    text = as_markdown.render(report_of())
    places = dict(re.findall(r"^- `train\.py:(\d+):\d+` (.*)$", text, re.M))
    assert places["3"].startswith("confirmed: On the host ran 2 nodes") and "`<b>Python</b>`" in places["3"]
    assert places["5"] == "not reached: This line was not reached. (Run: =run.py)"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_it_comes_through_json_and_without_a_run_there_is_none(language):
    report = replace(report_of(), language=language)
    jsonschema.validate(json.loads(as_json.render(report)), json.loads(as_json.SCHEMA_FILE.read_text()))
    again = replace(as_json.load(as_json.render(report)), language=language)
    without = replace(report, run=None)
    for render in (as_csv.render, as_sarif.render, as_markdown.render, as_text.render):
        assert render(localized(again, language)) == render(localized(report, language))
        assert "\u8bc1\u5b9e" not in (text := render(localized(without, language))) and "confirmed" not in text


def test_in_another_language_it_says_the_same():
    told = localized(replace(report_of(), language="zh"), "zh")
    text = "".join(f"{line.text}\n" for line in localized_lines(as_text.full(told), "zh"))
    assert "[未到达: 运行没有到达这一行。 (运行： =run.py)]" in text
    page = dict(as_html.Pages(told).texts())[page_name("train.py")]
    assert text.count("[已证实: ") == page.count(">已证实<") - legend_of(page, "已证实")


def legend_of(page: str, word: str) -> int:
    """Number of times that the legend, which is on every page, has a word as a badge."""
    return page[page.index('id="legend"') :].count(f">{word}<") if 'id="legend"' in page else 0


ONCE = "import tensorflow as tf\n" + "".join(f"x{n} = tf.placeholder(tf.float32, [None, {n}])\n" for n in range(3, 6))


def test_the_other_places_of_a_finding_count_in_every_language():
    """A finding names its other places in an English sentence; it is about them in Chinese as well."""
    made = build([convert_source(ONCE, "train.py")])
    assert [f.span.line for _, f in made.findings() if f.message.endswith("the others: 3, 4.")] == [2]
    grows = {**SHAPES, "lines": [{"path": "train.py", "line": 4}], "count": 3}
    run = {**RUN, **EVIDENCE, "host_lines": [], "input_lines": [grows]}
    for language in ("en", "zh"):
        told = localized(replace(made, run=run, language=language), language)
        rows = csv.DictReader(io.StringIO(as_csv.render(told).removeprefix("\ufeff"), newline=""))
        assert [(row["line"], row["mark"]) for row in rows if row["rule"] == "NPU922"] == [("2", "confirmed")]
