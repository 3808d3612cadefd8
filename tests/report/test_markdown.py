"""The report for a pull request, read by a parser of Markdown that is not ours: nothing hostile gets out of its code."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from markdown_it import MarkdownIt

from npu_formats.escape import visible
from tests.report import samples
from tf2npu.findings import Finding, Level, Span, Status
from tf2npu.report.formats import as_json, as_markdown
from tf2npu.report.formats.markdown_text import prose
from tf2npu.report.model.report import WORK_LEVELS, FileReport, Report
from tf2npu.report.model.rule_facts import RuleTexts
from tf2npu.report.work.decisions import decisions, n_findings

LIMIT_OF_GITHUB = 65_536  # characters of a comment, GitHub's own message about longer ones
PARSER = MarkdownIt("commonmark", {"html": True}).enable("table")
TAGS = re.compile(r"</?details>|</?summary>|</?b>|</?code>")


def parts(text: str) -> tuple[list[str], list[str], list[str]]:
    """HTML, code, and all other text of a document, as the parser tells them apart."""
    html, code, words = [], [], []
    for token in (inner for outer in PARSER.parse(text) for inner in [outer, *(outer.children or ())]):
        kind = token.type
        if kind in ("html_block", "html_inline"):
            html.append(token.content)
        elif kind in ("code_inline", "fence", "code_block"):
            code.append(token.content)
        elif kind == "text":
            words.append(token.content)
        else:
            assert kind not in ("link_open", "image", "em_open", "strikethrough"), (kind, token.content)
    return html, code, words


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(samples.reports)
def test_no_text_of_a_report_becomes_markup(report):
    text = as_markdown.render(report)
    assert len(text) <= as_markdown.MOST_CHARACTERS < LIMIT_OF_GITHUB
    html, _, words = parts(text)
    for block in html:
        assert "<" not in TAGS.sub("", block), block
    for word in words:
        assert not re.search(r"[@#<>$]|://|www\.", word, re.IGNORECASE), word


def test_hostile_names_are_code():
    names = [*samples.HOSTILE_NAMES, "@everyone/`x`.py", "# a.py", "a|b.py", "``two``.py"]
    work = [Finding("NPU901", Level.MANUAL, Span(1, 1, 1, 2), f"look at {name}") for name in names]
    report = Report([FileReport(name, Status.CONVERTED, [finding]) for name, finding in zip(names, work, strict=True)])
    _, code, _ = parts(as_markdown.render(report))
    for name in names:
        assert f"{visible(name)}:1:1" in code


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Ask @user about #12.", "Ask `@user` about `#12`."),
        ("Run `tf2npu undo`; see https://example.org/a_b (now).", "Run `tf2npu undo`; see `https://example.org/a_b` (now)."),
        ("It is so (in make_it()) here", "It is so (in `make_it()`) here"),
        ("see GH-1 and :smile: <b>", "see `GH-1` and `:smile`: `<b>`"),
        ("a\nb\r\n  c", "a b c"),
    ],
)
def test_what_a_host_would_make_something_of_is_code(text, told):
    assert prose(text, 100) == told


def test_decisions_hold_every_finding_of_work_once():
    report = samples.sample()
    work = sum(1 for file in report.files for f in file.new_findings() if f.level in WORK_LEVELS)
    failed = 1  # the file that does not parse
    found = decisions(report, RuleTexts(report))
    assert n_findings(found) == work + failed
    assert [len(decision.sites) for decision in found if decision.facts.id == "NPU901"] == [1 + len(samples.HOSTILE_NAMES)]


def test_what_does_not_fit_is_counted():
    files = [
        FileReport(
            f"part/file{n}.py", Status.CONVERTED, [Finding("NPU901", Level.MANUAL, Span(1, 1, 1, 2), f"do {n} " + "x" * 500)]
        )
        for n in range(400)
    ]
    text = as_markdown.render(Report(files))
    assert 50_000 < len(text) <= as_markdown.MOST_CHARACTERS
    shown, (left,) = text.count("<details>"), re.findall(r"no room for it: (\d+) decisions", text)
    assert shown + int(left) == 400
    assert text.rstrip().endswith("All of it is in `report.json`.")


def test_it_is_folded_and_without_diagrams():
    text = as_markdown.render(samples.sample())
    assert text.count("<details>") == text.count("</details>") > 0
    assert "mermaid" not in text
    assert "+write(this)" in text


def test_rendered_from_json_it_is_the_same():
    report = samples.sample(samples.NAMES_BELOW_SRC)
    assert as_markdown.render(as_json.load(as_json.render(report))) == as_markdown.render(report)
