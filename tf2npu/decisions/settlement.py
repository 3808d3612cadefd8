"""Decisions and a whole report: what was accepted, and which decisions fit nothing any more."""

from __future__ import annotations

from collections.abc import Iterator

from npu_formats.escape import visible
from tf2npu.decisions.document import Decisions, Entry
from tf2npu.decisions.revision import answered, asked_for
from tf2npu.file_findings import STALE_DECISION
from tf2npu.findings import Level, Status
from tf2npu.report.model.baseline import fingerprints
from tf2npu.report.model.report import FileReport, Report, finding_order
from tf2npu.report.work.choices import ACCEPT


def settle(report: Report, decisions: Decisions, name: str) -> None:
    """Accept what was decided so, and tell of each decision that fits some of its findings no more.

    name: of the decisions file, under which is told what belongs to files that are gone.
    """
    concerned = [file for file in report.files if decisions.concerns(file.path)]
    settled = {visible(file.path): (file, list(_settled(file, decisions))) for file in concerned}
    for file, messages in settled.values():
        _tell(file, messages)
    _tell_gone(report, decisions, name)


def _settled(file: FileReport, decisions: Decisions) -> Iterator[str]:
    """Accept in a file; the messages on decisions about it that fit some of its findings no more."""
    keys = fingerprints(file)
    asked = asked_for(file, keys, decisions)
    for number, entry in asked.items():
        if entry.choice == ACCEPT:
            file.findings[number] = answered(file.findings[number], entry)
    found = list(zip(file.findings, keys, strict=True))
    of_rules = {(finding.rule, key) for finding, key in found}
    matched = {(finding.answer.decision, key) for finding, key in found if finding.answer is not None}
    matched |= {(entry.id, keys[number]) for number, entry in asked.items()}
    for entry in decisions.entries:
        missing = [key for key in entry.files.get(visible(file.path), ()) if (entry.id, key) not in matched]
        if missing:
            is_there = any((entry.rule, key) in of_rules for key in missing)
            yield _message(entry, len(missing), "what is said there has changed" if is_there else "the code has changed")


def _tell_gone(report: Report, decisions: Decisions, name: str) -> None:
    known = {visible(file.path): file for file in report.files}
    gone = [(entry, keys, path) for entry in decisions.entries for path, keys in entry.files.items() if path not in known]
    if not gone:
        return
    if name not in known:
        known[name] = FileReport(name, Status.UNCHANGED)
        report.files = sorted([*report.files, known[name]], key=lambda file: file.path)
    _tell(known[name], [_message(entry, len(keys), f"{path} is gone") for entry, keys, path in gone])


def _message(entry: Entry, number: int, reason: str) -> str:
    choice = f"{entry.choice}, {entry.who}" if entry.who else entry.choice
    findings = "1 finding" if number == 1 else f"{number} findings"
    return f"The decision {entry.id} on {entry.rule} ({choice}) fits {findings} no more: {reason}. Decide again."


def _tell(file: FileReport, messages: list[str]) -> None:
    if messages:
        found = [*file.findings, *(STALE_DECISION.finding(Level.INFO, message) for message in messages)]
        file.findings = sorted(found, key=finding_order)
