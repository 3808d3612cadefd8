"""The rules that found something, each with its reasons, an example, and how to silence it."""

from __future__ import annotations

from collections.abc import Iterator

from tf2npu.report.formats.render_context import View
from tf2npu.report.html.one_rule import explained
from tf2npu.report.html.page_types import Page


def pages(view: View) -> Iterator[Page]:
    rules = [(rule, reasons) for rule, reasons in view.rules if rule.anchor]
    if rules:
        language = view.report.language
        yield Page(
            "rules.html",
            "pages/rules.html",
            lambda: {"rules": [explained(rule, reasons, view.texts, language) for rule, reasons in rules]},
        )
