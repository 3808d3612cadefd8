"""The rules that found something, each with its reasons, an example, and how to silence it."""

from __future__ import annotations

from collections.abc import Iterator

from tf2npu.report.page import Page
from tf2npu.report.rule_page import explained
from tf2npu.report.view import View


def pages(view: View) -> Iterator[Page]:
    rules = [(rule, reasons) for rule, reasons in view.rules if rule.anchor]
    if rules:
        language = view.report.language
        yield Page(
            "rules.html",
            "pages/rules.html",
            lambda: {"rules": [explained(rule, reasons, view.texts, language) for rule, reasons in rules]},
        )
