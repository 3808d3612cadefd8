"""Counts what changed outside the places a report names. Imports nothing of tf2npu: it believes only the bytes on disk.

    python outside_bytes.py REPORT.json SOURCE OUTPUT        prints one JSON object

A file's output must be its input with exactly the reported replacements made; in notebooks, everything but the source
of the cells that the findings name must be equal.
"""

from __future__ import annotations

import codecs
import difflib
import json
import os
import re
import sys
import tokenize
from io import BytesIO

_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.MULTILINE)
LINE_ENDS = re.compile(r"\r\n|\r|\n")


def decoded(data: bytes) -> tuple[str, str, bytes]:
    """Text, encoding and byte order mark of Python source."""
    bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    lines = BytesIO(data.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))
    encoding = "utf-8" if bom else _encoding(lines)
    return data[len(bom) :].decode(encoding), encoding, bom


def _encoding(lines: BytesIO) -> str:
    try:
        return tokenize.detect_encoding(lines.readline)[0]
    except SyntaxError:  # like Python, it wants UTF-8 above the line that names the encoding; the converter does not
        found = _COOKIE.search(b"\n".join(lines.getvalue().split(b"\n")[:2]))
        if found is None:
            raise
        return found.group(1).decode("ascii")


def with_replacements(text: str, changes: list[dict]) -> str:
    """`text` with each change of a report made; places are 1-based lines and columns."""
    starts = [0, *(match.end() for match in LINE_ENDS.finditer(text))]

    def offset(line: int, column: int) -> int:
        return starts[line - 1] + column - 1 if line <= len(starts) else len(text)

    ranges = [(offset(c["line"], c["column"]), offset(c["end_line"], c["end_column"]), c["new"]) for c in changes]
    pieces, at = [], 0
    for start, end, new in sorted(ranges):
        pieces += [text[at:start], new]
        at = max(start, end)
    return "".join([*pieces, text[at:]])


def bytes_changed(before: bytes, after: bytes, changes: list[dict]) -> int:
    """Bytes of `after` that are not what the changes make of `before`."""
    if before == after:
        return 0
    text, encoding, bom = decoded(before)
    wanted = bom + with_replacements(text, changes).encode(encoding)
    if wanted == after:
        return 0
    matcher = difflib.SequenceMatcher(None, wanted, after, autojunk=False)
    return sum(max(i2 - i1, j2 - j1) for tag, i1, i2, j1, j2 in matcher.get_opcodes() if tag != "equal")


def cells_changed(before: bytes, after: bytes, findings: list[dict]) -> int:
    """Cells of a notebook that changed although no finding names them, and 1 for anything else that changed."""
    if before == after:
        return 0
    old, new = json.loads(before), json.loads(after)
    named = {finding.get("cell") for finding in findings if finding["level"] == "fixed"}
    pairs = list(zip(old["cells"], new["cells"], strict=True))
    unnamed = sum(a.get("source") != b.get("source") for number, (a, b) in enumerate(pairs) if number not in named)
    for a, b in pairs:
        a["source"] = b["source"] = ""
    return unnamed + (old != new)


def read(path: str) -> bytes:
    with open(path, "rb") as stream:
        return stream.read()


def main(report: str, source: str, output: str) -> None:
    files = json.loads(read(report))["files"]
    reported = {file["path"]: file for file in files}
    found: dict[str, int] = {}
    for path, file in reported.items():
        places = os.path.join(source, path), os.path.join(output, path)
        if not all(os.path.isfile(p) and not os.path.islink(p) for p in places):
            continue
        before, after = (read(p) for p in places)
        if path.lower().endswith(".ipynb"):
            count = cells_changed(before, after, file["findings"])
        else:
            count = bytes_changed(before, after, file.get("changes", []))
        if count:
            found[path] = count
    json.dump({"files": len(reported), "bytes": sum(found.values()), "where": found}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:4])
