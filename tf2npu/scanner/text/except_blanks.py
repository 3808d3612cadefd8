"""Blanks between `except X` and its colon, which LibCST's parser reads and does not keep."""

from __future__ import annotations

import io
import tokenize
from typing import Any

import libcst as cst

from tf2npu.scanner.text.source import LineIndex

_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_AT_START = frozenset({tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.NL, tokenize.COMMENT})


def give_back_blanks(text: str, module: cst.Module) -> bool:
    """Put the blanks before the colons of except clauses into a tree of the text; False where there are none to put there."""
    blanks = _blanks(text) if "except" in text else []
    handlers = _Handlers()
    if not any(blanks):
        return False
    module.visit(handlers)
    if len(handlers.found) != len(blanks):
        return False
    for handler, blank in zip(handlers.found, blanks, strict=True):
        if handler.type is not None and handler.name is None:
            object.__setattr__(handler, "whitespace_before_colon", cst.SimpleWhitespace(blank))
    return True


class _Handlers(cst.CSTVisitor):
    """Except clauses in source order."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Any] = []

    def visit_ExceptHandler(self, node: cst.ExceptHandler) -> None:
        self.found.append(node)

    def visit_ExceptStarHandler(self, node: cst.ExceptStarHandler) -> None:
        self.found.append(node)


def _blanks(text: str) -> list[str]:
    """The blanks before the colon of each except clause, in source order; nothing for a text that is not read as Python."""
    lines, found = LineIndex(text), []
    depth, is_start, is_clause, end = 0, True, False, 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            start = lines.starts[token.start[0] - 1] + token.start[1] if token.start[0] <= len(lines.starts) else len(text)
            if is_start and token.type == tokenize.NAME and token.string == "except":
                is_clause, depth = True, 0
            elif is_clause and depth == 0 and token.string == ":":
                found.append(text[end:start])
                is_clause = False
            depth += (token.string in _OPENING) - (token.string in _CLOSING)
            is_start = token.type in _AT_START
            end = start + len(token.string)
    except (tokenize.TokenError, SyntaxError):
        return []
    return found
