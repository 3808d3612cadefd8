"""One rule on the page of rules: why, how to tell that it is done, before and after, how to silence it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tf2npu.report.formats import rule_list
from tf2npu.report.formats.rule_help import page_of
from tf2npu.report.languages.language import Catalogue
from tf2npu.report.model.rule_facts import RuleFacts


@dataclass(frozen=True)
class Said:
    """The texts of a rule for one reason, in the reader's language; done_when is empty where nothing is asked of a person."""

    what: str
    why: str
    done_when: str


@dataclass(frozen=True)
class ExplainedRule:
    """A rule that found something.

    said: of the parts that did.  before, after: an example, or "" where the rule has none.  page: its address on the web,
    or "".
    """

    facts: RuleFacts
    said: tuple[Said, ...]
    before: str
    after: str
    page: str

    @property
    def comment(self) -> str:
        """The comment that silences it on a line."""
        return f"# tf2npu: ignore[{self.facts.id}]"

    @property
    def setting(self) -> str:
        """The line under [tool.tf2npu] that silences it in a project."""
        return f'ignore = ["{self.facts.id}"]'


def explained(facts: RuleFacts, reasons: list[str], texts: Catalogue, language: str) -> ExplainedRule:
    """A rule as the page shows it.  reasons: of the parts that found something, in the language."""
    entry = next((entry for entry in rule_list.entries(facts.id, language) if entry["id"] == facts.id), None)
    if entry is None:
        return ExplainedRule(facts, tuple(Said("", reason, "") for reason in reasons), "", "", page_of(facts.id))
    told = [Said(*one) for one in rule_list.said_of_parts(entry, texts)]
    own = tuple(one for one in told if one.why in reasons) or tuple(told)
    return ExplainedRule(facts, own, *_example(entry), page_of(facts.id))


def _example(entry: dict[str, Any]) -> tuple[str, str]:
    """The first example that changes, or that a person changes."""
    changed = [(one["before"], one["after"]) for one in entry["examples"] if one["before"] != one["after"]]
    written = [(one["before"], one["write"]) for one in entry["examples"] if one["write"]]
    return next(iter([*changed, *written]), ("", ""))
