"""Annotations for code hosts, read back as their documentation says a reader must."""

import json
import re
import xml.etree.ElementTree as xml

import jsonschema
import pytest
from hypothesis import given

from tests.report.samples import reports
from tf2npu.findings import Finding, Level, Span, Status
from tf2npu.report.formats import as_annotations
from tf2npu.report.model.report import FileReport, Report

# GitLab documentation, "Code Quality report format": every field that it requires.
CODE_QUALITY = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "location", "severity"],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "minLength": 1},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": "^(?!\\./|/)"},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": {"type": "integer", "minimum": 1}},
                    },
                },
            },
        },
    },
}
JUNIT = {
    "testsuites": (["testsuite"], [], ["name", "time", "tests", "failures", "errors"]),
    "testsuite": (
        ["testsuite", "properties", "testcase", "system-out", "system-err"], ["name", "tests", "failures", "errors"],
        ["group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"],
    ),
    "testcase": (["skipped", "error", "failure", "system-out", "system-err"], ["name"], ["time", "classname", "group"]),
    "failure": ([], [], ["type", "message"]),
    "error": ([], [], ["type", "message"]),
}  # fmt: skip
"""Elements that an element may hold, attributes that it needs, and others that it may have.

Source: junit-10.xsd of Jenkins' xUnit plug-in, whose readers GitLab and others follow. JUnit itself has published no schema.
"""
HOSTILE = "100% of a,b:c\r\n::error::gotcha <b>&\x1b[31m\u202e"


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Workflow commands as the runner reads them: split first, take the escapes back afterwards."""
    found = []
    for line in text.split("\n")[:-1]:
        name, properties, message = re.fullmatch(r"::(\w+) ([^:]*(?:%3A[^:]*)*)::(.*)", line).groups()
        pairs = [pair.split("=", 1) for pair in properties.split(",")]
        undone = {key: _unescaped(value.replace("%3A", ":").replace("%2C", ",")) for key, value in pairs}
        found.append((name, undone, _unescaped(message)))
    return found


def _unescaped(text: str) -> str:
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


def finding(level: Level, *, line: int = 1, message: str = "said", cell: int | None = None) -> Finding:
    return Finding("NPU101", level, Span(line, 2, line, 5), message, before=f"text {line}", cell=cell)


def report_with(files: dict[str, list[Finding]]) -> Report:
    return Report([FileReport(path, Status.CONVERTED, findings) for path, findings in files.items()])


@pytest.fixture
def report():
    findings = [
        finding(Level.FIXED, line=3),
        finding(Level.MANUAL, line=5, message=HOSTILE),
        finding(Level.UNSUPPORTED, line=7),
        finding(Level.INFO, line=8),
        finding(Level.SKIPPED, line=9),
    ]
    return report_with({"a,b:100%.py": findings, "n.ipynb": [finding(Level.MANUAL, line=2, cell=4)]})


def test_github(report):
    report.prefix = "sub/"
    found = commands(as_annotations.github(report))
    assert [name for name, _, _ in found] == ["notice", "warning", "error", "warning"]
    assert [p.get("line") for _, p, _ in found] == ["3", "5", "7", None]
    assert {p["file"] for _, p, _ in found} == {"sub/a,b:100%.py", "sub/n.ipynb"}
    assert found[1][2] == "100% of a,b:c ::error::gotcha <b>&<U+001B>[31m<U+202E>"
    assert found[3][2].startswith("cell 4, line 2: ")
    assert all(p["title"].startswith("NPU") for _, p, _ in found)


def test_a_terminal_obeys_nothing_of_the_names_and_messages_for_github():
    odd = "\x1b[31m\u009b\u202e\ud800\x00a\nb.py"
    text = as_annotations.github(report_with({odd: [finding(Level.MANUAL, message=odd)]}))
    assert text.isascii() and text.count("\n") == 1 and "\x1b" not in text and "\x00" not in text
    assert commands(text)[0][1]["file"] == "<U+001B>[31m<U+009B><U+202E><U+D800><U+0000>a\nb.py"


def test_gitlab(report):
    report.prefix = "sub/"
    entries = json.loads(as_annotations.gitlab(report))
    jsonschema.validate(entries, CODE_QUALITY)
    assert [e["severity"] for e in entries] == ["info", "major", "critical", "major"]
    assert [e["location"]["lines"]["begin"] for e in entries] == [3, 5, 7, 1]
    assert len({e["fingerprint"] for e in entries}) == 4


def test_junit(report):
    report.files[0].status = Status.UNCHANGED
    root = xml.fromstring(as_annotations.junit(report))
    suite = root.find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "3", "0")
    cases = {case.get("name"): [child.tag for child in case] for case in suite}
    assert cases == {"a,b:100%.py": ["failure", "failure"], "n.ipynb": ["failure"]}


def fits_junit(text: str) -> None:
    """Each element is one that the schema knows, inside one that may hold it; text stands where text may be."""
    root = xml.fromstring(text.encode())
    assert root.tag == "testsuites"
    for element in root.iter():
        inner, needed, others = JUNIT[element.tag]
        assert {child.tag for child in element} <= set(inner)
        assert set(needed) <= set(element.attrib) <= {*needed, *others}, element.attrib
        assert element.tag in ("failure", "error") or not (element.text or "").strip()
    for suite in root:
        cases = [case for case in suite if case.tag == "testcase"]
        counts = {tag: sum(len(case.findall(tag)) for case in cases) for tag in ("failure", "error")}
        assert [suite.get(name) for name in ("tests", "failures", "errors")] == [str(n) for n in (len(cases), *counts.values())]


def test_junit_fits_its_schema(report):
    report.files[0].status = Status.FAILED
    fits_junit(as_annotations.junit(report))
    fits_junit(as_annotations.junit(Report()))


def test_failed_files_are_errors_and_known_findings_nothing(report):
    report.files[0].status = Status.FAILED
    assert {name for name, _, _ in commands(as_annotations.github(report))} == {"notice", "error", "warning"}
    for file in report.files:
        file.known = set(range(len(file.findings)))
    assert as_annotations.github(report) == ""
    assert json.loads(as_annotations.gitlab(report)) == []
    assert xml.fromstring(as_annotations.junit(report)).find("testsuite").get("failures") == "0"


def test_characters_that_xml_cannot_hold(report):
    report.files[0].findings[1:2] = [finding(Level.MANUAL, message="\x00\ufffe\uffff\ud800 ok")]
    xml.fromstring(as_annotations.junit(report).encode())


@given(reports)
def test_whatever_a_report_holds(report):
    n_shown = len(commands(as_annotations.github(report)))
    entries = json.loads(as_annotations.gitlab(report))
    assert n_shown == len(entries)
    fits_junit(as_annotations.junit(report))
