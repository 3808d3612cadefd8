"""The text report: a line for every place, and what is to be said about a file once."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given

from tests.report import samples
from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import FileResult, Finding, Level, Span, Status
from tf2npu.report.formats import as_text
from tf2npu.report.formats.localized import localized, localized_lines
from tf2npu.report.languages.language import LANGUAGES
from tf2npu.report.model.build import build
from tf2npu.report.model.report import WORK_LEVELS

_LINE = re.compile(r"^(.+?):(?:cell \d+:)?(\d+):(\d+): (\w+) (\w+) (.*)$", re.M)
READERS = "import tensorflow as tf\nq = tf.py_func(f, [x], tf.float32)\nif a:\n    q = tf.py_func(g, [x], tf.float32)\n"


def test_a_repeated_message_is_written_once_and_every_place_has_a_line() -> None:
    result = convert_source(READERS, "train.py")
    repeated, count = Counter((f.rule, f.message) for f in result.findings).most_common(1)[0]
    assert count == 2
    text = as_text.render(build([result]))
    assert text.count(repeated[1]) == 1
    places = [found[1:3] for found in _LINE.findall(text) if found[4] == repeated[0]]
    assert sorted(places) == sorted((str(f.span.line), str(f.span.column)) for f in result.findings if f.rule == repeated[0])
    assert f": manual {repeated[0]} as at 2:5\n" in text or f" {repeated[0]} as at 2:5\n" in text


def test_another_file_another_rule_or_another_level_says_it_again() -> None:
    def finding(rule: str, level: Level, line: int) -> Finding:
        return Finding(rule, level, Span(line, 1, line, 2), "look at this")

    findings = [finding("NPU1", Level.MANUAL, 1), finding("NPU2", Level.MANUAL, 2), finding("NPU1", Level.INFO, 3)]
    results = [FileResult(path, Status.UNCHANGED, list(findings), [], b"a\nb\nc\n", b"a\nb\nc\n") for path in ("a.py", "b.py")]
    assert as_text.render(build(results)).count("look at this") == 6


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_place_is_named_in_the_language_of_the_report(language: str) -> None:
    report = localized(build([convert_source(READERS, "train.py")]), language)
    lines = [line.text for line in localized_lines(as_text.full(report), language)]
    assert any("2:5" in line and line.startswith("train.py:4:9: ") for line in lines)
    assert any("as at 2:5" in line for line in lines) == (language == "en")


@pytest.mark.parametrize("other", ["", "z = tf.py_func(h, [x], tf.float32)\n"])
def test_findings_of_several_places_are_counted_in_chinese(other: str) -> None:
    source = "import tensorflow as tf\nx = tf.placeholder(tf.float32, [None, 4])\ny = tf.placeholder(tf.float32, [None, 1])\n"
    report = localized(build([convert_source(source + other, "train.py")]), "zh")
    totals = [line.text for line in localized_lines(as_text.totals(report), "zh")]
    assert any("\u5904" in line for line in totals), "the finding names two places"
    assert not any(word in line for line in totals for word in ("finding", "place"))


@given(samples.reports)
def test_no_place_is_left_out(report) -> None:
    lines = [line.text for line in as_text.full(report)]
    for file in report.files:
        new = [f for f in file.new_findings() if f.level in WORK_LEVELS or not file.has_failed]
        for finding in new:
            assert any(line.startswith(f"{as_text.place(file.path, finding)}: ") for line in lines)
