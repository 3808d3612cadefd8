"""The words of a report are explained on every page, and its rules and verdicts where they are named."""

from __future__ import annotations

import re
from html import unescape

import pytest

from tf2npu.api_support.table import table
from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import Finding, Level, Span, Status, Verdict
from tf2npu.report.formats.localized import localized
from tf2npu.report.html import as_html, legend
from tf2npu.report.html.one_rule import explained
from tf2npu.report.languages.language import catalogue
from tf2npu.report.model.build import build
from tf2npu.report.model.report import FileReport, Report
from tf2npu.report.model.rule_facts import RuleFacts
from tf2npu.rules import all_rules

SOURCE = (
    "import tensorflow as tf\nd = tf.data.Dataset.range(10).padded_batch(3, [None])\nz = tf.dynamic_partition(a, p, 2)\n"
    "i = tf.image.non_max_suppression(boxes, scores, 5)\n"
)
HAN = re.compile(r"[\u4e00-\u9fff]")


def pages(report: Report) -> dict[str, str]:
    return {name: text for name, text in as_html.Pages(report).texts() if name.endswith(".html")}


@pytest.fixture(scope="module")
def report() -> Report:
    return build([convert_source(SOURCE, "train.py")])


@pytest.mark.parametrize(
    ("group", "words"),
    [(legend.LEVELS, Level), (legend.STATES, Status), (legend.VERDICTS, Verdict)],
    ids=["level", "state", "verdict"],
)
def test_every_word_has_a_meaning(group: tuple[legend.Meaning, ...], words: type) -> None:
    assert sorted(meaning.word for meaning in group) == sorted(word.value for word in words)
    assert all(meaning.said.endswith(".") for meaning in group)


def test_every_page_explains_the_words(report: Report) -> None:
    for name, text in pages(report).items():
        shown = text[text.index('<details class="legend">') :]
        for group in (legend.LEVELS, legend.STATES, legend.VERDICTS):
            assert all(meaning.said in unescape(shown) for meaning in group), name


def test_the_tour_has_four_sentences_and_stands_on_the_overview_alone(report: Report) -> None:
    assert [sentence.count(". ") for sentence in legend.TOUR] == [0, 0, 0, 0] and len(legend.TOUR) == 4
    for name, text in pages(report).items():
        assert ('<details class="tour">' in text) == (name == "index.html"), name


def test_texts_are_chinese_on_chinese_pages(report: Report) -> None:
    texts = catalogue("zh")
    assert all(HAN.search(sentence) for sentence in legend.tour(texts))
    for title, meanings in legend.legend(texts):
        assert HAN.search(title) and all(HAN.search(meaning.said) for meaning in meanings)
    assert "初次使用" in pages(localized(report, "zh"))["index.html"]


def test_every_verdict_of_the_table_says_where_it_comes_from() -> None:
    sources = {legend.source_of_verdict(api.name) for api in table()}
    assert "" not in sources and legend.source_of_verdict("tensorflow.no_such_name_at_all") == ""
    assert [text for text in sorted(sources) if not HAN.search(catalogue("zh").text(text))] == []


def test_the_page_of_apis_tells_verdict_source_and_what_to_write(report: Report) -> None:
    text = pages(report)["apis.html"]
    row = next(part for part in text.split("<tr") if "tensorflow.image.non_max_suppression<" in part)
    assert legend.source_of_verdict("tensorflow.image.non_max_suppression") in unescape(row)
    assert "pad_to_max_output_size=True" in row


def test_the_page_of_rules_tells_why_an_example_and_how_to_silence_it(report: Report) -> None:
    text = unescape(pages(report)["rules.html"])
    section = text[text.index('<section class="rule" id="rule-NPU601"') :]
    section = section[: section.index("</section>")]
    assert "Done when: " in section and "# tf2npu: ignore[NPU601]" in section and 'ignore = ["NPU601"]' in section
    assert section.count("<pre>") == 2
    assert "a bucket needs one length" not in section, "that is the reason of another part"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_all_rules_together_fit_one_page(language: str) -> None:
    findings = [Finding(rule.id, Level.MANUAL, Span(1, 1, 1, 2), "x") for rule in all_rules()]
    text = pages(Report([FileReport("m.py", Status.UNCHANGED, findings, source="x\n")], language=language))["rules.html"]
    assert all(f'id="rule-{rule.id}"' in text for rule in all_rules())
    assert len(text.encode()) < 1_000_000 and text.count("<") - text.count("</") < 10_000


def test_a_rule_of_another_version_has_its_reasons_alone() -> None:
    shown = explained(RuleFacts("NPU999999", "gone", "why it was"), ["why it was"], catalogue("en"), "en")
    assert [one.why for one in shown.said] == ["why it was"] and shown.before == shown.page == ""
