"""The decisions that settle most, with the way to all of them."""

from __future__ import annotations

from tf2npu.report.formats.render_context import Site, View
from tf2npu.report.html.decision_cards import addresses
from tf2npu.report.html.page_types import Section
from tf2npu.report.work.decisions import Decision

_SHOWN = 10
"""Decisions that the first page names; the page of decisions has all."""


def section(view: View) -> Section:
    found = view.decisions
    cards = addresses(view)
    rows = [{"decision": one, "card": cards[one.id], "site": _first(view, one)} for one in found[:_SHOWN]]
    return Section("left_to_do", view.texts.text("Left to do"), {"rows": rows, "n_more": max(0, len(found) - _SHOWN)})


def _first(view: View, decision: Decision) -> Site:
    file, finding = decision.sites[0]
    return view.site(file, finding, file.findings.index(finding) + 1)
