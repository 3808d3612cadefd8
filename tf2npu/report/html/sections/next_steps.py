"""The next steps, at most five."""

from __future__ import annotations

from typing import Any

from tf2npu.report.formats.render_context import View
from tf2npu.report.html.decision_cards import addresses
from tf2npu.report.html.page_types import Section
from tf2npu.report.work.next_steps import Step, next_steps


def section(view: View) -> Section | None:
    cards = addresses(view)
    steps = [_step(view, step, cards) for step in next_steps(view.report, view.decisions, view.entries)]
    return Section("next_steps", view.texts.text("Next steps"), {"steps": steps}) if steps else None


def _step(view: View, step: Step, cards: dict[str, str]) -> dict[str, Any]:
    texts, decision = view.texts, step.decision
    if decision is None:
        return {"what": texts.text(step.what), "command": step.command}
    file, finding = decision.sites[0]
    return {
        "command": "",
        "decision": decision,
        "card": cards[decision.id],
        "site": view.site(file, finding, file.findings.index(finding) + 1),
        "scripts": texts.text(_scripts(decision.scripts)),
    }


def _scripts(number: int) -> str:
    if not number:
        return ""
    return "1 script that is run needs it" if number == 1 else f"{number} scripts that are run need it"
