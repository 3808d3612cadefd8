"""Findings and places, counted under their own names: one finding may speak of several places of its file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from tf2npu.findings import Finding
from tf2npu.report.languages.language import LANGUAGES, catalogue, counted
from tf2npu.rules.engine.repeated_findings import TAIL
from tf2npu.rules.run_findings import SEEN

SHOWN = {
    "findings": "# of # findings shown", "places": "# of # findings at # of # places shown", "apis": "# of # APIs shown",
    "files": "# of # files shown",
}  # fmt: skip
"""Sentences of the tools above a list on what it shows; the page's script fills in the numbers."""


def n_places(findings: Iterable[Finding]) -> int:
    """Places that findings speak of, in whichever language they do."""
    return sum(_n_places(finding.message) for finding in findings)


def _n_places(message: str) -> int:
    return next((int(told[1]) for pattern in _tails() if (told := pattern.search(message))), 1)


def without_places(message: str) -> str:
    """A message, in whichever language, without the other places of its file that it names."""
    found = [told.start() for pattern in _tails() if (told := pattern.search(message))]
    return message[: min(found)].rstrip() if found else message


def without_count(message: str) -> str:
    """A message, in whichever language, without how often runs have seen what it says."""
    found = [told.start() for pattern in _counts() if (told := pattern.search(message))]
    return message[: min(found)].rstrip() if found else message


@lru_cache(maxsize=1)
def _counts() -> tuple[re.Pattern[str], ...]:
    """Patterns for the end of a message that tells a number of runs, one for each language."""
    templates = [catalogue(language).template(SEEN) for language in LANGUAGES]
    return tuple(re.compile(re.escape(template).replace(r"\{\}", r"\d+ ?\w+") + r"\Z") for template in templates)


@lru_cache(maxsize=1)
def _tails() -> tuple[re.Pattern[str], ...]:
    """Patterns for the end of a message that speaks of several places, one for each language."""
    templates = [catalogue(language).template(TAIL) for language in LANGUAGES]
    return tuple(re.compile(re.escape(t).replace(r"\{\}", r"(\d+)", 1).replace(r"\{\}", ".*") + r"\Z") for t in templates)


def in_language(message: str, language: str) -> str:
    """A message in a language: what it says, and its places or its count, which are no part of any text that it says."""
    texts = catalogue(language)
    told = _tails()[0].search(message) or _counts()[0].search(message)
    said = message[: told.start()].rstrip() if told is not None else message
    return texts.text(said) + (texts.text(told.group()) if told is not None else "")


def counted_findings(n_findings: int, places: int) -> str:
    """Findings, and their places where these are not as many."""
    findings = counted(n_findings, "finding")
    return findings if places == n_findings else f"{findings} at {places} places"
