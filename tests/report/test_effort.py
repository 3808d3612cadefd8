"""The estimate of work: every rule has figures, a decision counts once, settings change what is counted."""

import csv
import json
import re
from dataclasses import replace

import jsonschema
import pytest

from tests.report.samples import NAMES_BELOW_SRC, sample
from tests.report.test_json import SCHEMA
from tf2npu.config import EffortSettings
from tf2npu.file_findings import FILE_FINDINGS
from tf2npu.findings import Finding, Level, Span, Status, Verdict
from tf2npu.report.formats import as_json
from tf2npu.report.html import as_html
from tf2npu.report.model.report import ApiRow, FileReport, Report
from tf2npu.report.model.rule_facts import RuleTexts
from tf2npu.report.work.costs import CLASSES, TABLE, cost_of, costs
from tf2npu.report.work.decisions import decisions
from tf2npu.report.work.effort import SHARES, effort, minutes_of, shown_hours
from tf2npu.report.work.verdict import verdict
from tf2npu.rules import rule_parts


def finding(rule: str, line: int = 1, level: Level = Level.MANUAL, message: str = "look at it", part: str = "") -> Finding:
    return Finding(rule, level, Span(line, 1, line, 2), message, part=part)


def report(*findings: Finding) -> Report:
    file = FileReport("train.py", Status.CONVERTED, list(findings), references=3)
    return Report([file], apis=(ApiRow("tensorflow.Session", Verdict.CONVERTED, 3, 1),))


def left(of: Report):
    return decisions(of, RuleTexts(of))


def test_every_part_of_every_rule_has_a_row_and_no_row_is_left_over():
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = [(row["rule"], row["part"]) for row in csv.DictReader(file)]
    known = {(part.id, part.name) for part in rule_parts() if not part.id.startswith("NPUX")} | {
        (n.id, "") for n in FILE_FINDINGS
    }
    assert len(rows) == len(set(rows))
    missing, left_over = sorted(known - set(rows)), sorted({row for row in rows if row[0]} - known)
    lines = "\n".join(f"{rule},{part},{'|'.join(CLASSES)},MINUTES,MINUTES,judged: WHAT A PERSON DOES" for rule, part in missing)
    assert not missing, f"give the minutes of these in tf2npu/report/effort.csv (docs/report_effort.md):\n{lines}"
    assert not left_over, f"take these out of tf2npu/report/effort.csv, as no rule has such a part: {left_over}"
    assert {row for row in rows if not row[0]} == {("", "manual"), ("", "unsupported")}


def test_figures_are_sane_and_say_where_they_come_from():
    for key, cost in costs().items():
        assert cost.kind in CLASSES and 0 < cost.further <= cost.first and len(cost.source) > 10, key


def test_a_decision_counts_its_first_place_and_less_each_further_one():
    found = report(*(finding("NPU912", line, part="python_function") for line in range(1, 6)))
    cost = costs()["NPU912", "python_function"]
    assert minutes_of(left(found)[0], EffortSettings()) == cost.first + 4 * cost.further
    estimate = effort(found, left(found))
    assert (estimate.left.decisions, estimate.left.places) == (1, 5)
    assert estimate.shares["to write"] == estimate.left


def test_hours_are_told_to_a_team_that_set_minutes_of_its_own_and_to_nobody_else():
    found = report(finding("NPU944", 1))
    assert effort(found, left(found)).hours(effort(found, left(found)).left) is None
    assert "hours" not in json.loads(as_json.render(found))["summary"]["effort"]
    page = dict(as_html.Pages(found).texts())["index.html"]
    assert "0.01 (95 %" in page and not re.search(r"\d hours", page)
    found.effort = EffortSettings(minutes=(("NPU944", 60.0, 60.0),))
    assert json.loads(as_json.render(found))["summary"]["effort"]["hours"] == [0.5, 2.0]
    page = dict(as_html.Pages(found).texts())["index.html"]
    assert "0.5 to 2 hours" in page and "0.01 (95 %" in page


def test_shares_follow_the_class_and_the_code_at_hand_and_what_is_fixed_is_done():
    found = report(
        finding("NPU922", 1), finding("NPU101", 2), finding("NPU944", 3), finding("NPU101", 4, Level.FIXED, "done"),
        finding("NPU970", 5, Level.INFO), replace(finding("NPU101", 6, message="write"), after="a\nb\n"),
    )  # fmt: skip
    shares = effort(found, left(found)).shares
    assert {name: share.places for name, share in shares.items()} == dict.fromkeys(SHARES, 1)
    assert {name: share.lines for name, share in shares.items() if share.lines} == {"to copy": 2, "to write": 1}


def test_lines_that_code_leaves_as_they_are_are_not_to_be_written():
    kept = replace(finding("NPU101", 1), before="f(\n  a,\n  b)", after="f(\n  c,\n  b)", replaces=True)
    found = report(kept)
    assert effort(found, left(found)).left.lines == 1


def test_what_the_baseline_holds_is_not_left():
    found = report(finding("NPU944", 3))
    found.files[0].known = {0}
    assert effort(found, left(found)).left.minutes == 0


def test_settings_replace_minutes_by_the_longest_prefix_and_set_the_range():
    settings = EffortSettings(1.0, 3.0, (("NPU9", 7.0, 1.0), ("NPU944", 11.0, 2.0)))
    assert cost_of("NPU944", "", "manual", settings).first == 11
    assert cost_of("NPU941", "", "manual", settings).first == 7
    assert cost_of("NPU101", "session_config", "manual", settings).source.startswith("judged")
    found = replace(report(finding("NPU944")), effort=settings)
    assert effort(found, left(found)).hours(effort(found, left(found)).left) == (11 / 60, 33 / 60)


def test_a_rule_of_a_plug_in_costs_what_its_level_does():
    assert cost_of("NPUX1", "", "unsupported", EffortSettings()).kind == "rewrite"
    assert cost_of("NPUX1", "", "manual", EffortSettings()).kind == "change"


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0, 0, "0 hours"),
        (0.05, 0.2, "under 15 minutes"),
        (0.3, 1.2, "0.5 to 1 hours"),
        (11.6, 46.4, "12 to 46 hours"),
        (0.1, 0.5, "about 0.5 hours"),
        (1, 1, "about 1 hour"),
    ],
)
def test_hours_are_shown_without_digits_that_an_estimate_has_not(low: float, high: float, text: str):
    assert shown_hours(low, high) == text


def test_the_verdict_is_one_of_four():
    assert verdict(Report(), []).kind == "not TensorFlow 1"
    ready, open_, blocked = report(), report(finding("NPU922", 1), finding("NPU101", 2)), report(finding("NPU944", 1))
    assert verdict(ready, left(ready)).sentence == "Ready to run."
    assert verdict(open_, left(open_)).sentence == "Ready after 2 decisions."
    assert verdict(blocked, left(blocked)).sentence == "Blocked by Eager execution."
    told = "Only if config.ps_tasks > 0, which is not so by default: {}"
    maybe = report(finding("NPU944", 1, Level.INFO, told.format("TensorFlow runs eagerly.")))
    assert verdict(maybe, left(maybe)).sentence == "Ready to run. Blocked only if config.ps_tasks > 0."
    assert verdict(maybe, left(open_)).sentence == "Ready after 2 decisions. Blocked only if config.ps_tasks > 0."
    harmless = report(finding("NPU922", 1, Level.INFO, told.format("The size is open.")))
    assert verdict(harmless, left(harmless)).sentence == "Ready to run."
    of_2 = report(finding("NPU903", 1, Level.INFO))
    assert verdict(of_2, left(of_2)).sentence == "Ready to run."


def test_verdict_and_effort_are_in_the_summary_and_come_back():
    settings = EffortSettings(0.25, 4.0, (("NPU9", 7.0, 1.0),))
    text = as_json.render(replace(sample(NAMES_BELOW_SRC), effort=settings))
    jsonschema.validate(json.loads(text), SCHEMA)
    assert as_json.load(text).effort == settings
    assert as_json.render(as_json.load(text)) == text
