"""The report as Markdown for a comment on a pull request: what is to decide first, folded, and never more than fits.

Source: GitHub refuses a comment of more than 65,536 characters; GitHub Flavored Markdown, versions 0.29 and later.
"""

from __future__ import annotations

from collections.abc import Iterator

from tf2npu.findings import Level
from tf2npu.report.formats.as_text import place
from tf2npu.report.formats.markdown_text import code, fenced, in_tag, prose, shortened
from tf2npu.report.formats.rule_list import told_when_done
from tf2npu.report.languages.language import catalogue
from tf2npu.report.model.apis import sentence
from tf2npu.report.model.counts import counted_findings, n_places
from tf2npu.report.model.report import Report
from tf2npu.report.model.rule_facts import RuleTexts
from tf2npu.report.runs.check_texts import lines as check_lines
from tf2npu.report.runs.evidence import Proofs, in_words
from tf2npu.report.runs.run_texts import lines as run_lines
from tf2npu.report.work.decisions import Decision, decisions, n_findings

MOST_CHARACTERS = 60_000
"""Characters of the whole text: below GitHub's 65,536, so that a job can put something of its own above it."""
_LEFT_FOR_THE_END = 600
"""Characters that stay free for the sentence that says what was cut."""
_MOST_OF_A_TEXT = 1_000
"""Characters of one sentence or one line of code: longer ones hold data of the user's."""
_MOST_OF_A_PATH = 300
_MOST_LINES = 30
"""Lines of code that are shown of a place: a call seldom has more."""
_MOST_PLACES = 20
"""Places that a decision lists: more are not read in a comment."""


def render(report: Report) -> str:
    """The report as Markdown of at most MOST_CHARACTERS; what does not fit is counted at the end."""
    texts, rules = catalogue(report.language), RuleTexts(report)
    found, proofs = decisions(report, rules), Proofs(report)
    text, n_shown = _head(report, found), 0
    for decision in found:
        block = _block(report, decision, proofs)
        if not _fits(text, block):
            break
        text, n_shown = text + block, n_shown + 1
    cut = _uncounted(report, found[n_shown:])
    for title, block in _further(report, rules):
        if _fits(text, block):
            text += block
        else:
            cut.append(texts.text(title))
    if cut:
        told = texts.text("Not shown, because a comment has no room for it:")
        text += f"{told} {'; '.join(cut)}. {texts.text('All of it is in `report.json`.')}\n"
    return text


def _fits(text: str, block: str) -> bool:
    return len(text) + len(block) <= MOST_CHARACTERS - _LEFT_FOR_THE_END


def _head(report: Report, found: list[Decision]) -> str:
    """Title, what is left, the first line of the report, and the numbers."""
    texts = catalogue(report.language)
    n_work, places = n_findings(found), sum(decision.n_places for decision in found)
    work = f"{texts.counted(len(found), 'decision')}: {texts.text(counted_findings(n_work, places))}"
    lines = ["## tf2npu", "", f"**{work if found else texts.text('Nothing is left to do.')}**", ""]
    lines += [prose(texts.text(report.headline), _MOST_OF_A_TEXT), ""]
    lines += [f"| {' | '.join(texts.text(name) for name in ('level', 'findings', 'places'))} |", "|---|---|---|"]
    for level, number in report.levels().items():
        told = n_places(finding for _, finding in report.findings() if finding.level.value == level)
        lines += [f"| {texts.text(report.outcome(level))} | {number} | {told} |"] if number else []
    statuses = ", ".join(f"{n} {texts.text(report.outcome(name))}" for name, n in report.statuses().items() if n)
    lines += ["", f"{texts.counted(len(report.files), 'file')}: {statuses or '0'}. {texts.text(sentence(report))}.", ""]
    return "\n".join(lines) + "\n"


def _block(report: Report, decision: Decision, proofs: Proofs) -> str:
    """A decision, folded: what to do, why, the code where it is known, and the places."""
    texts = catalogue(report.language)
    title = f"<b>{in_tag(texts.text(decision.label))}</b> <code>{in_tag(shortened(decision.facts.id, _MOST_OF_A_PATH))}</code>"
    counted = texts.text(counted_findings(len(decision.sites), decision.n_places))
    told = [prose(decision.message or decision.facts.id, _MOST_OF_A_TEXT)]
    told += [prose(decision.facts.why, _MOST_OF_A_TEXT)] if decision.facts.why else []
    told += [prose(told_when_done(decision.facts.done_when, texts), _MOST_OF_A_TEXT)] if decision.facts.done_when else []
    body = [line for text in told for line in (text, "")] + _code_to_write(decision) + _places(report, decision, proofs)
    return _folded(f"{title} {in_tag(decision.facts.title)} ({in_tag(counted)})", body)


def _code_to_write(decision: Decision) -> list[str]:
    """The first place as it is and as it shall be, or the code to write there or beside it, where the report knows that."""
    shown = next((finding for _, finding in decision.sites if finding.after and finding.after != finding.before), None)
    if shown is None:
        return []
    if not shown.replaces:
        return [*fenced("python", [shortened(line, _MOST_OF_A_TEXT) for line in shown.after.splitlines()[:_MOST_LINES]]), ""]
    lines = [f"-{line}" for line in shown.before.splitlines()] + [f"+{line}" for line in shown.after.splitlines()]
    more = [f" ... ({len(lines) - _MOST_LINES})"] if len(lines) > _MOST_LINES else []
    return [*fenced("diff", [shortened(line, _MOST_OF_A_TEXT) for line in lines[:_MOST_LINES]] + more), ""]


def _places(report: Report, decision: Decision, proofs: Proofs) -> list[str]:
    """The first places, each with what a run says of it."""
    texts, lines = catalogue(report.language), []
    for file, finding in decision.sites[:_MOST_PLACES]:
        told = prose(in_words(proofs.of(file, finding), texts), _MOST_OF_A_PATH)
        lines.append(f"- {code(shortened(place(file.path, finding), _MOST_OF_A_PATH))}{f' {told}' if told else ''}")
    left = len(decision.sites) - _MOST_PLACES
    return lines + ([f"- {texts.text(f'and {left} more')}"] if left > 0 else [])


def _further(report: Report, rules: RuleTexts) -> Iterator[tuple[str, str]]:
    """The further blocks, each with a title for where it has no room: what the tool does, runs, and the check."""
    texts = catalogue(report.language)
    if fixed := _fixed(report, rules):
        title = texts.text(report.outcome(Level.FIXED.value))
        head = [f"| {texts.text('rule')} | {texts.text('findings')} |", "|---|---|"]
        yield "fixed", _folded(f"<b>{in_tag(title)}</b>", [*head, *fixed])
    for run in report.runs:
        lines = [f"- {prose(texts.text(line.strip()), _MOST_OF_A_TEXT)}" for line in run_lines(run)]
        yield "Run on the simulated device", _folded(f"<b>{in_tag(texts.text('Run on the simulated device'))}</b>", lines)
    if report.check is not None:
        lines = [f"- {prose(texts.text(line.strip()), _MOST_OF_A_TEXT)}" for line in check_lines(report.check)]
        yield "Check of the accuracy", _folded(f"<b>{in_tag(texts.text('Check of the accuracy'))}</b>", lines)


def _fixed(report: Report, rules: RuleTexts) -> list[str]:
    """A row for each rule that fixed something; a rule of another version has its id only, as code without bars."""
    counts: dict[tuple[str, str], int] = {}
    for _, finding in report.findings():
        if finding.level is Level.FIXED:
            facts = rules.of(finding)
            counts[facts.id, facts.title] = counts.get((facts.id, facts.title), 0) + 1
    return [
        f"| {_in_cell(code(shortened(rule, _MOST_OF_A_PATH)))} {_in_cell(prose(title, _MOST_OF_A_TEXT))} | {number} |"
        for (rule, title), number in sorted(counts.items())
    ]


def _in_cell(text: str) -> str:
    """A bar would end the cell of a table, also inside code, and a backslash before it is a matter of the reader's program."""
    return text.replace("|", "\u00a6")


def _uncounted(report: Report, left: list[Decision]) -> list[str]:
    if not left:
        return []
    texts, places = catalogue(report.language), sum(decision.n_places for decision in left)
    return [f"{texts.counted(len(left), 'decision')} ({texts.text(counted_findings(n_findings(left), places))})"]


def _folded(summary: str, body: list[str]) -> str:
    """A part that opens when it is clicked; without blank lines around it Markdown would not be read inside."""
    lines = "\n".join(["<details>", f"<summary>{summary}</summary>", "", *body]).rstrip("\n")
    return f"{lines}\n\n</details>\n\n"
