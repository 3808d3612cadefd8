"""The results of `tf2npu check`: a row for each precision mode."""

from __future__ import annotations

from tf2npu.report import check_section
from tf2npu.report.page import Section
from tf2npu.report.view import View


def section(view: View) -> Section | None:
    check, texts = view.report.check, view.texts
    if not check:
        return None
    rows = [
        {
            "mode": mode["mode"], "verdict": texts.text(check_section.verdict(mode)),
            "is_wrong": mode["verdict"] != "agrees", "first": check_section.first_difference(mode),
            "change": texts.text(check_section.least_change(mode)),
        }
        for mode in check["modes"]
    ]  # fmt: skip
    return Section(
        "check",
        texts.text("Check of the accuracy"),
        {"sentences": [texts.text(said) for said in check_section.sentences(check)], "rows": rows},
    )
