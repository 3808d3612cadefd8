"""Damage to a valid file: bytes, values of JSON, cells of tables, digits, lines. What a disk, a copy or a stranger does to it."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable
from typing import Any

NUMBERS = (0, 1, 0xFF, 2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**62, 2**63, 2**64 - 1)
"""Numbers at which types end."""
TEXTS = (
    "1e999999999", "-1e308", "1e400", "nan", "inf", "-0", "9" * 5000, "0x10", "1_000", "", " ", "/", "../../x", "a/b", "\x1b[31m",
    "\u202e", "\x00", "\ud800", "\U0001f40d", "x" * 70_000, "[" * 3000, "{}", "%s", "\"", "'", "\r", "\u2028", "N/A", "٣", "²",
)  # fmt: skip
"""Words that a cell, a value or a name may hold, each of which has ended a reader somewhere."""
VALUES = (
    None, True, False, -1, 10**400, 1.5, 1e308, float("nan"), float("inf"), [], {}, [[]], [None], {"": None}, {"a": {"b": []}},
    *NUMBERS, *TEXTS,
)  # fmt: skip
_MOST_SITES = 2000
"""Places of a document among which one is chosen: looking for all of a large one would take most of the time."""


def damaged(data: bytes, rng: random.Random) -> bytes:
    """One to three damages; half of those of a JSON file leave it JSON."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        kind = rng.choice(_OF_JSON if data.lstrip()[:1] in (b"{", b"[") and rng.random() < 0.6 else _OF_BYTES)
        data = kind(data, rng)
    return data


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _flip(data: bytes, rng: random.Random) -> bytes:
    if not data:
        return b"\x01"
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def _splice(data: bytes, rng: random.Random) -> bytes:
    at, end = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    new = rng.choice((b"", rng.randbytes(rng.randrange(9)), data[rng.randrange(len(data) + 1) :][:40]))
    return data[:at] + new + data[min(end, at + rng.randrange(64)) :]


def _repeat(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    piece = data[at : at + rng.randrange(1, 200)]
    return data[:at] + piece * rng.choice((2, 3, 50)) + data[at:]


def _number(data: bytes, rng: random.Random) -> bytes:
    """A number of eight, four or two bytes, as in a header."""
    at, width = rng.randrange(len(data) + 1), rng.choice("QIH")
    value = rng.choice(NUMBERS) & (1 << 8 * struct.calcsize(width)) - 1
    return data[:at] + struct.pack(f"<{width}", value) + data[at + struct.calcsize(width) :]


def _varint(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + b"\xff" * rng.randrange(1, 10) + b"\x7f" + data[at + 1 :]


def _word(data: bytes, rng: random.Random) -> bytes:
    """A run of digits, a cell or a quoted word becomes another."""
    starts = [n for n, byte in enumerate(data[:20_000]) if byte in b',:"=\n' or 48 <= byte < 58] or [0]
    at = rng.choice(starts)
    is_digit = data[at : at + 1].isdigit()
    end = at if is_digit else at + 1
    while end < len(data) and data[end] not in b',:"=\n' and end < at + 200:
        end += 1
    start = at if is_digit else at + 1
    return data[:start] + rng.choice(TEXTS).encode("utf-8", "surrogatepass") + data[end:]


def _lines(data: bytes, rng: random.Random) -> bytes:
    """Lines change places, vanish or come again."""
    lines = data.splitlines(keepends=True) or [b""]
    one, other = (rng.randrange(len(lines)) for _ in range(2))
    kind = rng.randrange(3)
    if kind == 0:
        lines[one], lines[other] = lines[other], lines[one]
    elif kind == 1:
        del lines[one]
    else:
        lines.insert(other, lines[one] * rng.choice((1, 30)))
    return b"".join(lines)


def _json_value(data: bytes, rng: random.Random) -> bytes:
    return _of_document(data, rng, lambda holder, key: holder.__setitem__(key, rng.choice(VALUES)))


def _json_gone(data: bytes, rng: random.Random) -> bytes:
    return _of_document(data, rng, lambda holder, key: holder.__delitem__(key))


def _json_key(data: bytes, rng: random.Random) -> bytes:
    def rename(holder: Any, key: Any) -> None:
        value = holder[key]
        if isinstance(holder, dict):
            holder[rng.choice(TEXTS)] = holder.pop(key)
        else:
            holder[key] = [value] * rng.choice((0, 2, 30))

    return _of_document(data, rng, rename)


def _json_deep(data: bytes, rng: random.Random) -> bytes:
    depth = rng.choice((50, 500, 5000))
    deep = (b"[" * depth + b"]" * depth) if rng.random() < 0.5 else (b'{"a":' * depth + b"1" + b"}" * depth)
    marked = _of_document(data, rng, lambda holder, key: holder.__setitem__(key, "@deep@"))
    return marked.replace(b'"@deep@"', deep)


def _of_document(data: bytes, rng: random.Random, change: Callable[[Any, Any], None]) -> bytes:
    """The document with one place changed; the bytes damaged where it is none."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return _flip(data, rng)
    sites = _sites(document)
    if not sites:
        return json.dumps(rng.choice(VALUES)).encode()
    change(*rng.choice(sites))
    try:
        return json.dumps(document).encode()
    except (ValueError, RecursionError):
        return data


def _sites(document: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    left = [document]
    while left and len(found) < _MOST_SITES:
        holder = left.pop()
        items = holder.items() if isinstance(holder, dict) else enumerate(holder) if isinstance(holder, list) else ()
        for key, value in items:
            found.append((holder, key))
            if isinstance(value, dict | list):
                left.append(value)
    return found


_OF_BYTES = (_cut, _flip, _splice, _repeat, _number, _varint, _word, _word, _word, _lines)
_OF_JSON = (_json_value, _json_value, _json_value, _json_gone, _json_key, _json_deep)
