"""Decisions as cards: one for each question, with an id that nothing but the sentence changes, on pages that stay small."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from tests.report.samples import result
from tf2npu.config import EffortSettings
from tf2npu.findings import FileResult, Finding, Level, Span, Status
from tf2npu.report.formats import as_sarif
from tf2npu.report.formats.localized import localized
from tf2npu.report.formats.render_context import View
from tf2npu.report.html import as_html
from tf2npu.report.html.decision_cards import MOST_CARDS, addresses
from tf2npu.report.model.build import build
from tf2npu.report.model.report import FileReport, Report
from tf2npu.report.model.rule_facts import RuleTexts
from tf2npu.report.work.decisions import decided, decisions, report_id, who_decided


class Elements(HTMLParser):
    """Counts elements, and keeps the text of those with class "said"."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.n, self._takes = 0, False
        self.said: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.n += 1
        self._takes = ("class", "said") in attrs

    def handle_data(self, data):
        if self._takes:
            self.said.append(data)
        self._takes = False


def pages_of(report):
    return {name: text for name, text in as_html.Pages(report).texts() if name.startswith(("decisions", "data/decisions"))}


def at(line, message="Do it.", rule="NPU912", **more):
    return Finding(rule, Level.MANUAL, Span(line, 1, line, 2), message, before="x", **more)


def of(*findings, path="m.py", n_lines=10, status=Status.UNCHANGED):
    return FileResult(path, status, list(findings), before=b"x = 1\n" * n_lines)


def ids(report):
    return {one.message: one.id for one in decisions(report, RuleTexts(report))}


def test_an_id_stands_for_rule_part_and_sentence_and_nothing_else():
    here = ids(build([of(at(1))]))["Do it."]
    assert ids(build([of(at(7), at(9), path="other.py"), of(at(3))]))["Do it."] == here
    others = [at(1, "Do that."), at(1, rule="NPU910"), at(1, part="a")]
    assert len({here, *(one for found in others for one in ids(build([of(found)])).values())}) == 4
    assert re.fullmatch("[0-9a-f]{16}", here)


@pytest.mark.parametrize(
    ("one", "other", "rule"),
    [
        ("tf.x (6, 9, ...), tf.y (1): test it.", "tf.x (8), tf.y (2, 3): test it.", "NPU970"),
        ("It is used in line 5, 8.", "It is used in line 9.", "NPU912"),
        ("Do it. The file has 2 such places; the others: 4.", "Do it.", "NPU912"),
    ],
)
def test_lines_in_a_sentence_do_not_make_another_decision(one, other, rule):
    report = build([of(at(1, one, rule)), of(at(1, other, rule), path="b.py")])
    found = decisions(report, RuleTexts(report))
    assert len(found) == 1
    assert found[0].n_files == 2


def test_parts_of_a_rule_with_the_same_reasons_ask_one_question():
    said = "float64 does not exist on the NPU."
    parts = [at(1, said, "NPU920", part="double_type"), at(2, said, "NPU920", part="double_call")]
    assert len(ids(build([of(*parts)]))) == 1
    report = build([of(*parts)])
    (one,) = decisions(report, RuleTexts(report))
    assert one.n_places == 2
    other = [at(1, said, "NPU601", part="drop_remainder"), at(2, said, "NPU601", part="bucketing")]
    report = build([of(*other)])
    assert len(decisions(report, RuleTexts(report))) == 2


def test_the_id_is_the_same_in_chinese():
    report = build([result()])
    chinese = localized(report, "zh")
    assert [one.id for one in decisions(chinese, RuleTexts(chinese))] == [one.id for one in decisions(report, RuleTexts(report))]


def test_a_report_is_told_from_another_by_its_sources():
    one, other = build([of(at(1))]), build([of(at(1), path="b.py")])
    assert report_id(one) == report_id(build([of(at(2, "More."))])) != report_id(other)


def test_no_sentence_stands_twice():
    report = build([of(at(1), at(2), at(3, "Do that."), path=f"d{n}/m.py") for n in range(9)])
    said = Elements(pages_of(report)["decisions.html"]).said
    assert sorted(said) == ["Do it.", "Do that."]


def test_places_stand_by_folder_and_what_is_cut_is_counted():
    report = build([of(*(at(n) for n in range(1, 9)), path=f"d{n}/m.py") for n in range(9)])
    page = pages_of(report)["decisions.html"]
    assert page.count('class="path" href="files/') == 50
    assert "22 more places" in page
    assert "d0/" in page and "8 places" in page


@pytest.mark.whole
def test_pages_of_many_decisions_and_places_stay_small():
    many = [of(*(at(n, f"Do it in way {n % 300}.") for n in range(1, 5001)), n_lines=5001), of(at(1), path="b.py")]
    wide = [of(*(at(1, f"Way {n}.") for n in range(100)), path=f"w{n:04}/{'x' * 150}.py") for n in range(60)]
    pages = pages_of(build([*many, *wide]))
    assert sum(page.count('<article class="decision"') for page in pages.values()) == 401
    for name, page in pages.items():
        assert len(page.encode()) <= 1_000_000, name
        assert page.count('<article class="decision"') <= 100
        assert name.endswith(".js") or Elements(page).n <= 10_000, name


def test_all_decisions_are_reached_without_scripts():
    pages = pages_of(build([of(*(at(1, f"Way {n}.") for n in range(250)))]))
    links = re.findall(r'href="(decisions[^"]*)"', pages["decisions.html"].split('aria-label="Pages of this list"')[1])
    assert sorted(links) == sorted(name for name in pages if name.endswith(".html"))


def test_code_to_write_beside_a_place_is_shown_but_is_no_choice():
    code = Finding("NPU912", Level.MANUAL, Span(1, 5, 1, 6), "Do it.", before="1", after="dataset = tf.data.<b>()")
    page = pages_of(build([of(code)]))["decisions.html"]
    assert "dataset = tf.data.&lt;b&gt;()" in page
    assert 'value="edit"' not in page


def test_code_to_write_is_shown_where_it_can_be_written():
    code = Finding("NPU912", Level.MANUAL, Span(1, 5, 1, 6), "Do it.", before="1", after="<b>2</b>", replaces=True)
    page = pages_of(build([of(code)]))["decisions.html"]
    assert "<del>- 1</del>" in page and "<ins>+ &lt;b&gt;2&lt;/b&gt;</ins>" in page
    assert 'value="edit"' in page
    assert 'value="edit"' not in pages_of(build([of(replace(code, before="7"))]))["decisions.html"]


def test_the_data_hold_each_finding_once_with_what_can_be_chosen():
    report = build([of(at(1), at(2), path="a.py"), of(at(1, rule="NPU004"), path="b.py")])
    text = pages_of(report)["data/decisions-1.js"]
    items = json.loads(text.removeprefix("tf2npu.decisions(").removesuffix(");\n"))
    assert [item[1] for item in items if len(item) == 6] == ["NPU912", "NPU004"]
    (path, keys, allowed, places), (_, _, of_file, _) = [item for item in items if len(item) == 4]
    assert (path, len(set(keys)), allowed, places, of_file) == ("a.py", 2, [2, 2], [1, 1], [0])
    assert text.isascii() and "<" not in text


def test_a_chinese_page_has_no_english_of_ours():
    page = pages_of(localized(build([result()]), "zh"))["decisions.html"]
    for text in ("Choose", "Leave it", "Take back", "undecided", "One answer", "Is this right", "values may change", "# decided"):
        assert text not in page


def test_a_card_says_what_it_costs():
    report = build([of(*(at(n) for n in range(1, 4)))])
    assert " minutes" not in pages_of(report)["decisions.html"], "no team has said what its minutes are"
    report.effort = EffortSettings(minutes=(("NPU", 10.0, 2.0),))
    assert "7 to 28 minutes" in pages_of(report)["decisions.html"]


def test_who_decided_is_told_with_numbers():
    from tf2npu.findings import Answer

    answers = [Answer("0" * 16, "accept", Level.MANUAL, who) for who in ("Ann", "Ann", "Bob", "")]
    findings = [replace(at(n), level=Level.INFO, answer=answer) for n, answer in enumerate(answers, 1)]
    report = build([of(*findings)])
    assert who_decided(report) == "4 places decided: 2 by Ann, 1 by somebody without a name, 1 by Bob"
    assert [one.answer.who for one in decided(report, RuleTexts(report))] == ["", "Ann", "Bob"]
    results = json.loads(as_sarif.render(report))["runs"][0]["results"]
    assert [one["suppressions"][0]["justification"] for one in results] == ["Ann", "Ann", "Bob", "decided: accept"]


def test_steps_and_work_of_the_first_page_lead_to_the_cards():
    files = [
        FileReport(f"f{n}.py", Status.CONVERTED, [Finding("NPU922", Level.MANUAL, Span(1, 1, 1, 2), f"Look at number {n}.")])
        for n in range(MOST_CARDS + 3)
    ]
    texts = {name: text for name, text in as_html.Pages(Report(files)).texts() if name.endswith(".html")}
    ids = {name: set(re.findall(r'id="(d-[0-9a-f]+)"', text)) for name, text in texts.items()}
    for section in ("next_steps", "left_to_do"):
        part = texts["index.html"].split(f'<section id="{section}"')[1].split("</section>")[0]
        links = re.findall(r'href="(decisions(?:-\d+)?\.html)#(d-[0-9a-f]+)"', part)
        assert links and all(anchor in ids[name] for name, anchor in links)
    view = View(Report(files))
    ways = addresses(view)
    assert len(ways) == len(files) and any(way.startswith("decisions-2.html#") for way in ways.values())
    for way in ways.values():
        name, _, anchor = way.partition("#")
        assert anchor in ids[name]
