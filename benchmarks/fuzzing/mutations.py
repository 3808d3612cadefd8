"""Random edits of real code: lines, tokens, names, indentation, comments and line ends. Bytes are Latin-1."""

from __future__ import annotations

import ast
import random
import re
import warnings
from collections.abc import Callable
from pathlib import Path

from benchmarks.fuzzing import layout
from benchmarks.fuzzing.grammar import Grammar

_TOKEN = re.compile(r"#[^\r\n]*|'''.*?'''|\"\"\".*?\"\"\"|'[^'\r\n]*'|\"[^\"\r\n]*\"|\w+|\s+|.", re.DOTALL)
_OPENING = re.compile(r"[(\[{,]")
_NAME = re.compile(r"\b[A-Za-z_]\w*\b")
_MOST_BYTES, _MOST_LINES = 300_000, 90


class Corpus:
    """Python files below some folders, as excerpts: the imports of a file and a run of its statements."""

    def __init__(self, folders: list[Path]) -> None:
        found = sorted(p for folder in folders for p in folder.rglob("*.py") if p.is_file() and p.stat().st_size < _MOST_BYTES)
        self.paths = [path for path in found if b"tensorflow" in path.read_bytes()]
        self._read: dict[Path, tuple[list[str], list[tuple[int, int, bool]]]] = {}

    def excerpt(self, rng: random.Random) -> str:
        """A part of a file, read as Latin-1."""
        lines, statements = self._statements(rng.choice(self.paths))
        if not statements:
            start = rng.randrange(max(1, len(lines)))
            return "import tensorflow as tf\n" * rng.randint(0, 1) + "".join(lines[start : start + _MOST_LINES])
        first = rng.randrange(len(statements))
        parts = ["".join(lines[a:b]) for a, b, is_import in statements[:first] if is_import]
        n_lines, last = 0, first
        while last < len(statements) and (last == first or n_lines + statements[last][1] - statements[last][0] <= _MOST_LINES):
            n_lines += statements[last][1] - statements[last][0]
            last += 1
        end = len(lines) if last == len(statements) else statements[last - 1][1]
        return "".join(parts) + "".join(lines[statements[first][0] : end])

    def _statements(self, path: Path) -> tuple[list[str], list[tuple[int, int, bool]]]:
        """Lines of a file, and where its statements start (with their comments) and end; nothing for what does not parse."""
        if path not in self._read:
            text = path.read_bytes().decode("latin-1")
            lines = re.findall(r"[^\n]*\n|[^\n]+$", text)
            self._read[path] = lines, _places(text)
        return self._read[path]


def _places(text: str) -> list[tuple[int, int, bool]]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(text.encode("latin-1")).body
    except (SyntaxError, ValueError):
        return []
    found, at = [], 0
    for node in body:
        found.append(
            (
                at,
                node.end_lineno or at,
                isinstance(node, (ast.Import, ast.ImportFrom, ast.Try)) and (node.end_lineno or 0) - at < 12,
            )
        )
        at = node.end_lineno or at
    return found


def mutated(rng: random.Random, text: str) -> bytes:
    """A text with one to four edits, as bytes."""
    for _ in range(rng.choice((1, 1, 2, 2, 3, 4))):
        text = rng.choice(MUTATIONS)(rng, text)
    data = text.encode("latin-1", "replace")
    if rng.random() < 0.1:
        data = layout.with_line_ends(rng, data.replace(b"\r\n", b"\n"))
    if rng.random() < 0.1:
        data = data.rstrip(b"\r\n")
    return b"\xef\xbb\xbf" + data if rng.random() < 0.02 and not data.startswith(b"\xef\xbb\xbf") else data


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+$", text)


def _delete_lines(rng: random.Random, text: str) -> str:
    lines = _lines(text)
    at = rng.randrange(max(1, len(lines)))
    del lines[at : at + rng.choice((1, 1, 1, 2, 5))]
    return "".join(lines)


def _duplicate_line(rng: random.Random, text: str) -> str:
    lines = _lines(text)
    at = rng.randrange(max(1, len(lines)))
    return "".join([*lines[: at + 1], *lines[at:]])


def _swap_lines(rng: random.Random, text: str) -> str:
    lines = _lines(text)
    if len(lines) < 2:
        return text
    at = rng.randrange(len(lines) - 1)
    other = at + 1 if rng.random() < 0.6 else rng.randrange(len(lines))
    lines[at], lines[other] = lines[other], lines[at]
    return "".join(lines)


def _edit_token(rng: random.Random, text: str) -> str:
    tokens = _TOKEN.findall(text)
    places = [i for i, token in enumerate(tokens) if token.strip()]
    if not places:
        return text
    at, other = rng.choice(places), rng.choice(places)
    kind = rng.choice(("delete", "duplicate", "swap", "copy"))
    if kind == "delete":
        tokens[at] = ""
    elif kind == "duplicate":
        tokens[at] += " " + tokens[at]
    elif kind == "swap":
        tokens[at], tokens[other] = tokens[other], tokens[at]
    else:
        tokens[at] = tokens[other]
    return "".join(tokens)


def _replace_expression(rng: random.Random, text: str) -> str:
    """A name somewhere becomes an expression of the grammar."""
    places = list(_NAME.finditer(text))
    if not places:
        return text
    at = rng.choice(places)
    new = Grammar(rng).expression(3)
    return text[: at.start()] + (new if rng.random() < 0.5 else f"({new})") + text[at.end() :]


def _rename(rng: random.Random, text: str) -> str:
    """A name becomes another one, everywhere or at one place."""
    names = _NAME.findall(text)
    if not names:
        return text
    old = rng.choice(("tf", rng.choice(names), rng.choice(names)))
    new = rng.choice(("tensorflow", "T", "tf", rng.choice(names), "npu_config_proto", "os"))
    count = rng.choice((0, 0, 1))
    return re.sub(rf"\b{old}\b", new, text, count=count)


def _insert_statement(rng: random.Random, text: str) -> str:
    lines = _lines(text)
    at = rng.randrange(len(lines) + 1)
    near = lines[min(at, len(lines) - 1)] if lines else ""
    indent = near[: len(near) - len(near.lstrip(" \t"))]
    statement = Grammar(rng).statement(rng.choice((0, 0, 1, 2)))
    return "".join([*lines[:at], layout.indented(statement, indent), *lines[at:]])


def _comment_in_brackets(rng: random.Random, text: str) -> str:
    places = [m.end() for m in _OPENING.finditer(text)]
    if not places:
        return text
    at = rng.choice(places)
    return (
        f"{text[:at]}{rng.choice(('', '  '))}{rng.choice((*layout.COMMENTS, ''))}\n{' ' * rng.choice((0, 4, 8, 12))}{text[at:]}"
    )


def _comment_line(rng: random.Random, text: str) -> str:
    lines = _lines(text)
    at = rng.randrange(len(lines) + 1)
    comment = rng.choice(layout.COMMENTS + layout.PRAGMAS)
    return "".join([*lines[:at], f"{' ' * rng.choice((0, 1, 2, 4, 7))}{comment}\n", *lines[at:]])


def _comment_behind(rng: random.Random, text: str) -> str:
    lines = _lines(text)
    if not lines:
        return text
    at = rng.randrange(len(lines))
    body = lines[at].rstrip("\r\n")
    glue = rng.choice(("  ", " ", "", "; ", " ;", "\\"))
    comment = rng.choice((*layout.COMMENTS, *layout.PRAGMAS, ""))
    lines[at] = f"{body}{glue}{comment}{lines[at][len(body) :]}"
    return "".join(lines)


def _join_lines(rng: random.Random, text: str) -> str:
    breaks = [m.span() for m in re.finditer(r"\r?\n[ \t]*", text)]
    if not breaks:
        return text
    start, end = rng.choice(breaks)
    return text[:start] + rng.choice(("; ", " ", "", " \\\n")) + text[end:]


def _reindent(rng: random.Random, text: str) -> str:
    """A few lines, or all of them, further in or out."""
    lines = _lines(text)
    if rng.random() < 0.3:
        unit = rng.choice(("\t", "   ", " ", "        "))
        return re.sub(r"^(?:    |  )+", lambda m: unit * (len(m[0]) // 2), text, flags=re.MULTILINE)
    at = rng.randrange(max(1, len(lines)))
    end = at + rng.choice((1, 2, 10, 1000))
    by = rng.choice((" ", "  ", "    ", "\t", "-"))
    block = [line.removeprefix("  ") if by == "-" else by + line for line in lines[at:end]]
    head = rng.choice(("", "if x:\n", "try:\n", "def f(tf):\n", "class C:\n")) if by != "-" else ""
    return "".join([*lines[:at], head, *block, *lines[end:]])


def _odd_bytes(rng: random.Random, text: str) -> str:
    at = rng.randrange(len(text) + 1)
    return (
        text[:at]
        + rng.choice(("\x0c", "\t", "\r", "\\\n", "\xc3\xa9", "\x00", "\xff", " ", "\xe2\x80\xa8", "\\\r\n", "\x0b", "\x85"))
        + text[at:]
    )


def _tail(rng: random.Random, text: str) -> str:
    return text + rng.choice(
        (
            "# end",
            "  # end\n",
            "    # deep\n  # less\n# least\n",
            "\t# tab",
            "\n\n",
            "\\\n",
            "  ",
            "\x1a",
            "if x:\n    pass\n  # odd\n",
        )
    )


MUTATIONS: tuple[Callable[[random.Random, str], str], ...] = (
    _delete_lines,
    _duplicate_line,
    _swap_lines,
    _edit_token,
    _edit_token,
    _replace_expression,
    _replace_expression,
    _rename,
    _rename,
    _insert_statement,
    _insert_statement,
    _comment_in_brackets,
    _comment_in_brackets,
    _comment_line,
    _comment_behind,
    _join_lines,
    _reindent,
    _odd_bytes,
    _tail,
)
