"""Two reports beside each other: every piece of work of both is told once, under the right name."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given

from npu_formats.escape import ODD
from tests.report import samples
from tf2npu import report
from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import FileResult, Finding, Level, Span, Status
from tf2npu.report.compared import as_json, as_markdown, as_text, page
from tf2npu.report.compared.comparison import ACCEPTED, BY_TOOL, FILE_GONE, GONE, compare
from tf2npu.report.compared.sentences import sentence
from tf2npu.report.model.baseline import mark_known
from tf2npu.report.model.baseline import read as read_baseline
from tf2npu.report.model.baseline import write as write_baseline
from tf2npu.report.model.build import build
from tf2npu.report.model.report import Report
from tf2npu.report.work.labels import label_of_work

SCHEMA = json.loads((Path(report.__file__).parent / "compare.schema.json").read_text())
HEAD = "import tensorflow as tf\n"
FIRST, SECOND, THIRD = (f"q{n} = tf.py_func({n}, [x], tf.float32)\n" for n in "fgh")
REPORTS = samples.reports.map(lambda report: replace(report, files=list({f.path: f for f in report.files}.values())))


def report_on(**sources: str) -> Report:
    """The report on files of these names, which all import TensorFlow."""
    return build([convert_source(HEAD + text, f"{name}.py") for name, text in sources.items()])


def places(works) -> list[str]:
    return [f"{work.file.path}:{work.finding.span.line}" for work in works]


def test_what_is_mended_is_closed_and_what_comes_is_new():
    found = compare(report_on(a=FIRST + SECOND), report_on(a=FIRST + THIRD))
    assert (places(found.new), places(each.work for each in found.closed)) == (["a.py:3"], ["a.py:3"])
    assert [each.reason for each in found.closed] == [GONE]
    assert (found.n_stayed, found.n_left, found.moved) == (1, 2, [])


def test_lines_may_move_and_files_be_renamed():
    found = compare(report_on(a=FIRST, old=SECOND + THIRD), report_on(a="\n\n" + FIRST, new=SECOND + THIRD))
    moved = {places([pair.before])[0]: places([pair.after])[0] for pair in found.moved}
    assert moved == {"a.py:2": "a.py:4", "old.py:2": "new.py:2", "old.py:3": "new.py:3"}
    assert not found.new and not found.closed and not found.n_stayed and found.n_left == 3


def test_a_file_that_shares_little_is_no_renamed_one():
    found = compare(report_on(old=FIRST + SECOND + THIRD), report_on(new=THIRD))
    assert not found.moved
    assert [each.reason for each in found.closed] == [FILE_GONE] * 3 and len(found.new) == 1


def test_what_the_tool_changes_now_is_told_as_that():
    before = report_on(a=FIRST)
    finding = before.files[0].findings[-1]
    fixed = replace(before.files[0], findings=[replace(finding, level=Level.FIXED)])
    found = compare(before, replace(before, files=[fixed]))
    assert [each.reason for each in found.closed] == [BY_TOOL]


def test_a_baseline_accepts_work_and_gives_it_back(tmp_path):
    before, accepted = report_on(a=FIRST), report_on(a=FIRST)
    write_baseline(accepted, tmp_path / "known.json")
    mark_known(accepted, read_baseline(tmp_path / "known.json"))
    found = compare(before, accepted)
    assert [each.reason for each in found.closed] == [ACCEPTED] and found.n_left == 0
    back = compare(accepted, before)
    assert not back.new and back.n_stayed == 1, "what was known is not new"


def test_what_may_have_made_the_difference_is_said():
    one, other = report_on(a=FIRST), report_on(b=FIRST)
    other.tool_version, other.mode = "9.9", "tf"
    text = "\n".join(line.text for line in as_text.lines(compare(one, other)))
    assert "tf2npu 0.1.0 and 9.9" in text and "--distributed none and tf" in text and "share no file" in text


def work(report: Report) -> int:
    return sum(1 for file in report.files for f in file.new_findings() if label_of_work(file, f))


@given(REPORTS, REPORTS)
def test_each_piece_of_work_is_counted_once(one: Report, other: Report):
    same = compare(one, one)
    assert (same.new, same.closed, same.moved, same.n_left) == ([], [], [], work(one))
    found = compare(one, other)
    assert found.n_left == work(other)
    assert len(found.closed) + len(found.moved) + found.n_stayed == work(one)
    document = json.loads(as_json.render(found))
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    assert len(document["new"]) == document["counts"]["new"] == len(found.new)
    assert as_json.render(found) == as_json.render(compare(one, other))


@given(REPORTS, REPORTS)
def test_every_place_has_its_line_and_a_comment_has_room(one: Report, other: Report):
    found = compare(one, other)
    lines = [line.text for line in as_text.lines(found)]
    assert lines[0] == sentence(found)
    n_places = len(found.new) + len(found.closed) + len(found.moved)
    assert sum(1 for line in lines if any(f": {label} " in line for label in ("manual", "unsupported", "failed"))) >= n_places
    assert len(as_markdown.render(found)) <= 60_000


def many(number: int, *, same: bool = False) -> Report:
    """A report on so many findings, which say the same, or each something else."""
    found = [Finding("NPU1", Level.MANUAL, Span(n, 1, n, 2), f"look at number {0 if same else n}") for n in range(1, number + 1)]
    source = "".join(f"line{n}\n" for n in range(number)).encode()
    return build([FileResult("a.py", Status.UNCHANGED, found, [], source, source)])


def test_what_has_no_room_is_counted():
    found = compare(report_on(), many(3000))
    comment, html = as_markdown.render(found), page.render(found)
    assert len(comment) <= 60_000
    shown = comment.count("<details>")
    assert f"Not shown, because a comment has no room for it: {3000 - shown} findings." in comment
    assert html.count("<li><bdi") == page.MOST_CARDS and f"<p>{3000 - page.MOST_CARDS} further sentences" in html
    one_sentence = page.render(compare(report_on(), many(3000, same=True)))
    assert one_sentence.count("<li><bdi") == page.MOST_SITES and "<p>1500 further places" in one_sentence
    assert max(len(html), len(one_sentence)) <= 1_000_000


@given(REPORTS, REPORTS)
def test_nothing_hostile_reaches_the_page(one: Report, other: Report):
    html = page.render(compare(one, other))
    assert "<script" not in html and " style=" not in html
    assert not ODD.search(html.replace("\n", ""))
    assert html == page.render(compare(one, other))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_sentence_stands_once(language: str):
    found = compare(report_on(), report_on(a=FIRST + SECOND, b=THIRD))
    message = found.new[0].finding.message
    assert "".join(line.text for line in as_text.lines(found)).count(message) == 1
    assert len(found.new) == 3


def test_what_is_left_falls_with_the_work():
    document = json.loads(as_json.render(compare(report_on(a=FIRST + SECOND + THIRD), report_on(a=FIRST))))
    assert [(document[side]["decisions"], document[side]["places"]) for side in ("before", "after")] == [(1, 3), (1, 1)]
    nothing = json.loads(as_json.render(compare(report_on(), report_on())))
    assert (nothing["after"]["decisions"], nothing["after"]["places"]) == (0, 0)
