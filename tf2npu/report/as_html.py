"""The report as web pages: an index and one page for each file with something to show.

Works without scripts and from a file:// address; every text of the user's is escaped, and the pages forbid themselves
any network access and any script but their own.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from tf2npu.findings import Finding, Level, Verdict
from tf2npu.report import check_section, run_page
from tf2npu.report.apis import numbers, sentence
from tf2npu.report.as_text import place
from tf2npu.report.code_table import seen, told
from tf2npu.report.content_policy import page_policy
from tf2npu.report.decisions import LABELS, label_of_work
from tf2npu.report.file_page import are_many, file_page, in_order, levels_of, row_of, shown_line
from tf2npu.report.language import Catalogue, catalogue, template_in
from tf2npu.report.model import ApiRow, FileReport, Report
from tf2npu.report.places import SHOWN, counted_findings, n_places
from tf2npu.report.rule_facts import RuleFacts, RuleTexts
from tf2npu.report.visible import visible
from tf2npu.rules.engine.repeated_findings import other_places

_TEMPLATES = Path(__file__).parent / "htmlfiles"
_OPEN_GROUPS_UP_TO = 25
"""Rows up to which a group of findings is unfolded: what a screen or two hold."""


@dataclass(frozen=True)
class Site:
    """A place that the index names, with the page that shows it."""

    place: str
    href: str = ""
    api: str = ""
    message: str = ""
    line: str = ""
    others: tuple[Site, ...] = ()  # places of which the message says that it is the same there
    n_places: int = 1  # with those that the message does not name


@dataclass
class Row:
    """What one message says about one or several places of a file."""

    first: Site
    more: list[Site] = field(default_factory=list)
    n_findings: int = 1
    n_places: int = 1


@dataclass
class Group:
    """What is left to do for one reason."""

    label: str  # failed, unsupported or manual
    facts: RuleFacts
    sites: list[Site] = field(default_factory=list)

    @property
    def rows(self) -> list[Row]:
        """The places; those of one file about which one sentence says the same many times share a row."""
        of_one: dict[tuple[str, str, str], list[Site]] = {}
        for site in self.sites:
            of_one.setdefault((site.href.partition("#")[0], site.api, site.message), []).append(site)
        rows = [[sites] if are_many(sites) and sites[0].href else [[site] for site in sites] for sites in of_one.values()]
        return [
            Row(
                sites[0],
                [*sites[1:], *(other for site in sites for other in site.others)],
                len(sites),
                sum(site.n_places for site in sites),
            )
            for shared in rows
            for sites in shared
        ]

    @property
    def n_places(self) -> int:
        return sum(site.n_places for site in self.sites)

    @property
    def is_open(self) -> bool:
        return len(self.rows) <= _OPEN_GROUPS_UP_TO


class Pages:
    """The pages of one report: number 0 is the index, then come the files that have one."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._files = [file for file in report.files if file.has_page]
        self._rules = RuleTexts(report, (row.rule for row in report.apis if row.rule))
        self._environment = _environment(report)
        self._page = self._environment.get_template("page.html")

    def __len__(self) -> int:
        return 1 + len(self._files)

    def texts(self, numbers: Iterable[int] | None = None) -> Iterator[tuple[str, str]]:
        """(name, HTML text) of the pages with these numbers, or of all."""
        for number in range(len(self)) if numbers is None else numbers:
            yield ("index.html", self._index()) if number == 0 else self._of(self._files[number - 1])

    def _index(self) -> str:
        return self._environment.get_template("index.html").render(**_index(self._report, self._rules))

    def _of(self, file: FileReport) -> tuple[str, str]:
        return page_name(file.path), self._page.render(**file_page(file, self._rules, catalogue(self._report.language)))


def page_name(path: str) -> str:
    """Name of a file's page: harmless whatever the file is called, and never that of another file's page."""
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", path).strip(".-")[-60:]
    digest = hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"files/{readable or 'file'}-{digest}.html"


@lru_cache(maxsize=4)
def _asset(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _environment(report: Report) -> Environment:
    loader = FunctionLoader(lambda name: template_in(_asset(name), report.language))
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    texts = catalogue(report.language)
    environment.filters |= {"seen": seen, "told": told, "plain": visible, "word": texts.word}
    style, script = _asset("report.css"), _asset("report.js")
    environment.globals |= {
        "report": report, "counted": texts.counted, "findings_at": lambda n, places: texts.text(counted_findings(n, places)),
        "said": {name: texts.text(text) for name, text in SHOWN.items()},
        "policy": page_policy(style, script), "style": Markup(style),
        "script": Markup(script),
    }  # fmt: skip
    return environment


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _index(report: Report, rules: RuleTexts) -> dict[str, Any]:
    texts = catalogue(report.language)
    explained = [(rule, reasons) for rule, reasons in rules if rule.anchor]
    return {
        "title": texts.text("tf2npu report"),
        "headline": told(texts.text(report.headline)),
        "verdict": texts.text(_verdict(report)),
        "references": texts.text(sentence(report)),
        "levels": report.levels(),
        "statuses": report.statuses(),
        "groups": _groups(report, rules),
        "apis": _apis(report),
        "verdicts": [verdict.value for verdict in Verdict],
        "files": [_file_row(file) for file in report.files],
        "rules": explained,
        "anchors": {rule.id: rule.anchor for rule, _ in explained},
        "runs": list(run_page.runs(report, texts, _site)),
        "check": _check(report.check, texts) if report.check else None,
    }


def _check(check: check_section.CheckDocument, texts: Catalogue) -> dict[str, Any]:
    """What the index page says of a check: a sentence, and a row for each mode."""
    rows = [
        {
            "mode": mode["mode"], "verdict": texts.text(check_section.verdict(mode)),
            "is_wrong": mode["verdict"] != "agrees", "first": check_section.first_difference(mode),
            "change": texts.text(check_section.least_change(mode)),
        }
        for mode in check["modes"]
    ]  # fmt: skip
    return {"sentence": texts.text(check_section.sentence(check)), "rows": rows}


def _verdict(report: Report) -> str:
    left = [[f for n, f in enumerate(file.findings) if n not in file.known and label_of_work(file, f)] for file in report.files]
    n_failed = sum(1 for file in report.files if file.has_failed)
    known = [f"{_counted(report.n_known, 'finding')} known from the baseline"] if report.n_known else []
    if not any(left) and not n_failed:
        nothing = "Nothing is left to do in what was understood" if numbers(report)["unknown"] else "Nothing is left to do"
        return "; ".join([nothing, *known]) + "."
    n_files, found = sum(1 for of_file in left if of_file), [finding for of_file in left for finding in of_file]
    counted = counted_findings(len(found), n_places(found))
    work = [f"{counted} in {_counted(n_files, 'file')} for a person to look at"] if n_files else []
    failed = [f"{_counted(n_failed, 'file')} failed"] if n_failed else []
    return "; ".join([*failed, *work, *known]) + "."


def _groups(report: Report, rules: RuleTexts) -> list[Group]:
    """The work that is left by reason: failed files, then unsupported, then manual; the largest group first."""
    groups: dict[tuple[str, RuleFacts], Group] = {}
    for file in report.files:
        for number, finding in enumerate(file.findings, 1):
            label = "" if number - 1 in file.known else label_of_work(file, finding)
            if label:
                facts = rules.of(finding)
                group = groups.setdefault((label, facts), Group(label, facts))
                group.sites.append(_site(file, finding, number))
    return sorted(groups.values(), key=lambda g: (LABELS.index(g.label), -len(g.sites), g.facts.id, g.facts.why))


def _site(file: FileReport, finding: Finding, number: int) -> Site:
    page = page_name(file.path) if file.has_page else ""
    message, elsewhere = other_places(finding.message)
    others = tuple(Site("", f"{page}#L{row_of(file, *where)}", line=shown_line(*where)) for where in elsewhere if page)
    href = f"{page}#f{number}" if page else ""
    return Site(
        place(file.path, finding),
        href,
        finding.api,
        message if others else finding.message,
        str(finding.span.line),
        others,
        n_places([finding]),
    )


def _apis(report: Report) -> list[dict[str, Any]]:
    """A row for each API that the project refers to or a finding names, those used most first."""
    done: dict[str, Counter[Level]] = {}
    first: dict[str, Site] = {}
    for file in report.files:
        for number, finding in enumerate(file.findings, 1):
            if finding.api:
                name = finding.api.replace("()", "")
                done.setdefault(name, Counter())[finding.level] += 1
                first.setdefault(name, _site(file, finding, number))
    pages = {file.path for file in report.files if file.has_page}
    rows = [_api_row(row, done.get(row.name, Counter()), first.get(row.name) or _first_use(row, pages)) for row in report.apis]
    seen = {row.name for row in report.apis}
    rows += [
        _api_row(ApiRow(name, Verdict.UNKNOWN, sum(counts.values()), 0), counts, first[name])
        for name, counts in done.items()
        if name not in seen
    ]
    return sorted(rows, key=lambda row: (-row["count"], row["name"], row["note"]))


def _api_row(row: ApiRow, done: Counter[Level], first: Site) -> dict[str, Any]:
    verdict = row.verdict.value if row.n_files else ""  # only a finding names it: no API of TensorFlow
    return {
        "name": row.name, "count": row.count, "verdict": verdict, "rule": row.rule, "note": row.note,
        "levels": in_order(done), "first": first,
    }  # fmt: skip


def _first_use(row: ApiRow, pages: set[str]) -> Site:
    """The first reference, with the line on its file's page; of a notebook the page."""
    place = row.places[0] if row.places else ""
    path, _, line = place.rpartition(":")
    path, is_cell, _ = path.rpartition(":cell ") if ":cell " in path else (path, "", "")
    href = f"{page_name(path)}{'' if is_cell else f'#L{line}'}" if path in pages else ""
    return Site(place, href)


def _file_row(file: FileReport) -> dict[str, Any]:
    said = [] if file.has_page else [finding.message for finding in file.findings]
    href = page_name(file.path) if file.has_page else ""
    return {"place": file.path, "href": href, "status": file.status.value, "levels": levels_of(file), "said": said}
