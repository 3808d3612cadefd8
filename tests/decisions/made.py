"""Files of decisions as a person would make them of a report."""

from __future__ import annotations

import json
from pathlib import Path

from npu_formats.escape import visible
from tf2npu.report.formats import as_json
from tf2npu.report.model.baseline import fingerprints
from tf2npu.report.model.report import Report
from tf2npu.report.model.rule_facts import RuleTexts
from tf2npu.report.work.decisions import Decision, decisions, optional


def decided(report: Report, choices: dict[str, str], *, who: str = "Ann", note: str = "measured") -> str:
    """The file for the decisions on rules. choices: by id of the rule."""
    offered = [*decisions(report, RuleTexts(report)), *optional(report, RuleTexts(report))]
    found = [one for one in offered if one.facts.id in choices]
    entries = [entry(one, choices[one.facts.id], who, note) for one in found]
    return "\n".join(['tool = "tf2npu"', 'schema_version = "1.0"', f"count = {len(entries)}", *entries]) + "\n"


def decided_of(folder: Path, choices: dict[str, str], **words: str) -> str:
    """The same for the report.json in a folder."""
    return decided(as_json.read(folder / "report.json"), choices, **words)


def entry(one: Decision, choice: str, who: str, note: str) -> str:
    files: dict[str, list[str]] = {}
    for (file, _), number in zip(one.sites, one.numbers, strict=True):
        files.setdefault(visible(file.path), []).append(fingerprints(file)[number - 1])
    lines = [
        "", "[[decisions]]", f'id = "{one.id}"', f'rule = "{one.facts.id}"', f'choice = "{choice}"', f"who = {json.dumps(who)}",
        f"note = {json.dumps(note)}", f"places = {one.n_places}", f"findings = {len(one.sites)}", "[decisions.files]",
        *(f"{json.dumps(path)} = {json.dumps(keys)}" for path, keys in files.items()),
    ]  # fmt: skip
    return "\n".join(lines)
