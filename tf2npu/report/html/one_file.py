"""The page of a file: its findings, in a list and each under its line of the code."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import Any

from markupsafe import Markup

from tf2npu.findings import Finding, Level
from tf2npu.report.formats.render_context import View, page_name, shown_line
from tf2npu.report.formats.rule_list import told_when_done
from tf2npu.report.html.code_table import code_html, seen, told
from tf2npu.report.html.evidence_note import proof_html
from tf2npu.report.languages.language import Catalogue
from tf2npu.report.model.counts import n_places
from tf2npu.report.model.file_parts import n_left_out, n_lines_of, row_of, row_of_note
from tf2npu.report.model.report import WORK_LEVELS, FileReport
from tf2npu.report.model.rule_facts import RuleFacts
from tf2npu.report.work.labels import label_of_work
from tf2npu.rules.engine.repeated_findings import other_places

MOST_LINKS = 20
"""Places that a finding links to; a reader of more looks at the list of findings."""
_MOST_CHARACTERS = 4_000
"""Characters of a sentence or of code to write: longer ones hold data of the user's, and 200 of these make a megabyte."""
_MANY = 5
"""Places of a file from which on one message about all of them is said once."""


def file_page(view: View, file: FileReport, number: int) -> dict[str, Any]:
    """The template values for the page with this number, from 1, of a file."""
    texts, parts = view.texts, view.parts(file)
    part = parts[number - 1]
    notes = [_note(view, file, file.findings[n - 1], n) for n in part.numbers]
    _tell_once(notes)
    _reason_once(notes)
    by_line: dict[int, Markup] = {}
    n_lines = n_lines_of(file)
    for before, note, after in zip([None, *notes], notes, [*notes[1:], None], strict=False):
        line = row_of_note(file, file.findings[note["number"] - 1], n_lines)
        by_line[line] = by_line.get(line, Markup("")) + _note_html(note, _walk(before, after, texts), texts)
    n_missing = n_left_out(parts, n_lines) if len(parts) > 1 or part.last < n_lines else 0
    return {
        "to_do": next((note["id"] for note in notes if note["is_work"]), ""),
        "left_out": texts.text(f"{n_missing} lines without findings are not in this report.") if n_missing else "",
        "file": file, "levels": levels_of(file), "notes": [note for note in notes if not note["first"]],
        "code": code_html(file, part, by_line, texts, view.targets(file)), "number": number, "part": part,
        "neighbours": [name.partition("/")[2] for name in view.neighbours(file)],
        "line_end": line_end(file), "is_whole": len(parts) == 1 and not file.cell_lines,
        "others": [(page_name(file.path, n).partition("/")[2], one) for n, one in enumerate(parts, 1)] if len(parts) > 1 else [],
    }  # fmt: skip


def are_many(places: list[Any]) -> bool:
    return len(places) >= _MANY


def in_order(counts: Counter[Level]) -> dict[str, int]:
    return {level.value: counts[level] for level in Level if counts[level]}


def levels_of(file: FileReport) -> dict[str, int]:
    return in_order(Counter(finding.level for finding in file.findings))


def _tell_once(notes: list[dict[str, Any]]) -> None:
    """Joins notes where many say the same: the first names the places of the others, and these point to it."""
    same: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for note in notes:
        key = (note["rule"], note["level"], note["message"], note["known"])
        same.setdefault(key, []).append(note)
    for alike in same.values():
        if are_many(alike):
            alike[0]["more"] += [{"href": f"#{note['id']}", "line": note["line"]} for note in alike[1:]]
            alike[0]["n_findings"], alike[0]["n_places"] = len(alike), sum(note["n_places"] for note in alike)
            for note in alike[1:]:
                note["first"] = alike[0]


def _reason_once(notes: list[dict[str, Any]]) -> None:
    """A reason stands at the first finding of a page that has it; the others have the way to the page of rules."""
    told: set[str] = set()
    for note in notes:
        note["why"] = "" if note["why"] in told else note["why"]
        told.add(note["why"])


def _note(view: View, file: FileReport, finding: Finding, number: int) -> dict[str, Any]:
    texts = view.texts
    line = f"line {finding.span.line}" if finding.cell is None else f"cell {finding.cell}, line {finding.span.line}"
    facts = view.rules.of(finding)
    known = texts.text(", known from the baseline") if number - 1 in file.known else ""
    message, elsewhere = other_places(finding.message)
    return {
        "id": view.anchors(file)[number - 1],
        "number": number,
        "where": texts.text(line) + known,
        "known": known,
        "is_work": not known and bool(label_of_work(file, finding)),
        "line": finding.span.line,
        "more": [
            {"href": view.page_of_line(file, row_of(file, *where)).partition("/")[2], "line": shown_line(*where)}
            for where in elsewhere
        ],
        "first": None,
        "n_findings": 1,
        "n_places": n_places([finding]),
        "level": finding.level.value,
        "rule": finding.rule,
        "rule_link": _rule_link(facts),
        "title": facts.title,
        "why": facts.why,
        "done_when": told_when_done(facts.done_when, texts) if finding.level in WORK_LEVELS else "",
        "api": finding.api,
        "message": _shortened(message, texts),
        "to_write": _shortened(finding.after, texts) if finding.level is not Level.FIXED else "",
        "proof": proof_html(view.proofs.of(file, finding), texts),
    }


def _shortened(text: str, texts: Catalogue) -> str:
    n_more = len(text) - _MOST_CHARACTERS
    return f"{text[:_MOST_CHARACTERS]} ... ({texts.text(f'{n_more} characters more in report.json')})" if n_more > 0 else text


_SHORT_NOTE = Markup(
    '<div class="note {level}" id="{id}" role="note" data-rule="{rule_id}">{walk}'
    '<p><span class="badge {level}">{level_word}</span> {rule} '
    '<span class="soft small">{where}{api}</span> {as_at} <a href="#{first_id}">{first_where}</a></p>{proof}{code}</div>'
)
_NOTE = Markup(
    '<div class="note {level}" id="{id}" role="note" data-rule="{rule_id}">{walk}'
    '<p><span class="badge {level}">{level_word}</span> {rule} '
    '<strong>{title}</strong> <span class="soft small">{where}{api}</span></p><p>{message}{more}</p>{proof}{code}{why}</div>'
)


def _note_html(note: dict[str, Any], walk: Markup, texts: Catalogue) -> Markup:
    """A finding as it stands under its line."""
    to_write, reasons = note["to_write"], [text for text in (note["why"], note["why"] and note["done_when"]) if text]
    code = Markup("<p>{}</p><pre>{}</pre>").format(texts.text("Write:"), _seen_lines(to_write)) if to_write else ""
    said = Markup("").join(Markup("<p>{}</p>").format(told(text)) for text in reasons)
    why = Markup("<details><summary>{}</summary>{}</details>").format(texts.text("Why"), said) if said else ""
    shown: dict[str, Any] = {name: told(note[name]) for name in ("title", "where", "message")} | {"rule": note["rule_link"]}
    api = Markup(" · <code>{}</code>").format(seen(note["api"])) if note["api"] else ""
    shown |= {
        "level": note["level"],
        "rule_id": note["rule"],
        "level_word": texts.word(note["level"]),
        "id": note["id"],
        "walk": walk,
        "api": api,
        "code": code,
        "proof": note["proof"],
    }
    if (first := note["first"]) is not None:
        as_at = texts.text("As said at")
        return _SHORT_NOTE.format(as_at=as_at, first_id=first["id"], first_where=told(first["where"]), **shown)
    return _NOTE.format(why=why, more=_links(note["more"], texts), **shown)


def _links(places: list[dict[str, Any]], texts: Catalogue) -> Markup:
    """The other places of which a note speaks."""
    shown = places[:MOST_LINKS]
    links = Markup("").join(Markup(' <a href="{}">{}</a>').format(place["href"], place["line"]) for place in shown)
    more = texts.text(f" and {len(places) - MOST_LINKS} more") if len(places) > MOST_LINKS else ""
    counted = texts.counted(len(places) + 1, "place")
    return Markup(' <span class="soft small">{}:{}{}</span>').format(counted, links, more) if places else Markup("")


@lru_cache(maxsize=1024)
def _rule_link(facts: RuleFacts) -> Markup:
    """The id of a rule, as a link to where it is explained."""
    shown = Markup("<code>{}</code>").format(seen(facts.id))
    return Markup('<a href="../rules.html#{}">{}</a>').format(facts.anchor, shown) if facts.anchor else shown


def _seen_lines(text: str) -> Markup:
    return Markup("\n").join(seen(line) for line in re.split(r"\r\n|\r|\n", text))


def _walk(before: dict[str, Any] | None, after: dict[str, Any] | None, texts: Catalogue) -> Markup:
    """Links to the findings of this page before and after one."""
    link = Markup('<a href="#{}">{}</a>')
    back = link.format(before["id"], texts.text("previous")) if before else Markup("")
    on = link.format(after["id"], texts.text("next finding")) if after else Markup("")
    gap = Markup(" · ") if back and on else Markup("")
    return Markup('<span class="walk">{}{}{}</span>').format(back, gap, on) if back or on else Markup("")


def line_end(file: FileReport) -> str:
    """The line ending of a file, for a patch: "lf", "crlf", or "" where they do not all end alike."""
    source = file.source or ""
    n_crlf, n_lf, n_cr = source.count("\r\n"), source.count("\n"), source.count("\r")
    if n_crlf == n_lf == n_cr and n_crlf:
        return "crlf"
    return "" if n_cr or not source.endswith("\n") else "lf"
