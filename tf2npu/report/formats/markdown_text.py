"""Texts of users as Markdown that a code host shows as they are: no tag, link, mention or formula comes of them."""

from __future__ import annotations

import html
import re

from npu_formats.escape import visible, visible_lines

_RUN_OF_TICKS = re.compile("`+")
# Our own messages mark code with backticks. Other runs of ASCII go into code where Markdown or GitHub would make something of
# them: marks of Markdown, tags, @names, #numbers, GH-numbers, formulas, addresses, and :emoji:.
_CODE = re.compile(r"`([^`]+)`|([!-'*-~]*(?:[\\`*_\[\]<>#|~$&@]|://|www\.|GH-\d|:[\w+-]+:)[!-~]*)", re.IGNORECASE | re.ASCII)


def prose(text: str, most: int) -> str:
    """A sentence on one line, with what could be read as markup as code; of a longer one `most` characters."""
    pieces, last, text = [], 0, shortened(" ".join(visible(text).split()), most)
    for found in _CODE.finditer(text):
        marked = found[1] or _without_end_of_sentence(found[2])
        pieces += [text[last : found.start()], code(marked)]
        last = found.end() if found[1] else found.start() + len(marked)
    return "".join([*pieces, text[last:]])


def _without_end_of_sentence(word: str) -> str:
    """A word without the marks behind it: full stops and the like, and brackets that close what was opened before it."""
    while len(word) > 1 and (word[-1] in ".,;:" or (word[-1] == ")" and word.count(")") > word.count("("))):
        word = word[:-1]
    return word


def code(text: str) -> str:
    """A text on one line as a code span, inside which nothing else has a meaning."""
    text = visible(text)
    ticks = "`" * (1 + max((len(run) for run in _RUN_OF_TICKS.findall(text)), default=0))
    pad = " " if not text or text.startswith(("`", " ")) or text.endswith(("`", " ")) else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def fenced(language: str, lines: list[str]) -> list[str]:
    """Lines of code as a block, in a fence that none of them closes."""
    lines = [visible_lines(line) for line in lines]
    longest = max((len(run) for line in lines for run in _RUN_OF_TICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *lines, fence]


def in_tag(text: str) -> str:
    """A text between tags, where Markdown is not read."""
    return html.escape(visible(text))


def shortened(text: str, most: int) -> str:
    """A text of at most `most` characters, and how many more there are."""
    return text if len(text) <= most else f"{text[:most]} ... ({len(text) - most})"
