"""The rules that found something, each with its reasons."""

from __future__ import annotations

from collections.abc import Iterator

from tf2npu.report.page import Page
from tf2npu.report.view import View


def pages(view: View) -> Iterator[Page]:
    explained = [(rule, reasons) for rule, reasons in view.rules if rule.anchor]
    if explained:
        yield Page("rules.html", "pages/rules.html", lambda: {"rules": explained})
