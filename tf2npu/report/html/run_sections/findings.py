"""The proofs of the run for findings of the files that it ran, and the host nodes of which no finding speaks."""

from __future__ import annotations

from typing import Any

from tf2npu.report.formats.render_context import View
from tf2npu.report.html.page_types import Section
from tf2npu.report.runs.document import RunDocument
from tf2npu.report.runs.evidence import Proof, State

_MOST_ROWS = 50
"""Findings that a page names of each kind: the list of findings has all."""


def section(view: View, run: RunDocument) -> Section | None:
    """Counts by state; the findings that the run confirms or contradicts; host nodes that no finding speaks of."""
    if "reached_files" not in run:
        return None
    found = [(file, finding, n) for file in view.report.files for n, finding in enumerate(file.findings, 1)]
    proofs = [
        (view.site(file, finding, n), finding.rule, proof)
        for file, finding, n in found
        if (proof := _of(view, run, file, finding))
    ]
    told = [
        {"site": site, "rule": rule, **_shown(view, proof)}
        for site, rule, proof in proofs
        if proof.state is not State.NOT_REACHED
    ]
    told.sort(key=lambda row: row["state"] != State.CONTRADICTED.value)
    new = [_new(view, entry) for entry in run.get("host_lines", ()) if entry["finding"] is None]
    values = {
        "counts": {state.value: sum(1 for _, _, proof in proofs if proof.state is state) for state in State},
        "rows": told[:_MOST_ROWS], "n_more": max(0, len(told) - _MOST_ROWS),
        "new": new[:_MOST_ROWS], "n_new": len(new),
    }  # fmt: skip
    return Section("findings", view.texts.text("Findings in this run"), values)


def _of(view: View, run: RunDocument, file: Any, finding: Any) -> Proof | None:
    proof = view.proofs.of(file, finding)
    return proof if proof is not None and proof.script == run["script"] else None


def _shown(view: View, proof: Proof) -> dict[str, str]:
    return {"state": proof.state.value, "text": view.texts.text(proof.text)}


def _new(view: View, entry: Any) -> dict[str, Any]:
    at = entry["at"]
    place = f"{at['path']}:{at['line']}" if at else entry["place"]
    return {
        "place": place, "href": view.href_of_place(place) if at else "", "count": entry["count"], "example": entry["example"],
        "reason": view.texts.text(entry["reason"]), "is_expected": entry["is_expected"],
    }  # fmt: skip
