"""The report as web pages: an overview, lists, and the pages of files, with their style sheet, scripts and data.

Works without scripts and from a file:// address; every text of the user's is escaped, and the pages forbid themselves
any network access and any script and style but the report's own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from npu_formats.escape import ODD, visible
from tf2npu.report.formats.render_context import View, page_name
from tf2npu.report.formats.rule_list import told_when_done
from tf2npu.report.html.code_table import seen, told
from tf2npu.report.html.content_policy import FOLDER_POLICY
from tf2npu.report.html.legend import legend
from tf2npu.report.html.listing import shortened
from tf2npu.report.html.one_file import file_page
from tf2npu.report.html.page_types import Page
from tf2npu.report.html.pages import PAGES
from tf2npu.report.languages.language import catalogue, template_in
from tf2npu.report.model.counts import SHOWN, counted_findings
from tf2npu.report.model.report import FileReport, Report

_TEMPLATES = Path(__file__).parents[1] / "htmlfiles"
_HELP = "help.js"
"""The one asset that is made: it holds texts in the reader's language."""
NAMED = {
    "index.html": "Overview", "decisions.html": "Decisions", "findings.html": "Findings", "files.html": "Files",
    "scripts.html": "Scripts",
    "apis.html": "APIs", "rules.html": "Rules", "runs.html": "Runs",
}  # fmt: skip
"""The pages that the navigation names, where a report has them."""
_BESIDE = {
    "check.html": "Check", "prediction.html": "Predicted step", "profile.html": "Measured step",
    "comparison.html": "Steps compared",
}  # fmt: skip
"""Pages of other commands in the folder of a report, the same way."""


class Pages:
    """The files of one report's pages, by number: assets, the pages of the report, the pages of files."""

    def __init__(self, report: Report) -> None:
        self._view = View(report)
        self._assets = _assets()
        self._own = [page for make in PAGES for page in make(self._view)]
        self._parts = [(file, n) for file in report.files if file.has_page for n in range(1, 1 + len(self._view.parts(file)))]
        self._environment = _environment(report, [page.name for page in self._own])

    def __len__(self) -> int:
        return len(self._assets) + len(self._own) + len(self._parts)

    def texts(self, numbers: Iterable[int] | None = None) -> Iterator[tuple[str, str]]:
        """(name, text) of the files with these numbers, or of all."""
        for number in range(len(self)) if numbers is None else numbers:
            yield self._text(number)

    def _text(self, number: int) -> tuple[str, str]:
        if number < len(self._assets):
            name = self._assets[number]
            return f"assets/{name}", self._help() if name == _HELP else asset(f"assets/{name}")
        number -= len(self._assets)
        page = self._own[number] if number < len(self._own) else self._of(*self._parts[number - len(self._own)])
        context = page.context()
        if not page.template:
            return page.name, context["text"]
        return page.name, self._environment.get_template(page.template).render(page=page, root=page.root, **context)

    def _help(self) -> str:
        """The dialog that explains the keys, once for all pages."""
        return f"window.tf2npuHelp = {json.dumps(self._environment.get_template('help.html').render())};\n"

    def _of(self, file: FileReport, part: int) -> Page:
        return Page(page_name(file.path, part), "pages/file.html", lambda: file_page(self._view, file, part))


@lru_cache(maxsize=1)
def _assets() -> list[str]:
    return sorted([_HELP, *(path.name for path in (_TEMPLATES / "assets").iterdir() if path.suffix in (".css", ".js"))])


@lru_cache(maxsize=64)
def asset(name: str) -> str:
    """The text of a style sheet, script or template."""
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _environment(report: Report, names: list[str]) -> Environment:
    loader = FunctionLoader(lambda name: template_in(asset(name), report.language))
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    texts = catalogue(report.language)
    environment.filters |= {
        "seen": seen, "told": told, "plain": visible, "word": texts.word, "shortened": partial(shortened, texts=texts),
        "done_when": partial(told_when_done, texts=texts),
    }  # fmt: skip
    environment.globals |= _globals(report, names)
    shared = environment.get_template("legend.html").render(legend=legend(texts))
    environment.globals["legend"] = Markup(shared)  # made once: it is the same on each of thousands of pages
    return environment


def _globals(report: Report, names: list[str]) -> dict[str, Any]:
    texts = catalogue(report.language)
    return {
        "report": report, "counted": texts.counted, "findings_at": lambda n, places: texts.text(counted_findings(n, places)),
        "said": {name: texts.text(text) for name, text in SHOWN.items()}, "policy": Markup(FOLDER_POLICY),
        "navigation": [(name, texts.text(NAMED[name])) for name in names if name in NAMED]
        + [(name, texts.text(title)) for name, title in _BESIDE.items() if name in report.beside],
        "odd": _odd_in_scripts(),
    }  # fmt: skip


def _odd_in_scripts() -> str:
    """The class of characters that are shown as code points, as a regular expression of the scripts, in ASCII."""
    inside = "".join("-" if one == "-" else f"\\u{{{ord(one):x}}}" for one in ODD.pattern[1:-1])
    return f"[{inside}]"
