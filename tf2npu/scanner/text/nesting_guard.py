"""The guard against deeply nested source, whose syntax tree would take quadratic time; the depth is read from the tokens."""

from __future__ import annotations

import io
import itertools
import keyword
import math
import re
import tokenize

# A sum of 1,500 terms takes a second to parse, one of 5,000 minutes.
DEEPEST = 2_500
_MOST_BRACKETS = 1_000
"""The most brackets inside of each other, five times as many as Python's own parser takes."""
NESTED_PARENTHESES = "nested parentheses"
"""Part of the message with which Python's parser gives up on brackets."""
LONGEST_NAME = 5_000
"""Parts of one dotted name. Python's parser and ours make a text of each of its beginnings: 150,000 parts take 24 GB."""
_BRACKET = re.compile(r"[(){}\[\]]")
_NAME = re.compile(r"(?:\.[\s\\]*\w+[\s\\]*)+")


def longest_name(text: str) -> int:
    """The number of dots of the longest dotted name, at most: a.b.c has two."""
    return max((found.group().count(".") for found in _NAME.finditer(text)), default=0)


def has_deep_brackets(text: str) -> bool:
    """Whether brackets stand inside of each other beyond what LibCST's parser has stack for, which is machine code and crashes.

    Asked about source that Python's own parser does not take, for whatever reason: it stops at 200.
    """
    return _n_opened(text) > _MOST_BRACKETS and is_too_deep(text, math.inf)


def _n_opened(text: str) -> int:
    return text.count("(") + text.count("[") + text.count("{")


def is_too_deep(text: str, most_tokens: float = DEEPEST) -> bool:
    """Whether the longest statement could nest beyond what is parsed in reasonable time.

    Only asked about source that Python's own parser gave up on, as most long statements are flat.  most_tokens: of a statement.
    """
    tokens = brackets = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NEWLINE:
                tokens = 0
            elif token.type == tokenize.OP or keyword.iskeyword(token.string):
                tokens += 1
                brackets += (token.string in "([{") - (token.string in ")]}")
            if tokens > most_tokens or brackets > _MOST_BRACKETS:
                return True
    # Since Python 3.12 also for more than 200 brackets, and for half a character of a notebook's JSON.
    except (tokenize.TokenError, SyntaxError, IndentationError, UnicodeEncodeError):
        return _n_opened(text) > DEEPEST or _most_open(text) > _MOST_BRACKETS
    return False


def _most_open(text: str) -> int:
    """The greatest depth of nested brackets, counting those of strings and comments, too."""
    steps = (1 if bracket in "([{" else -1 for bracket in _BRACKET.findall(text))
    return max(itertools.accumulate(steps), default=0)
