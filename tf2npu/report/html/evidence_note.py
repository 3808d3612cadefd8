"""The note under a finding that says what a run shows of it."""

from __future__ import annotations

from markupsafe import Markup

from tf2npu.report.html.code_table import seen, told
from tf2npu.report.languages.language import Catalogue
from tf2npu.report.runs.evidence import Proof

_NOTE = Markup(
    '<p><span class="badge proof-{kind}">{word}</span> {text} <span class="soft small">{run} <bdi>{script}</bdi></span></p>'
)


def proof_html(proof: Proof | None, texts: Catalogue) -> Markup:
    """A line with the state, the evidence and the script that was run; nothing where no run says anything."""
    if proof is None:
        return Markup("")
    state = proof.state.value
    return _NOTE.format(
        kind=state.replace(" ", "-"), word=texts.word(state), text=told(texts.text(proof.text)),
        run=texts.text("Run:"), script=seen(proof.script),
    )  # fmt: skip
