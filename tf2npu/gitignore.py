"""Patterns as in .gitignore, looked at one by one: one that means nothing costs only itself."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable


def why_no_pattern(line: str) -> str:
    """The reason that a line is no pattern; "" for one that is."""
    return next((why for _, why in refused_patterns([line])), "")


def refused_patterns(lines: Iterable[str]) -> list[tuple[str, str]]:
    """The lines that are no patterns, each with the reason."""
    from pathspec import GitIgnoreSpec  # costs a hundredth of a second, and few projects need it

    refused = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of re, about an odd set in a pattern
        for line in lines:
            try:
                GitIgnoreSpec.from_lines([line])
            except (ValueError, OverflowError, RecursionError, re.error) as error:
                refused.append((line, str(error)))
    return refused
