"""Layout of random programs: how calls and chains are broken, comments, indentation, line ends, encodings."""

from __future__ import annotations

import random
import re

PRAGMAS = (
    "# tf2npu: ignore",
    "# tf2npu: off",
    "# tf2npu: on",
    "# tf2npu: ignore[NPU5]",
    "# tf2npu: off[NPU101, NPU6]",
    "# tf2npu: ignore-file[NPU6]",
)
COMMENTS = ("# a comment", "#", "#: tf.Session()", "# \xe9 ' \"", "# (", "#\\", "#!x")
_INDENT = re.compile(r"^(?: {4})+", re.MULTILINE)


def call(rng: random.Random, callee: str, arguments: list[str]) -> str:
    """A call on one line, or broken in one of many ways."""
    style = rng.choice(("flat",) * 6 + ("hanging", "aligned", "odd", "comments", "comma"))
    if style == "flat" or not arguments:
        return (
            f"{callee}({', '.join(arguments)}{',' if arguments and ' for ' not in arguments[0] and rng.random() < 0.05 else ''})"
        )
    if " for " in arguments[0] and len(arguments) == 1:
        return f"{callee}(\n    {arguments[0]}\n)"
    if style == "aligned":
        return f"{callee}(" + ",\n        ".join(arguments) + ")"
    if style == "hanging":
        return f"{callee}(\n    " + ",\n    ".join(arguments) + rng.choice((",\n)", "\n)", ")", "\n  )"))
    if style == "comma":
        return f"{callee}({arguments[0]}\n    , " + "\n    , ".join(arguments[1:] or ["k=1"]) + "\n    )"
    if style == "comments":
        lines = [f"    {argument}{rng.choice((',', ' ,', ', '))}  {rng.choice(COMMENTS)}\n" for argument in arguments]
        return f"{callee}(  {rng.choice(COMMENTS)}\n{''.join(lines)}{rng.choice(('', '# last' + chr(10), '    '))})"
    glue = rng.choice((" ,", ",\n", ",\\\n ", " \\\n, ", ",\n\n\n  ", ",\t"))
    before, first, last = rng.choice(("", " ", "  ")), rng.choice(("", " ", "\n")), rng.choice(("", " ", " # c\n"))
    return f"{callee}{before}({first}{glue.join(arguments)}{last})"


def around(rng: random.Random, text: str) -> str:
    """Now and then parentheses, blanks or a comment around an argument."""
    if rng.random() < 0.85:
        return text
    return rng.choice(("({})", "(({}))", "(\n{})", "( # in\n  {} )", "({}\n  # after\n)", "( {}  )")).format(text)


def chain(rng: random.Random, source: str, links: list[str]) -> str:
    """Calls of methods one behind another."""
    style = rng.choice(("flat", "flat", "lines", "comments", "backslash", "blanks"))
    if style == "lines":
        return f"({source}" + "".join(f"\n    .{link}" for link in links) + ")"
    if style == "comments":
        return f"({source}  # source" + "".join(f"\n    .{link}  {rng.choice(COMMENTS)}" for link in links) + "\n)"
    if style == "backslash":
        return source + "".join(f" \\\n    .{link}" for link in links)
    glue = " . " if style == "blanks" else "."
    return glue.join([source, *links])


def between(rng: random.Random) -> str:
    """Text that may stand before a statement: nothing, empty lines, comments, pragmas."""
    if rng.random() < 0.8:
        return ""
    return rng.choice(
        ("\n", "\n\n", f"{rng.choice(COMMENTS)}\n", f"{rng.choice(PRAGMAS)}\n", "  \n", f"\n{rng.choice(COMMENTS)}\n\n")
    )


def indented(text: str, by: str) -> str:
    """Every line further in; empty ones stay empty."""
    return "".join(by + line if line.strip() else line for line in text.splitlines(keepends=True))


def laid_out(rng: random.Random, text: str) -> bytes:
    """Bytes of a text after a few changes of layout that leave its meaning alone."""
    if rng.random() < 0.15:
        text = _INDENT.sub(lambda m: "\t" * (len(m[0]) // 4), text)
    if rng.random() < 0.15:
        text += rng.choice(
            ("# end", "   # end", "\t# end\n", "\n\n\n", "  \n # a\n# b\n", "    # deep\n  # less\n", "\x0c\n", "\\\n")
        )
    if rng.random() < 0.15:
        text = text.rstrip("\n")
    if rng.random() < 0.05:
        text = re.sub(r"^(?=\S)", lambda m: "\x0c" if rng.random() < 0.2 else "", text, flags=re.MULTILINE)
    is_latin = "coding: latin-1" in text
    data = text.encode("latin-1" if is_latin else "utf-8")
    data = with_line_ends(rng, data)
    return b"\xef\xbb\xbf" + data if not is_latin and rng.random() < 0.05 else data


def with_line_ends(rng: random.Random, data: bytes) -> bytes:
    """Line feeds mostly; else carriage returns with or without them, or a mix."""
    style = rng.choice(("lf",) * 7 + ("crlf", "crlf", "mixed", "cr"))
    if style == "mixed":
        return re.sub(rb"(?<!\r)\n", lambda m: b"\r\n" if rng.random() < 0.3 else m[0], data)
    return data.replace(b"\n", {"lf": b"\n", "crlf": b"\r\n", "cr": b"\r"}[style])
