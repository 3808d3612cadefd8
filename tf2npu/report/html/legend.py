"""The meaning of a report's words: levels, states, verdicts, where verdicts come from, and a tour for a first visit."""

from __future__ import annotations

from dataclasses import dataclass

from tf2npu.api_support.table import table
from tf2npu.findings import Level, Status, Verdict
from tf2npu.report.languages.language import Catalogue


@dataclass(frozen=True)
class Meaning:
    """A word as data have it, and a sentence that says what it means."""

    word: str
    said: str


LEVELS = (
    Meaning(Level.UNSUPPORTED.value, "No way to the NPU is known for it as it is written: a person replaces it."),
    Meaning(Level.MANUAL.value, "A person must change or decide something."),
    Meaning(Level.FIXED.value, "The tool changes it; nothing is left to do."),
    Meaning(Level.INFO.value, "It runs as it is; this is good to know."),
    Meaning(Level.SKIPPED.value, "It was not looked at, because a comment, a setting or the kind of file says so."),
)
"""Levels of findings, those that need a person first.  Defined in docs/report.md."""
STATES = (
    Meaning(Status.CONVERTED.value, "At least one place was changed."),
    Meaning(Status.UNCHANGED.value, "The file was looked at, and nothing was to be changed."),
    Meaning(Status.COPIED.value, "The file has nothing to do with TensorFlow or PyTorch and was copied."),
    Meaning(Status.CONFLICT.value, "A person changed it in the output: it is kept, and the new version stands beside it."),
    Meaning(Status.FAILED.value, "It could not be read, parsed or written."),
)
"""States of files."""
VERDICTS = (
    Meaning(Verdict.RUNS.value, "It runs on the NPU as it is."),
    Meaning(Verdict.CONVERTED.value, "A rule of the tool rewrites it."),
    Meaning(Verdict.HOST.value, "The host's processor does it, which is where it belongs."),
    Meaning(Verdict.MANUAL.value, "A person must change or decide something."),
    Meaning(Verdict.UNSUPPORTED.value, "No way to the NPU is known for it, or TensorFlow 1.15 does not have it."),
    Meaning(Verdict.UNKNOWN.value, "Nobody promises anything, or the name could not be resolved."),
)
"""Verdicts on an API and their meanings."""
TOUR = (
    "A finding is what the tool says of one place of your code; a decision is a question whose answer settles all places alike.",
    "Begin with the decisions: each says what to do, why, and how to tell that it is done.",
    "The page of a file shows the old and the new text beside each other, with each finding at its line.",
    "Then convert again and run the result with `tf2npu run --report`: the report tells what ran on the simulated device.",
)
"""Introduction for a reader who sees a report for the first time."""
_GROUPS = (("Levels of findings", LEVELS), ("States of files", STATES), ("Verdicts on APIs", VERDICTS))
_SOURCES = {
    "decision": "A decision of this tool, since the published list does not tell.",
    "TensorFlow 1.15": "TensorFlow 1.15 has it, and the published list does not forbid it.",
    "TensorFlow 2.15": "TensorFlow 2 has it, and 1.15 does not.",
    "published list: supported": "The vendor's published list: supported.",
    "published list: deprecated": "The vendor's published list: deprecated.",
    "published list: under analysis": "The vendor's published list: under analysis.",
    "published list: unsupported": "The vendor's published list: not supported.",
    "published list: unsupported harmless": "The vendor's published list: not supported, and without effect on a training.",
}
"""Sources of the table of APIs -> what they mean."""


def legend(texts: Catalogue) -> list[tuple[str, list[Meaning]]]:
    """The groups of words with their headings, in the reader's language; the words stay as data have them."""
    return [
        (texts.text(title), [Meaning(meaning.word, texts.text(meaning.said)) for meaning in group]) for title, group in _GROUPS
    ]


def tour(texts: Catalogue) -> list[str]:
    """Four sentences in the reader's language."""
    return [texts.text(sentence) for sentence in TOUR]


def source_of_verdict(name: str) -> str:
    """The source of the verdict on an API, in English; "" for a name that the table does not have."""
    api = table().find(name)
    if api is None:
        return ""
    if api.source.startswith("rule "):
        return f"The rule {api.source.removeprefix('rule ')} looks for it."
    if api.source.startswith("as "):
        return f"That of {api.source.removeprefix('as ')}."
    return _SOURCES[api.source]
