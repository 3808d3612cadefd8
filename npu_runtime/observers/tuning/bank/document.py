"""The JSON of a bank file: versioned, with a checksum, and read as if an enemy had written it."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

FORMAT = "tf2npu knowledge bank"
"""Name of the format in a bank file, so that no other JSON is taken for one."""
VERSION = 1
"""Version of the form; a reader leaves files of a newer one alone."""
MOST_BYTES = 16 << 20
"""Bytes of the largest file that is read or written: MOST_ENTRIES entries of a kilobyte, as that of a convolution takes."""
MOST_ENTRIES = 16384
"""Entries of a file: a hundred networks have about as many different operators."""
MOST_TEXT = 256
"""Characters of a name in an entry. The longest op type and element type have about 40."""
LARGEST_NUMBER = 2**53
"""The largest whole number of an entry: a double, which other readers of JSON use, is exact up to here."""
Entry = TypeVar("Entry")


class Damaged(ValueError):
    """A text is no bank of the wanted kind; the message says why."""


class Newer(Damaged):
    """A bank was written by a newer release."""


def canonical(value: Any) -> str:
    """The one JSON text of a value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def render(kind: str, subject: Mapping[str, Any], entries: Sequence[Any]) -> str:
    """The text of a bank file.  kind: "operators" or "kernels".  subject: whose they are, such as {"soc": "Ascend910A"}."""
    head = {"format": FORMAT, "version": VERSION, "kind": kind, "subject": subject, "checksum": _checksum(kind, subject, entries)}
    lines = ",\n".join(map(canonical, entries))
    return f'{canonical(head)[:-1]},"entries":[\n{lines}\n]}}\n'


def parse(data: bytes, kind: str, subject: Mapping[str, Any], entry_of: Callable[[Any], Entry]) -> list[Entry]:
    """The entries of a bank file.  entry_of: checks one.  Raises: Damaged; Newer."""
    document = _json(data)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise Damaged("it is no knowledge bank of tf2npu")
    version = document.get("version")
    if isinstance(version, int) and version > VERSION:
        raise Newer(f"a newer tf2npu has written it (version {version}, this one reads {VERSION})")
    if set(document) != {"format", "version", "kind", "subject", "checksum", "entries"} or version != VERSION:
        raise Damaged("its fields are not those of a knowledge bank")
    if document["kind"] != kind or document["subject"] != subject:
        raise Damaged(f"it is for {canonical(document['subject'])[:MOST_TEXT]}, not for {canonical(subject)}")
    entries = document["entries"]
    if not isinstance(entries, list) or len(entries) > MOST_ENTRIES:
        raise Damaged("its entries are no list, or too many")
    if document["checksum"] != _checksum(kind, subject, entries):
        raise Damaged("its checksum is wrong")
    return [entry_of(entry) for entry in entries]


def _json(data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8"), parse_constant=_no_constant, parse_float=_finite)
    except Damaged:
        raise
    except RecursionError:
        raise Damaged("it is nested too deep") from None
    except ValueError as error:
        raise Damaged(f"it is no JSON: {str(error)[:MOST_TEXT]}") from None


def _no_constant(text: str) -> NoReturn:
    raise Damaged(f"it has {text}, which is no number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise Damaged(f"it has {text[:MOST_TEXT]}, which is too large")
    return value


def _checksum(kind: str, subject: Mapping[str, Any], entries: Sequence[Any]) -> str:
    try:
        return hashlib.sha256(canonical([kind, subject, entries]).encode("utf-8", "replace")).hexdigest()
    except (RecursionError, ValueError) as error:
        raise Damaged(f"its entries are no plain values ({type(error).__name__})") from None


# What an entry is checked with


def whole(value: Any, least: int = 0) -> bool:
    """Whether a value is a whole number that a bank may hold."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= LARGEST_NUMBER


def number(value: Any) -> bool:
    """Whether a value is a number that a bank may hold, at least zero or not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= LARGEST_NUMBER


def name(value: Any) -> bool:
    """Whether a value is a text of a name's length."""
    return isinstance(value, str) and 0 < len(value) <= MOST_TEXT


def need(is_so: bool, what: str) -> None:
    """Raises: Damaged, where it is not so."""
    if not is_so:
        raise Damaged(f"an entry has a wrong {what}")
