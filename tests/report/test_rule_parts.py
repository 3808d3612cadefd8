"""A finding is explained by the part of its rule that made it, and not by the part that is declared first."""

import json
import re
from pathlib import Path

import pytest

from tests.how_many import IS_WHOLE, some
from tests.report.test_sarif import VALIDATOR
from tf2npu import Config, convert_source
from tf2npu.file_findings import FILE_FINDINGS
from tf2npu.findings import Finding, Level, Span, Status
from tf2npu.report.formats import as_json, as_sarif, rule_list
from tf2npu.report.formats.localized import localized
from tf2npu.report.html import as_html
from tf2npu.report.model.build import build
from tf2npu.report.model.report import FileReport, Report
from tf2npu.rules import all_rules, rule_parts

ROOT = Path(__file__).parents[2]
BATCH = "import tensorflow as tf\nd = tf.data.Dataset.range(10).batch(3)\n"
SMALLER_LAST_BATCH = (
    "The NPU compiles a graph for fixed shapes, once more for a smaller last batch, and anew for each shape that varies."
)
BUCKETS = "The NPU compiles the graph anew for each shape: a bucket needs one length and one number of examples."
HAS_SEVERAL_REASONS = sorted({p.id for p in rule_parts() for other in rule_parts() if p.id == other.id and p.why != other.why})


@pytest.fixture(scope="module")
def report():
    return build([convert_source(BATCH, "train.py")])


def pages_of(report):
    return {name: text for name, text in as_html.Pages(report).texts() if name.endswith(".html")}


def test_the_pages_tell_the_reason_of_the_part(report):
    pages = pages_of(report)
    telling = {name for name, text in pages.items() if SMALLER_LAST_BATCH in text}
    assert "rules.html" in telling and any(name.startswith("files/") for name in telling)
    assert all(BUCKETS not in text for text in pages.values())


def test_chinese_pages_do_so_too(report):
    pages = pages_of(localized(report, "zh"))
    assert "drop_remainder" in pages["rules.html"]
    assert all(SMALLER_LAST_BATCH not in text and "桶" not in text for text in pages.values())


def test_sarif_tells_it_of_the_rule_and_of_the_result(report):
    log = json.loads(as_sarif.render(report))
    VALIDATOR.validate(log)
    rule = next(rule for rule in log["runs"][0]["tool"]["driver"]["rules"] if rule["id"] == "NPU601")
    assert rule["fullDescription"]["text"] == rule["help"]["text"] == SMALLER_LAST_BATCH
    result = next(result for result in log["runs"][0]["results"] if result["ruleId"] == "NPU601")
    assert result["properties"]["tf2npu/why"] == SMALLER_LAST_BATCH


def test_report_json_keeps_the_part(report):
    again = as_json.load(as_json.render(report))
    assert [finding for _, finding in again.findings()] == [finding for _, finding in report.findings()]
    assert {finding.part for _, finding in again.findings() if finding.rule == "NPU601"} == {"drop_remainder"}


def test_the_list_of_rules_tells_every_reason():
    for rule_id in HAS_SEVERAL_REASONS:
        parts = [part for part in rule_parts() if part.id == rule_id]
        for form in ("text", "md"):
            text = rule_list.render(rule_list.entries(rule_id), form, in_full=True)
            assert all(part.why in text and part.what in text for part in parts), (rule_id, form)
        entry = json.loads(rule_list.render(rule_list.entries(rule_id), "json", in_full=True))[0]
        assert {(part["what"], part["why"]) for part in entry["parts"]} == {(part.what, part.why) for part in parts}


def test_parts_of_a_rule_are_told_apart_by_their_names():
    assert len(HAS_SEVERAL_REASONS) >= 13
    reasons: dict[tuple[str, str], set[str]] = {}
    for part in rule_parts():
        reasons.setdefault((part.id, part.name), set()).add(part.why)
    assert [key for key, whys in reasons.items() if len(whys) > 1] == []


def test_each_finding_of_such_a_rule_names_its_part():
    names = {rule_id: {part.name for part in rule_parts() if part.id == rule_id} for rule_id in HAS_SEVERAL_REASONS}
    n_found = 0
    for rule in all_rules():
        for example in rule.examples:
            source = example.before if "import" in example.before else f"import tensorflow as tf\n{example.before}"
            for mode in some(("none", "tf", "horovod"), 3):
                for finding in convert_source(source, config=Config(distributed=mode)).findings:
                    if finding.rule in names:
                        n_found += 1
                        assert finding.part in names[finding.rule], (finding, source)
    assert n_found > (200 if IS_WHOLE else 60)


def test_ids_of_rules_lead_to_where_the_index_explains_them(report):
    pages = pages_of(report)
    n_linked = 0
    for name, text in pages.items():
        shown = re.findall(r"(<a href=\"(?:\.\./)?rules\.html#rule-(NPU\d+)\">)?<code>(NPU\d+)</code>", text)
        linked = [(target, rule) for _, target, rule in shown if target]
        assert all(target == rule for target, rule in linked), name
        assert all(f'<section class="rule" id="rule-{rule}"' in pages["rules.html"] for _, _, rule in shown)
        assert len(shown) - len(linked) == text.count('<section class="rule" '), "only the explanation itself is no link"
        n_linked += len(linked)
    assert n_linked > 2


def test_a_rule_that_this_version_does_not_know_is_no_link():
    finding = Finding("NPU0", Level.MANUAL, Span(1, 1, 1, 2), "said by a later version")
    strange = Report([FileReport("m.py", Status.UNCHANGED, [finding], source="x\n")])
    pages = pages_of(strange)
    assert all("#rule-" not in text for text in pages.values())
    assert {"decisions.html", "findings.html"} <= {name for name, text in pages.items() if "NPU0" in text}


def test_doc_leads_to_a_heading_of_our_documentation():
    result = convert_source(BATCH + "print 1\n", "m.py"), convert_source(BATCH, "train.py")
    broken = [finding for one in result for finding in one.findings] + [FILE_FINDINGS[0].finding(Level.MANUAL, "gone")]
    assert {finding.rule for finding in broken} >= {"NPU601", "NPU900", FILE_FINDINGS[0].id}
    for finding in broken:
        page, _, heading = finding.doc.partition("#")
        headings = re.findall(r"(?m)^## (\S+)$", (ROOT / page).read_text(encoding="utf-8"))
        assert heading in {one.lower() for one in headings}, finding
