"""SARIF 2.1.0 with the same findings and, for each one with code, the replacements that carry it out.

Source: OASIS Static Analysis Results Interchange Format 2.1.0. Notebooks: a region of SARIF would count lines of the
JSON file, so their findings carry the cell as a logical location and no region.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from tf2npu.findings import Answer, Finding, Level, Span
from tf2npu.report.formats import rule_help
from tf2npu.report.formats.as_json import lines
from tf2npu.report.formats.fixes import Fixes
from tf2npu.report.languages.language import Catalogue, catalogue
from tf2npu.report.model.baseline import fingerprints
from tf2npu.report.model.report import Change, FileReport, Report
from tf2npu.report.model.rule_facts import RuleFacts, RuleTexts
from tf2npu.report.runs.evidence import Proof, Proofs

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Level.UNSUPPORTED: "error", Level.MANUAL: "warning"}


def render(report: Report) -> str:
    """The report as SARIF text."""
    return "".join(pieces(report))


def pieces(report: Report) -> Iterator[str]:
    """The same text piece by piece, a line for each result."""
    rules = RuleTexts(report)
    index = {rule.id: number for number, (rule, _) in enumerate(rules)}
    run = {
        "tool": {"driver": _driver(report, rules)},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"SRC": {"description": {"text": "The folder given to tf2npu as SRC."}}},
        "artifacts": [{"location": place, "roles": ["analysisTarget"]} for place in _places(report)],
        "invocations": [{"executionSuccessful": not report.statuses()["failed"]}],
    }
    yield json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1).removesuffix("\n  }\n ]\n}")
    proofs, texts = Proofs(report), catalogue(report.language)
    yield from lines("results", (one for file in report.files for one in _results(file, index, rules, proofs, texts)))
    yield "\n  }\n ]\n}\n"


def _driver(report: Report, rules: RuleTexts) -> dict[str, Any]:
    driver: dict[str, Any] = {"name": "tf2npu", "semanticVersion": report.tool_version}
    if home := rule_help.package_address(rule_help.REPOSITORY):
        driver["informationUri"] = home
    return driver | {"rules": [_rule(*rule, report.language) for rule in rules]}


def _rule(rule: RuleFacts, reasons: list[str], language: str) -> dict[str, Any]:
    document: dict[str, Any] = {"id": rule.id}
    if page := rule_help.page_of(rule.id):
        document["helpUri"] = page
    if rule.title:
        document["shortDescription"] = {"text": rule.title}
    if reasons:
        document["fullDescription"] = {"text": " ".join(reasons)}
        document["help"] = {"text": "\n\n".join(reasons), "markdown": rule_help.markdown(rule.id, reasons, language)}
    return document


def _results(
    file: FileReport, index: dict[str, int], rules: RuleTexts, proofs: Proofs, texts: Catalogue
) -> Iterator[dict[str, Any]]:
    fixes = Fixes(file)
    for number, (finding, fingerprint) in enumerate(zip(file.findings, fingerprints(file), strict=True)):
        document = _result(file, finding, index, rules.of(finding).why)
        document["properties"] |= _seen_in_a_run(proofs.of(file, finding), texts)
        if changes := fixes.of(finding):
            document["fixes"] = [_fix(file, finding, changes)]
        document["partialFingerprints"] = {"tf2npu/v1": fingerprint}
        if number in file.known:
            document["suppressions"] = [{"kind": "external", "justification": "known: in the baseline"}]
        elif finding.answer is not None and finding.answer.choice != "edit":
            document["suppressions"] = [_suppression(finding.answer)]
        yield document


def _seen_in_a_run(proof: Proof | None, texts: Catalogue) -> dict[str, str]:
    if proof is None:
        return {}
    return {"tf2npu/mark": proof.state.value, "tf2npu/evidence": texts.text(proof.text), "tf2npu/run": proof.script}


def _suppression(answer: Answer) -> dict[str, str]:
    """The SARIF suppression for what a person decided: by a comment in the source, or elsewhere."""
    told = ": ".join(part for part in (answer.who, answer.note) if part)
    kind = "inSource" if answer.choice == "suppress" else "external"
    return {"kind": kind, "justification": told or f"decided: {answer.choice}"}


def _result(file: FileReport, finding: Finding, index: dict[str, int], why: str) -> dict[str, Any]:
    return {
        "ruleId": finding.rule,
        "ruleIndex": index[finding.rule],
        "level": _LEVELS.get(finding.level, "note"),
        "message": {"text": finding.message or finding.rule},
        "locations": [_finding_location(file, finding)],
        "properties": {"tf2npu/level": finding.level.value, "tf2npu/api": finding.api, "tf2npu/why": why},
    }


def _finding_location(file: FileReport, finding: Finding) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": _location(file)}
    location: dict[str, Any] = {"physicalLocation": physical}
    if finding.cell is None:
        physical["region"] = _region(finding.span)
    else:
        name = f"cell {finding.cell}, line {finding.span.line}, column {finding.span.column}"
        location["logicalLocations"] = [{"name": name, "kind": "element"}]
    return location


def _fix(file: FileReport, finding: Finding, changes: list[Change]) -> dict[str, Any]:
    replacements = [{"deletedRegion": _region(c.span), "insertedContent": {"text": c.new}} for c in changes]
    return {
        "description": {"text": finding.message or finding.rule},
        "artifactChanges": [{"artifactLocation": _location(file), "replacements": replacements}],
    }


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.line, "startColumn": span.column, "endLine": span.end_line, "endColumn": span.end_column,
    }  # fmt: skip


def _location(file: FileReport) -> dict[str, str]:
    """A relative URI; bytes of the name that are no UTF-8 are percent-encoded as they are."""
    return {"uri": quote(_name_bytes(file.path)), "uriBaseId": "SRC"}


def _places(report: Report) -> list[dict[str, str]]:
    """Each file's location once, as the schema asks."""
    return list({place["uri"]: place for place in map(_location, report.files)}.values())


def _name_bytes(path: str) -> bytes:
    try:
        return os.fsencode(path)
    except UnicodeEncodeError:
        return path.encode("utf-8", "surrogatepass")
