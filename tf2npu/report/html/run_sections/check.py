"""The results of `tf2npu check`: a row for each precision mode."""

from __future__ import annotations

from tf2npu.report.formats.render_context import View
from tf2npu.report.html.page_types import Section
from tf2npu.report.runs import check_texts


def section(view: View) -> Section | None:
    check, texts = view.report.check, view.texts
    if not check:
        return None
    rows = [
        {
            "mode": mode["mode"], "verdict": texts.text(check_texts.verdict(mode)),
            "is_wrong": mode["verdict"] != "agrees", "first": check_texts.first_difference(mode),
            "change": texts.text(check_texts.least_change(mode)),
        }
        for mode in check["modes"]
    ]  # fmt: skip
    return Section(
        "check",
        texts.text("Check of the accuracy"),
        {"sentences": [texts.text(said) for said in check_texts.sentences(check)], "rows": rows},
    )
