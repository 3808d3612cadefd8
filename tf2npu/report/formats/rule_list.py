"""The rules as text, JSON or Markdown: what `tf2npu rules` prints and the generated documentation holds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from npu_formats.escape import visible
from tf2npu.file_findings import FILE_FINDINGS
from tf2npu.report.languages.language import Catalogue, catalogue, warn_of_english
from tf2npu.rules import Example, Rule, all_rules, rule_parts
from tf2npu.rules.plugins import PLUGIN_IDS

FORMATS = ("text", "json", "md")
MOST_MATCHES = 60
"""The most names that a person is shown of what a rule looks for."""
_SENTENCES = ("title", "what", "why", "done_when")
_WHOLE_FILE = "the file as a whole"


def entries(prefix: str = "", language: str = "en") -> list[dict[str, Any]]:
    """The entry of each rule whose id starts with `prefix`, sorted by id."""
    texts = catalogue(language)
    found = _entries(prefix)
    if language != "en":
        for entry in found:
            if entry["id"].startswith(PLUGIN_IDS) and not all(texts.has(entry[name]) for name in _SENTENCES):
                warn_of_english(entry["id"], language)
    return [_translated(entry, texts) for entry in found]


def _translated(entry: dict[str, Any], texts: Catalogue) -> dict[str, Any]:
    parts = [{**part, **{name: texts.text(part[name]) for name in _SENTENCES if name in part}} for part in entry["parts"]]
    return {**entry, **{name: texts.text(entry[name]) for name in _SENTENCES}, "parts": parts}


def _entries(prefix: str) -> list[dict[str, Any]]:
    found = [_of_rule(rule) for rule in all_rules()]
    nothing: dict[str, Any] = {"matches": [_WHOLE_FILE], "source": "", "examples": [], "parts": []}
    found += [
        {"id": n.id, "title": n.title, "what": "", "why": n.why, "done_when": n.done_when, **nothing} for n in FILE_FINDINGS
    ]
    return sorted((entry for entry in found if entry["id"].startswith(prefix)), key=lambda entry: entry["id"])


def render(found: Sequence[dict[str, Any]], chosen: str, *, in_full: bool, language: str = "en") -> str:
    """The entries as text. in_full: with why, source and examples (JSON and Markdown always are).

    language: of what stands around them; they are in theirs already.
    """
    texts = catalogue(language)
    if chosen == "json":
        return json.dumps(list(found), indent=1, ensure_ascii=False) + "\n"
    if chosen == "md":
        return f"# {texts.text('Rules')}\n\n" + "\n".join(_markdown(entry, texts) for entry in found)
    if in_full:
        return "\n".join(_explained(entry, texts) for entry in found)
    return "".join(f"{entry['id']}  {entry['title']}\n" for entry in found)


def _of_rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "title": rule.title,
        "what": rule.what,
        "why": rule.why,
        "done_when": rule.done_when,
        "matches": list(rule.matches),
        "source": rule.source,
        "examples": [_of_example(example) for example in rule.examples],
        "parts": [_of_part(part) for part in rule_parts() if part.id == rule.id],
    }


def _of_part(part: Rule) -> dict[str, str]:
    return {"name": part.name, "what": part.what, "why": part.why, "done_when": part.done_when}


def _of_example(example: Example) -> dict[str, str]:
    found = {"before": example.before, "after": example.after, "note": example.note}
    return {**found, "level": example.level, "write": example.write}


def _explained(entry: dict[str, Any], texts: Catalogue) -> str:
    lines = [f"{entry['id']}  {entry['title']}", ""]
    lines += [text for told in said_of_parts(entry, texts) for text in told if text]
    lines += ["", _matches(entry, "{}", texts)] if entry["matches"] else []
    lines += [texts.text(f"Source: {entry['source']}")] if entry["source"] else []
    for example in entry["examples"]:
        lines += ["", *_example_lines(example, texts)]
    return "\n".join(lines) + "\n"


def said_of_parts(entry: dict[str, Any], texts: Catalogue) -> list[tuple[str, str, str]]:
    """The texts of a rule: what it does, why, and how to tell that it is done.

    Once for each reason that a part of it has, with all that is done for this reason; the last is empty for a reason that
    asks nothing of a person.
    """
    done: dict[tuple[str, str], dict[str, None]] = {}
    for part in entry["parts"] or [entry]:
        done.setdefault((part["why"], part["done_when"]), {})[part["what"]] = None
    return [(" ".join(filter(None, whats)), why, told_when_done(when, texts)) for (why, when), whats in done.items()]


def told_when_done(done_when: str, texts: Catalogue) -> str:
    """The sentence with what stands in front of it; "" for none."""
    return texts.text(f"Done when: {done_when}") if done_when else ""


def _matches(entry: dict[str, Any], form: str, texts: Catalogue) -> str:
    """A line, for people, with the names that a rule looks for: of hundreds of names the first ones."""
    names = entry["matches"]
    shown = ", ".join(form.format(texts.text(name) if name == _WHOLE_FILE else name) for name in names[:MOST_MATCHES])
    left = len(names) - MOST_MATCHES
    more = f" and {left} more (`tf2npu rules {entry['id']} --format json` has all)" if left > 0 else ""
    return texts.text(f"Matches: {shown}{more}")


def _example_lines(example: dict[str, str], texts: Catalogue) -> list[str]:
    note = f"    ({visible(example['note'])})" if example["note"] else ""
    after = example["write"] or example["after"]
    said = (
        ["    " + texts.text(f"(reported as {example['level']})")]
        if example["level"] and example["before"] == example["after"]
        else []
    )
    if example["before"] == after:
        return [f"  = {line}" for line in example["before"].split("\n")] + said + ([note] if note else [])
    removed = [f"  - {line}" for line in example["before"].split("\n")]
    return removed + [f"  + {line}" for line in after.split("\n")] + said + ([note] if note else [])


def _markdown(entry: dict[str, Any], texts: Catalogue) -> str:
    lines = [f"## {entry['id']}", "", f"**{entry['title']}**", ""]
    for told in said_of_parts(entry, texts):
        lines += [" ".join(filter(None, told)), ""]
    lines += [_matches(entry, "`{}`", texts), ""] if entry["matches"] else []
    lines += [texts.text(f"Source: {entry['source']}"), ""] if entry["source"] else []
    return "\n".join([*lines, *examples_in_markdown(entry, texts)])


def examples_in_markdown(entry: dict[str, Any], texts: Catalogue) -> list[str]:
    """The examples of a rule as lines of Markdown, a fenced block each."""
    lines: list[str] = []
    for example in entry["examples"]:
        if example["write"]:
            body = [f"-{line}" for line in example["before"].split("\n")]
            written = [f"+{line}" for line in example["write"].split("\n")]
            lines += [texts.text(f"Reported as {example['level']}; write"), *_fenced("diff", "\n".join([*body, *written]))]
        elif example["level"] and example["before"] == example["after"]:
            lines += [texts.text(f"Reported as {example['level']}"), *_fenced("python", example["before"])]
        elif example["before"] == example["after"]:
            lines += [
                texts.text(f"Stays{': ' + example['note'] if example['note'] else ''}"),
                *_fenced("python", example["before"]),
            ]
        else:
            body = [f"-{line}" for line in example["before"].split("\n")]
            lines += _fenced("diff", "\n".join([*body, *(f"+{line}" for line in example["after"].split("\n"))]))
    return lines


def _fenced(language: str, text: str) -> list[str]:
    return [f"```{language}", text, "```", ""]
