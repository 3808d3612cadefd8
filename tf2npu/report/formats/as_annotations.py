"""Findings where a code host shows them: GitHub workflow commands, GitLab Code Quality, JUnit XML.

Source: GitHub "Workflow commands for GitHub Actions"; GitLab "Code Quality report format"; the JUnit XML that CI servers
read. Paths are those of the repository: `Report.prefix` is put before them.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as xml
from collections.abc import Iterator
from typing import Any

from npu_formats.escape import ODD, for_xml, visible
from tf2npu.findings import Finding, Level, Status
from tf2npu.report.formats.as_text import place
from tf2npu.report.model.baseline import fingerprints
from tf2npu.report.model.report import FileReport, Report
from tf2npu.report.model.rule_facts import RuleTexts

_GITHUB = {"failed": "error", "unsupported": "error", "manual": "warning", "fixed": "notice"}
_GITLAB = {"failed": "critical", "unsupported": "critical", "manual": "major", "fixed": "info"}


def github(report: Report) -> str:
    """A workflow command a line for what a person must do, and for what is or would be fixed."""
    rules = RuleTexts(report)
    return "".join(_command(report, file, number, label, rules) for file, number, label in _shown(report))


def gitlab(report: Report) -> str:
    """The Code Quality artifact; fingerprints stay when lines move, so that a merge request shows what is new."""
    entries = []
    for file in report.files:
        prints = fingerprints(file)
        entries += [_entry(report, file, n, _label(file, n), prints[n]) for n in range(len(file.findings)) if _label(file, n)]
    return json.dumps(entries, indent=1) + "\n"


def junit(report: Report) -> str:
    """A test case a file: failed where work is left, an error where the file failed."""
    suite = xml.Element("testsuite", name="tf2npu")
    counts = {"failure": 0, "error": 0}
    for file in report.files:
        case = xml.SubElement(suite, "testcase", classname="tf2npu", name=_for_xml(report.prefix + file.path))
        for number, finding in enumerate(file.findings):
            kind = {"failed": "error", "fixed": ""}.get(_label(file, number), "failure") if _label(file, number) else ""
            if kind:
                counts[kind] += 1
                text = f"{place(report.prefix + file.path, finding)}: {visible(finding.message)}"
                xml.SubElement(case, kind, type=_for_xml(finding.rule), message=_for_xml(finding.message)).text = _for_xml(text)
    suite.attrib |= {"tests": str(len(report.files)), "failures": str(counts["failure"]), "errors": str(counts["error"])}
    root = xml.Element("testsuites")
    root.append(suite)
    xml.indent(root, " ")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + xml.tostring(root, encoding="unicode") + "\n"


def _shown(report: Report) -> Iterator[tuple[FileReport, int, str]]:
    for file in report.files:
        for number in range(len(file.findings)):
            if label := _label(file, number):
                yield file, number, label


def _label(file: FileReport, number: int) -> str:
    """The label of a finding for a reviewer: "failed" or its level; "" for one that needs no place there."""
    finding = file.findings[number]
    if number in file.known:
        return ""
    if file.status is Status.FAILED and finding.level not in (Level.FIXED, Level.INFO):
        return "failed"
    return finding.level.value if finding.level.value in _GITHUB else ""


def _command(report: Report, file: FileReport, number: int, label: str, rules: RuleTexts) -> str:
    finding = file.findings[number]
    title = f"{finding.rule} {rules.of(finding).title}".strip()
    fields = {"file": report.prefix + file.path, **_region(finding), "title": title}
    told = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in fields.items())
    return f"::{_GITHUB[label]} {told}::{_escaped(_message(finding))}\n"


def _region(finding: Finding) -> dict[str, str]:
    """Lines of a notebook's cell mean nothing in its file; columns count only within one line."""
    if finding.cell is not None:
        return {}
    span = finding.span
    region = {"line": str(span.line), "endLine": str(span.end_line)}
    if span.line == span.end_line:
        region |= {"col": str(span.column), "endColumn": str(max(span.column, span.end_column))}
    return region


def _message(finding: Finding) -> str:
    where = "" if finding.cell is None else f"cell {finding.cell}, line {finding.span.line}: "
    return where + visible(finding.message)


def _escaped(text: str, more: str = "") -> str:
    """Escaped as the runner takes it back: the percent sign, line ends, and in properties what ends them.

    It takes nothing else back: other odd characters, which a terminal would obey, are made visible for good.
    """
    text = ODD.sub(lambda found: found.group() if found.group() in "\r\n" else visible(found.group()), text)
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def _entry(report: Report, file: FileReport, number: int, label: str, fingerprint: str) -> dict[str, Any]:
    finding = file.findings[number]
    line = finding.span.line if finding.cell is None else 1
    return {
        "description": _message(finding),
        "check_name": finding.rule,
        "fingerprint": fingerprint,
        "severity": _GITLAB[label],
        "location": {"path": visible(report.prefix + file.path), "lines": {"begin": line}},
    }


def _for_xml(text: str) -> str:
    return for_xml(visible(text))
