"""The explanation of a rule, for formats that readers of other tools see: its page on the web, and its help in Markdown."""

from __future__ import annotations

from functools import lru_cache
from importlib import metadata

from tf2npu.report.formats import rule_list
from tf2npu.report.languages.language import catalogue
from tf2npu.rules.plugins import PLUGIN_IDS

REPOSITORY = "Repository"
"""The entry of `[project.urls]` in pyproject.toml that says where the project lives."""
_LABEL = "Rules"
"""The entry of `[project.urls]` in pyproject.toml that says where docs/generated/rules.md can be read."""


def page_of(rule_id: str) -> str:
    """The address of the rule's section, or "" where the package names no page of rules, or the rule is not on it."""
    page = package_address(_LABEL)
    is_there = page and not rule_id.startswith(PLUGIN_IDS) and rule_id in _ids()
    return f"{page}#{rule_id.lower()}" if is_there else ""


def markdown(rule_id: str, reasons: list[str], language: str) -> str:
    """The reasons, how to tell that it is done, the examples of the rule, and how to read the rest of it."""
    lines = [line for text in (*reasons, *_ways_to_tell(rule_id, reasons, language)) for line in (text, "")]
    for entry in rule_list.entries(rule_id, language):
        if entry["id"] == rule_id:
            lines += rule_list.examples_in_markdown(entry, catalogue(language))
            lines += [f"`tf2npu rules {rule_id}`", ""]
    if page := page_of(rule_id):
        lines += [f"[{rule_id}]({page})", ""]
    return "\n".join(lines).rstrip() + "\n"


def _ways_to_tell(rule_id: str, reasons: list[str], language: str) -> list[str]:
    """Ways to tell that it is done, of the parts that have these reasons, each once."""
    texts = catalogue(language)
    own = [
        parts for entry in rule_list.entries(rule_id, language) if entry["id"] == rule_id for parts in entry["parts"] or [entry]
    ]
    told = [rule_list.told_when_done(part["done_when"], texts) for part in own if part["why"] in reasons]
    return list(dict.fromkeys(filter(None, told)))


@lru_cache(maxsize=1)
def _ids() -> frozenset[str]:
    return frozenset(entry["id"] for entry in rule_list.entries())


def package_address(label: str) -> str:
    """The entry of `[project.urls]`, as the installed package has it; "" of a checkout that nobody installed."""
    try:
        urls = metadata.metadata("tf2npu").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return ""
    named = dict(url.partition(", ")[::2] for url in urls)
    return named.get(label, "")
