"""Tells what keeps the text of a message from being plain: too many words, a pronoun without its noun, a sentence without a verb.

English has no grammar that lists of words could hold. Those of tests/fixtures/plain_english are of words that messages of this
project use; a verb that is missing shows as a sentence without one, and is added there.

    python -m tests.report.plain_sentences            prints the messages that are not plain, with what is wrong
    python -m tests.report.plain_sentences --write    takes those out of the list beside it that are plain by now, or gone
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.report.message_templates import FINDINGS, written_in

MOST_WORDS = 30
NOT_YET = Path(__file__).parents[1] / "fixtures" / "plain_english" / "not_yet.txt"
"""Messages that were written before there was a check, one a line. Lines are taken out; none is added."""
SAYS = {"manual", "unsupported", "info", "fixed", "say"}
"""Methods by which a rule says something of a place."""

_CODE = re.compile(
    r"`[^`]*`|\{\}(?:\([^()]*\))*|[\w.\]\[]*[\w\]\[]\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)(?:[\w.\[\]]+)?|\w+=\S+\w"
)
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z{`]|CODE)")
_PUT_IN = re.compile(r"(?:\W*CODE)+\W*")  # a sentence that is made elsewhere
_TOKEN = re.compile(r"[\w'’-]+|[^\w\s]")
_WORDS = Path(__file__).parents[1] / "fixtures" / "plain_english"


def _words(name: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset((_WORDS / f"{name}.txt").read_text(encoding="utf-8").split())


_AUXILIARY = _words("auxiliaries")
_VERBS = _AUXILIARY | _words("verbs")
_SMALL = _words("small_words")
_POINTING = {"this", "these", "those", "it", "that"}
_BARE = re.compile(r"[a-z]+?(?<!s)(?<!ed)", re.IGNORECASE)  # "this call", but "this calls"
_PLURAL = re.compile(r"[a-z]+s", re.IGNORECASE)  # "these calls", but "these call"


def faults(text: str) -> list[str]:
    """The faults of a message, or of a template of one; nothing where it is plain."""
    found = []
    if (words := len(text.split())) > MOST_WORDS:
        found.append(f"{words} words")
    for sentence in _END.split(_CODE.sub("CODE", text)):
        tokens = _TOKEN.findall(sentence)
        if _PUT_IN.fullmatch(sentence):
            continue
        found += [f"'{word}' without its noun: {sentence}" for word in _pronouns(tokens)]
        if not any(_is_verb(token) for token in tokens):
            found.append(f"no verb: {sentence}")
    return found


def _pronouns(tokens: list[str]) -> Iterator[str]:
    for at, token in enumerate(tokens):
        before, after = tokens[:at], tokens[at + 1 :]
        word = token.lower()
        stands_alone = {
            "it": not any(_is_noun(one) or _is_after_article(before, n) for n, one in enumerate(before)),
            "this": not _is_named(after, also=_BARE),
            "that": not (_is_named(after, also=_BARE) or _is_relative(before) or _is_of(before, after) or _opens_a_clause(after)),
            "these": not _is_named(after, also=_PLURAL),
            "those": not (_is_named(after, also=_PLURAL) or _is_of(before, after)),
        }
        if stands_alone.get(word, False):
            yield token


def _is_named(after: list[str], also: re.Pattern[str]) -> bool:
    """Whether the next word is a noun: of words that are verbs too, those in the form that a noun has there."""
    return bool(after) and (_is_noun(after[0]) or bool(also.fullmatch(after[0]) and after[0].lower() not in _AUXILIARY | _SMALL))


def _is_relative(before: list[str]) -> bool:
    """Whether a "that" stands behind what it refers to, or behind "so"."""
    if not before or before[-1].lower() == "so":
        return bool(before)
    return _is_noun(before[-1]) or _is_after_article(before, len(before) - 1)


def _is_after_article(tokens: list[str], at: int) -> bool:
    """Whether a word that may be a verb is a noun, since an article or a word like one stands in front of it."""
    return at > 0 and _is_verb(tokens[at]) and tokens[at - 1].lower() in {"a", "an", "the", "of", "one", "added", "no", "each"}


def _is_of(before: list[str], after: list[str]) -> bool:
    """Whether "that of the file" stands for a noun in front of it."""
    return after[:1] == ["of"] and len(before) > 1


def _opens_a_clause(after: list[str]) -> bool:
    """Whether a clause with a subject follows "that", rather than a verb, a preposition or the end."""
    return bool(after) and after[0].lower() in {"a", "an", "the", "no", "each", "every", "one", "all", "what", "nothing", "this"}


def _is_verb(token: str) -> bool:
    return token.lower() in _VERBS


def _is_noun(token: str) -> bool:
    """Whether a token may be a noun: a word of code, or one that is neither a verb nor a small word."""
    word = token.lower()
    return token[0].isalnum() and word not in _VERBS | _SMALL | _POINTING


def messages() -> dict[str, str]:
    """Each text that a rule, or the conversion itself, hands to a method which says it, and the place where it stands."""
    found: dict[str, str] = {}
    for path in FINDINGS:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SAYS and node.args:
                for text in written_in(node.args[0]):
                    found.setdefault(text, f"{path.name}:{node.lineno}")
    return found


def not_yet() -> set[str]:
    """The messages that the check leaves out."""
    return set(NOT_YET.read_text(encoding="utf-8").splitlines()) if NOT_YET.exists() else set()


def main() -> None:
    wrong = {text: told for text in messages() if (told := faults(text))}
    if "--write" in sys.argv[1:]:
        kept = sorted(not_yet() & set(wrong))
        NOT_YET.write_text("".join(f"{text}\n" for text in kept), encoding="utf-8")
    for text, told in wrong.items():
        print(f"{text}\n    {'; '.join(told)}")


if __name__ == "__main__":
    main()
