"""A baseline: findings that a project has accepted. They stay in the report, marked as known, and do not make exit 1.

A finding is recognised by its rule, its file, the text of its place and which of several equal ones it is, so that it is
known again when lines move, when texts of messages change and in every language.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Literal

import msgspec

from npu_formats.files.bounded_read import MOST_BASELINE_BYTES, read_at_most
from npu_formats.files.directory import Directory
from npu_formats.files.draft import put_whole
from tf2npu.file_findings import INTERNAL, UNREADABLE
from tf2npu.findings import Finding, Level, Status
from tf2npu.report.model.report import WORK_LEVELS, FileReport, Lines, Report

_VERSION = 1
"""Version of the format of baseline files, which a reader checks."""
_NEVER_KNOWN = (UNREADABLE.id, INTERNAL.id)  # troubles of this run, not of the project


class _Known(msgspec.Struct):
    fingerprint: str


class _Document(msgspec.Struct):
    tool: Literal["tf2npu"]
    version: Literal[1]
    findings: list[_Known]


class NotABaseline(Exception):
    """A file cannot be used as a baseline; the text says why."""


def fingerprints(file: FileReport) -> list[str]:
    """One for each finding of the file, in their order; the same for the same finding in later versions of the file."""
    lines = Lines(file.source or "").with_ends()
    seen: Counter[tuple[str, str]] = Counter()
    found = []
    for finding in file.findings:
        key = finding.rule, _text(file, finding, lines)
        parts = "\0".join((*key, file.path, str(seen[key])))
        found.append(hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()[:32])
        seen[key] += 1
    return found


def read(path: Path) -> set[str]:
    """The fingerprints of a baseline file.

    Raises: NotABaseline, OSError.
    """
    try:
        document = json.loads(read_at_most(path, MOST_BASELINE_BYTES).decode("utf-8"))
        return {entry.fingerprint for entry in msgspec.convert(document, _Document).findings}
    except (ValueError, msgspec.ValidationError, RecursionError) as error:
        raise NotABaseline(f"it is no baseline of this version of tf2npu ({str(error).partition(';')[0][:150]})") from None


def render(report: Report) -> str:
    """The baseline that makes all findings of the report known which need a person."""
    entries = []
    for file in report.files:
        lines = Lines(file.source or "").with_ends()
        for finding, fingerprint in zip(file.findings, fingerprints(file), strict=True):
            if _can_be_known(file, finding):
                text = _text(file, finding, lines)[:80]
                entries.append({"path": file.path, "rule": finding.rule, "text": text, "fingerprint": fingerprint})
    entries.sort(key=lambda entry: (entry["path"], entry["rule"], entry["fingerprint"]))
    return json.dumps({"tool": "tf2npu", "version": _VERSION, "findings": entries}, indent=1) + "\n"


def write(report: Report, path: Path) -> None:
    """Store the baseline in one step.  Raises: OSError."""
    with Directory.given(path.parent) as folder:
        put_whole(folder, path.name, [render(report)])


def mark_known(report: Report, known: set[str]) -> None:
    """Mark the findings that the baseline holds, and count its entries that fit nothing any more."""
    used = set()
    for file in report.files:
        found = list(zip(file.findings, fingerprints(file), strict=True))
        file.known = {n for n, (finding, key) in enumerate(found) if key in known and _can_be_known(file, finding)}
        used |= {key for n, (_, key) in enumerate(found) if n in file.known}
    report.n_stale = len(known - used)


def _can_be_known(file: FileReport, finding: Finding) -> bool:
    if finding.rule in _NEVER_KNOWN:
        return False
    return finding.level in WORK_LEVELS or (file.status is Status.FAILED and finding.level is Level.SKIPPED)


def _text(file: FileReport, finding: Finding, lines: list[str]) -> str:
    """The text of the place: what the finding holds of it, else its line; blanks count as one."""
    text = finding.before
    if not text and lines:
        cell = finding.cell if finding.cell is not None and finding.cell < len(file.cell_lines) else None
        number = finding.span.line + (file.cell_lines[cell] if cell is not None else 0)
        text = lines[number - 1] if number <= len(lines) else ""
    return " ".join(text.split())
