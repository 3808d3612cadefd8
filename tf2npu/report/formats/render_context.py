"""The data that the pages of a report are made from: the report, the reader's language, and the ways to other pages."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property

from npu_formats.whole_number import whole_number
from tf2npu.findings import Finding, Verdict
from tf2npu.report.formats.as_text import place
from tf2npu.report.languages.language import Catalogue, catalogue
from tf2npu.report.model.baseline import fingerprints
from tf2npu.report.model.counts import n_places
from tf2npu.report.model.file_parts import FilePart, part_of_finding, part_of_line, parts_of, row_of
from tf2npu.report.model.report import FileReport, Report
from tf2npu.report.model.rule_facts import RuleTexts
from tf2npu.report.runs.evidence import Proofs
from tf2npu.report.runs.seen_apis import SeenApis
from tf2npu.report.work.decisions import Decision, decisions, optional
from tf2npu.report.work.entry_scripts import Entry, entries
from tf2npu.rules.engine.repeated_findings import other_places

_DIGITS = 12
"""Hexadecimal digits of a fingerprint in an anchor: of the findings of one file no two share them."""


@dataclass(frozen=True)
class Site:
    """A place that a page names, with the page that shows it; `href` is the way from the report's folder."""

    place: str
    href: str = ""
    api: str = ""
    message: str = ""
    line: str = ""
    others: tuple[Site, ...] = ()  # places of which the message says that it is the same there
    n_places: int = 1  # with those that the message does not name


class View:
    """A report as its pages see it."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.rules = RuleTexts(report, (row.rule for row in report.apis if row.rule))
        self.texts: Catalogue = catalogue(report.language)
        self._parts: dict[int, list[FilePart]] = {}
        self._anchors: dict[int, list[str]] = {}
        self._with_page = [file for file in report.files if file.has_page]
        self._positions = {file.path: number for number, file in enumerate(self._with_page)}

    @cached_property
    def decisions(self) -> list[Decision]:
        """The decisions that are left."""
        return decisions(self.report, self.rules)

    @cached_property
    def optional(self) -> list[Decision]:
        """Unsafe fixes that may be chosen where nothing has to be done."""
        return optional(self.report, self.rules)

    @cached_property
    def entries(self) -> list[Entry]:
        """The scripts that are run."""
        return entries(self.report)

    def parts(self, file: FileReport) -> list[FilePart]:
        """The pages that a file is shown on."""
        if id(file) not in self._parts:  # a damaged report may name a path twice
            self._parts[id(file)] = parts_of(file)
        return self._parts[id(file)]

    def page_of_line(self, file: FileReport, line: int) -> str:
        """The page and anchor of a line of a page's source; "" for a file without a page."""
        if not file.has_page:
            return ""
        return f"{page_name(file.path, part_of_line(self.parts(file), line))}#L{line}"

    def page_of_finding(self, file: FileReport, number: int) -> str:
        """The page and anchor of the finding with this number, from 1; "" for a file without a page."""
        if not file.has_page:
            return ""
        return f"{page_name(file.path, part_of_finding(self.parts(file), number))}#{self.anchors(file)[number - 1]}"

    def anchors(self, file: FileReport) -> list[str]:
        """The anchor of each finding of a file: by its fingerprint, so that a link to it survives when lines move."""
        if id(file) not in self._anchors:
            self._anchors[id(file)] = [f"f-{fingerprint[:_DIGITS]}" for fingerprint in fingerprints(file)]
        return self._anchors[id(file)]

    def neighbours(self, file: FileReport) -> tuple[str, str]:
        """The pages of the files with a page before and after a file's; "" where there is none."""
        at = self._positions[file.path]
        before = page_name(self._with_page[at - 1].path) if at else ""
        after = page_name(self._with_page[at + 1].path) if at + 1 < len(self._with_page) else ""
        return before, after

    def site(self, file: FileReport, finding: Finding, number: int) -> Site:
        """The place of a finding, with the page that shows it; number: its number in the file, from 1."""
        message, elsewhere = other_places(finding.message)
        others = tuple(
            Site("", self.page_of_line(file, row_of(file, *where)), line=shown_line(*where))
            for where in elsewhere
            if file.has_page
        )
        return Site(
            place(file.path, finding),
            self.page_of_finding(file, number),
            finding.api,
            message if others else finding.message,
            str(finding.span.line),
            others,
            n_places([finding]),
        )

    def targets(self, file: FileReport) -> set[int]:
        """Lines of a file's source to which APIs, runs and the findings of the file lead, beside those of findings."""
        elsewhere = (where for finding in file.findings for where in other_places(finding.message)[1])
        return self._linked_lines.get(file.path, set()) | {row_of(file, *where) for where in elsewhere}

    @cached_property
    def _linked_lines(self) -> dict[str, set[int]]:
        """Linked lines by path: the first use of each API, the first few of unknown ones, and what ran on the host."""
        found: dict[str, set[int]] = {}
        for row in self.report.apis:
            for named in row.places if row.verdict is Verdict.UNKNOWN else row.places[:1]:
                path, _, text = named.rpartition(":")
                if (line := whole_number(text)) is not None:
                    found.setdefault(path, set()).add(line)
        for run in self.report.runs:
            for at in filter(None, (entry["at"] for entry in run.get("host_lines", ()))):
                found.setdefault(at["path"], set()).add(at["line"])
        return found

    @cached_property
    def files_by_path(self) -> dict[str, FileReport]:
        return {file.path: file for file in self.report.files}

    @cached_property
    def proofs(self) -> Proofs:
        """The evidence of runs on findings."""
        return Proofs(self.report)

    @cached_property
    def seen_apis(self) -> SeenApis:
        """The evidence of runs on APIs."""
        return SeenApis(self.report.runs)

    def href_of_place(self, text: str) -> str:
        """The way to a place as a report names it, "path:line" or "path:cell N:line"; "" where no page shows it."""
        path, _, line = text.rpartition(":")
        path, cell, _ = path.rpartition(":cell ") if ":cell " in path else (path, "", "")
        file = self.files_by_path.get(path)
        if file is None or not file.has_page:
            return ""
        number = None if cell else whole_number(line)
        return page_name(path) if number is None else self.page_of_line(file, number)


def page_name(path: str, part: int = 1) -> str:
    """Name of a file's page: harmless whatever the file is called, and never that of another file's page."""
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", path).strip(".-")[-60:]
    digest = hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"files/{readable or 'file'}-{digest}{f'-{part}' if part > 1 else ''}.html"


def shown_line(cell: int | None, line: int) -> str:
    return str(line) if cell is None else f"cell {cell}:{line}"
