"""Findings of recorded runs of PyTorch scripts: limits of the chip, repeated copies, and what the device ended, each at its line.

They are made anew out of all runs of a report. So those of an earlier run of a script go when its runs are replaced, and a file
that has changed since a run has none of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tf2npu.config import Config
from tf2npu.findings import Answer, Finding, Level, Span, doc_of
from tf2npu.report.languages.language import counted
from tf2npu.report.model.report import FileReport, Lines, Report, finding_order
from tf2npu.report.runs.document import RunDocument
from tf2npu.report.runs.line_evidence import has_changed
from tf2npu.report.work.decisions import sentence
from tf2npu.rules.run_findings import OF_RUNS, SEEN
from tf2npu.runs.stale_files import sources
from tf2npu.scanner.text.pragmas import Pragmas
from tf2npu.scanner.text.source import SourceError, decode

NO_SETTINGS = Config()
_RULES: Mapping[str, tuple[str, Level]] = {
    "refused": ("NPT901", Level.UNSUPPORTED),
    "falls_back": ("NPT902", Level.MANUAL),
    "type_refused": ("NPT903", Level.MANUAL),
    "shape_limit": ("NPT904", Level.MANUAL),
    "limited": ("NPT905", Level.INFO),
    "unverified": ("NPT905", Level.INFO),
}
"""The rule for each kind of limit, and the level where the limit is certain; one that is not is told as info."""
_COPY, _STOPPED, _NO_MEMORY = "NPT906", "NPT907", "NPT908"
_ENDS = {_STOPPED: "The device ended the run here. {}", _NO_MEMORY: "The memory of the device ran out here. {}"}
_LEAST_COPIES = 2
"""Copies at a line from which on it is told: one is made in no loop."""
_TO_HOST = ("device to host", "number to Python")
_OF_DEVICE = re.compile(r"npu|hccl|ascend|simulated", re.IGNORECASE)
"""Words in the errors by which the device, and not the script, ends a run."""


@dataclass(frozen=True)
class _Found:
    """Something that runs show at a line.  message: without the count."""

    path: str
    line: int
    rule: str
    level: Level
    message: str
    is_counted: bool = True


def renew(report: Report, config: Config, root: str = "") -> None:
    """Give a report the findings of its runs, in the place of those that it had; answers of people stay.

    root: the folder of the files that were run, "" where it is not known.
    """
    kept = {file.path: _taken_out(file) for file in report.files}
    counts: Counter[_Found] = Counter()
    for run in report.runs:
        for found, count in _of_run(run):
            if config.is_enabled(found.rule):
                counts[found] += count
    by_file: dict[str, list[tuple[_Found, int]]] = {}
    for found, count in counts.items():
        by_file.setdefault(found.path, []).append((found, count))
    for file in report.files:
        if file.path in by_file:
            _put(file, by_file[file.path], kept[file.path], config, root)
    for run in report.runs:
        _point_to_findings(run, report)


def rule_of_failure(run: Mapping[str, Any]) -> str:
    """The rule that tells of the error which ended a run; "" where that is none of the device's."""
    failure = run.get("failure")
    if failure is None or not run.get("eager_operators"):
        return ""
    if failure["type"] == "OutOfMemoryError":
        return _NO_MEMORY
    return _STOPPED if _OF_DEVICE.search(failure["message"]) else ""


def _of_run(run: RunDocument) -> Iterator[tuple[_Found, int]]:
    """Things that one run shows, each with how often, in files that are as it ran them."""
    for found, count in (*_limits(run), *_copies(run), *_failure(run)):
        if not has_changed(run, found.path):
            yield found, count


def _limits(run: RunDocument) -> Iterator[tuple[_Found, int]]:
    for entry in run.get("limit_lines", ()):
        if (at := entry["at"]) and entry["kind"] in _RULES:
            rule, certainly = _RULES[entry["kind"]]
            level = certainly if entry["is_certain"] else Level.INFO
            yield _Found(at["path"], at["line"], rule, level, f"{entry['message']}."), entry["count"]


def _copies(run: RunDocument) -> Iterator[tuple[_Found, int]]:
    for entry in run.get("copy_lines", ()):
        if (at := entry["at"]) and entry["direction"] in _TO_HOST and entry["count"] >= _LEAST_COPIES:
            message = (
                f"The host waits here for a copy from the device ({entry['direction']}): "
                "read it every so many steps only, or after the loop."
            )
            yield _Found(at["path"], at["line"], _COPY, Level.INFO, message), entry["count"]


def _failure(run: RunDocument) -> Iterator[tuple[_Found, int]]:
    """The error of the device that ended a run, at the place that its failure names."""
    failure = run.get("failure") or {}
    at = failure.get("finding") or {}
    rule = at.get("rule", "")
    if rule in _ENDS:
        message = _ENDS[rule].format(f"{failure['type']}: {failure['message']}")
        yield _Found(at["path"], at["line"], rule, Level.UNSUPPORTED, message, is_counted=False), 1


_Known = dict[tuple[str, int, str], tuple[Answer | None, bool]]
"""Answer, and whether the baseline holds it, of findings by rule, line and sentence."""


def _taken_out(file: FileReport) -> _Known:
    """Take the findings of runs out of a file.  Returns: the answers to them."""
    known: _Known = {}
    if not any(finding.rule.startswith(OF_RUNS) for finding in file.findings):
        return known
    left = []
    for number, finding in enumerate(file.findings):
        if finding.rule.startswith(OF_RUNS):
            known[_key(finding)] = finding.answer, number in file.known
        else:
            left.append((finding, number in file.known))
    _set(file, left)
    return known


def _key(finding: Finding) -> tuple[str, int, str]:
    return finding.rule, finding.span.line, sentence(finding)


def _set(file: FileReport, findings: Iterable[tuple[Finding, bool]]) -> None:
    """Give a file findings, each with whether the baseline holds it."""
    in_order = sorted(findings, key=lambda one: finding_order(one[0]))
    file.findings = [finding for finding, _ in in_order]
    file.known = {number for number, (_, is_known) in enumerate(in_order) if is_known}


def _put(file: FileReport, told: Iterable[tuple[_Found, int]], known: _Known, config: Config, root: str) -> None:
    if file.source is None and root and not file.cell_lines:
        file.source = _text(file.path, root)
    lines = Lines(file.source or "").with_ends()
    pragmas = Pragmas(file.source or "", lambda offset: False)
    made = []
    for found, count in told:
        finding = _finding(found, count, lines, config)
        answer, is_known = known.get(_key(finding), (None, False))
        if answer is not None:
            finding = replace(finding, level=Level.INFO, answer=replace(answer, level=finding.level))
        elif pragmas.ignores(found.rule, found.line, found.line):
            finding = replace(finding, level=Level.SKIPPED)
        made.append((finding, is_known))
    _set(file, [*((finding, number in file.known) for number, finding in enumerate(file.findings)), *made])


def _finding(found: _Found, count: int, lines: list[str], config: Config) -> Finding:
    """The finding on a whole line, as far as its text is known."""
    text = lines[found.line - 1].rstrip() if found.line <= len(lines) else ""
    before = text.lstrip()
    span = Span(found.line, len(text) - len(before) + 1, found.line, len(text) + 1)
    level = Level(config.level_of(found.rule, found.level.value))
    seen = SEEN.format(counted(count, "time")) if found.is_counted else ""
    return Finding(found.rule, level, span, found.message + seen, before=before, doc=doc_of(found.rule))


def _text(path: str, root: str) -> str | None:
    """The text of a file; None where it cannot be read."""
    data = sources([str(Path(root) / path)], [path], root).get(path)
    try:
        return decode(data).text if data is not None else None
    except SourceError:
        return None


def _point_to_findings(run: RunDocument, report: Report) -> None:
    """Name in each limit, and each operator on the CPU, the finding that tells of it."""
    told = {(file.path, finding.span.line, finding.rule) for file, finding in report.findings()}
    for entry in run.get("limit_lines", ()):
        _point(entry, _RULES.get(entry["kind"], ("",))[0], told)
    if run.get("eager_operators"):
        for entry in run.get("host_lines", ()):
            _point(entry, _RULES["falls_back"][0], told)


def _point(entry: dict[str, Any], rule: str, told: set[tuple[str, int, str]]) -> None:
    at = entry["at"]
    if at and (at["path"], at["line"], rule) in told:
        entry["finding"] = {"rule": rule, **at}
    elif entry["finding"] and entry["finding"]["rule"].startswith(OF_RUNS):
        entry["finding"] = None
