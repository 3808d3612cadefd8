"""Two reports beside each other as Markdown, for a comment on a pull request: what is new first, and never more than fits."""

from __future__ import annotations

from collections.abc import Iterator

from tf2npu.report.compared.comparison import REASONS, Comparison, Group, Work, by_reason, grouped
from tf2npu.report.compared.sentences import HEADINGS, caveats, sentence, work_left_in_words
from tf2npu.report.formats.as_markdown import MOST_CHARACTERS
from tf2npu.report.formats.as_text import place
from tf2npu.report.formats.markdown_text import code, in_tag, prose, shortened
from tf2npu.report.languages.language import catalogue
from tf2npu.report.model.counts import counted_findings

_LEFT_FOR_THE_END = 600
"""Characters that stay free for the sentence that says what was cut."""
_MOST_OF_A_TEXT = 1_000
_MOST_OF_A_PATH = 300
"""Characters of one sentence, and of one place: longer ones hold data of the user's."""
_MOST_PLACES = 20
"""Places that one sentence lists: more are not read in a comment."""


def render(found: Comparison) -> str:
    """The comparison as Markdown of at most MOST_CHARACTERS; what does not fit is counted at the end."""
    texts = catalogue(found.after.language)
    text, cut = _head(found), 0
    for block, number in _blocks(found):
        if len(text) + len(block) <= MOST_CHARACTERS - _LEFT_FOR_THE_END:
            text += block
        else:
            cut += number
    if cut:
        text += texts.text(f"Not shown, because a comment has no room for it: {counted_findings(cut, cut)}.") + "\n"
    return text


def _head(found: Comparison) -> str:
    texts = catalogue(found.after.language)
    lines = [f"## {texts.text('tf2npu: what changed')}", "", f"**{texts.text(sentence(found))}**", ""]
    lines += [texts.text(work_left_in_words(found)), ""]
    for caveat in caveats(found):
        lines += [prose(texts.text(caveat), _MOST_OF_A_TEXT), ""]
    return "\n".join(lines) + "\n"


def _blocks(found: Comparison) -> Iterator[tuple[str, int]]:
    """Each part with the number of findings in it, what is new first."""
    texts = catalogue(found.after.language)
    was = {pair.after.key: place(pair.before.file.path, pair.before.finding) for pair in found.moved}
    lists = {"new": found.new, "moved": [pair.after for pair in found.moved], "closed": [each.work for each in found.closed]}
    for name, works in lists.items():
        if not works:
            continue
        reasons = by_reason(found.closed).items() if name == "closed" else ()
        told = "".join(f"- {number}: {texts.text(REASONS[reason])}\n" for reason, number in reasons)
        yield f"### {texts.text(HEADINGS[name])}\n\n{told}{chr(10) if told else ''}", 0
        for group in grouped(works):
            yield _block(group, was, found.after.language), len(group.sites)


def _block(group: Group, was: dict[str, str], language: str) -> str:
    """One sentence, folded, with its places."""
    texts = catalogue(language)
    title = f"<b>{in_tag(texts.word(group.label))}</b> <code>{in_tag(shortened(group.facts.id, _MOST_OF_A_PATH))}</code>"
    counted = texts.text(counted_findings(len(group.sites), group.n_places))
    lines = ["<details>", f"<summary>{title} {in_tag(group.facts.title)} ({in_tag(counted)})</summary>", ""]
    lines += [prose(group.message or group.facts.id, _MOST_OF_A_TEXT), ""]
    lines += [_site(work, was, language) for work in group.sites[:_MOST_PLACES]]
    if (left := len(group.sites) - _MOST_PLACES) > 0:
        lines.append(f"- {texts.text(f'and {left} more')}")
    return "\n".join(lines) + "\n\n</details>\n\n"


def _site(work: Work, was: dict[str, str], language: str) -> str:
    here = code(shortened(place(work.file.path, work.finding), _MOST_OF_A_PATH))
    if work.key not in was:
        return f"- {here}"
    return f"- {here} ({catalogue(language).text('was at')} {code(shortened(was[work.key], _MOST_OF_A_PATH))})"
