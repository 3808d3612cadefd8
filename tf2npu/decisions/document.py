"""tf2npu-decisions.toml: what people decided about findings, and for which findings they did."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from npu_formats.escape import visible
from npu_formats.files.bounded_read import MOST_DECISIONS_BYTES, read_at_most
from npu_formats.toml_document import NotToml, parsed

SCHEMA_VERSION = "1.0"
"""Version of the format. A reader passes over keys of later minor versions, and refuses other major ones."""
SCHEMA_FILE = Path(__file__).parent / "decisions.schema.json"
_MOST_OF_A_REASON = 150
"""Characters of a reason that are shown: it may hold the wrong value, of any length."""
_VERSION = re.compile(r"[0-9]{1,9}\.[0-9]{1,9}\Z")

_Id = Annotated[str, Meta(pattern=r"^[0-9a-f]{16}\Z")]
_Fingerprint = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}\Z")]
_Number = Annotated[int, Meta(ge=1, le=2**53)]


class Entry(Struct, frozen=True):
    """One decision.

    places: that it was made for.  findings: number of fingerprints in `files`, which has them by path, as reports show it
    (names may hold what TOML cannot).
    """

    id: _Id
    rule: Annotated[str, Meta(max_length=100)]
    choice: Literal["edit", "suppress", "accept"]
    places: _Number
    findings: _Number
    files: dict[str, Annotated[list[_Fingerprint], Meta(min_length=1)]]
    who: Annotated[str, Meta(max_length=200)] = ""
    note: Annotated[str, Meta(max_length=2000)] = ""
    sentence: str = ""


class _Document(Struct):
    tool: Literal["tf2npu"]
    decisions: list[Entry]
    report: str = ""
    count: int | None = None


class NotDecisions(Exception):
    """A file holds no decisions that this version can carry out; the text says why."""


@dataclass(frozen=True)
class Decisions:
    """The entries of one file, of which no finding has two."""

    entries: tuple[Entry, ...] = ()

    @cached_property
    def _by_finding(self) -> dict[tuple[str, str, str], Entry]:
        return {
            (entry.id, path, fingerprint): entry
            for entry in self.entries
            for path, fingerprints in entry.files.items()
            for fingerprint in fingerprints
        }

    @cached_property
    def _paths(self) -> frozenset[str]:
        return frozenset(path for entry in self.entries for path in entry.files)

    def concerns(self, path: str) -> bool:
        """Whether something was decided about a file."""
        return visible(path) in self._paths

    def of(self, decision: str, path: str, fingerprint: str) -> Entry | None:
        """The decision about a finding; None for none."""
        return self._by_finding.get((decision, visible(path), fingerprint))


def read(path: Path) -> Decisions:
    """The decisions that a file holds.  Raises: OSError; NotDecisions."""
    return load(read_at_most(path, MOST_DECISIONS_BYTES))


def load(data: bytes) -> Decisions:
    """The decisions of a text.

    Raises: NotDecisions for what is damaged, cut off, of another major version, or no file of this kind.
    """
    try:
        table = parsed(data)
    except NotToml as error:
        raise NotDecisions(f"it is no TOML that can be read: {str(error)[:_MOST_OF_A_REASON]}") from None
    if table.get("tool") != "tf2npu" or "decisions" not in table:
        raise NotDecisions("it holds no decisions of tf2npu: `tool` and `decisions` are not there")
    _check_version(table.get("schema_version"))
    try:
        document = msgspec.convert(table, _Document)
    except msgspec.ValidationError as error:
        reason, at, where = str(error).rpartition(" - at ")
        raise NotDecisions(f"it is no file of decisions: {reason[:_MOST_OF_A_REASON]}{at}{where[:_MOST_OF_A_REASON]}") from None
    if document.count is not None and document.count != len(document.decisions):
        raise NotDecisions(
            f"`count` says {document.count} and {len(document.decisions)} decisions are there: it was cut off, or changed"
        )
    _check_entries(document.decisions)
    return Decisions(tuple(document.decisions))


def _check_version(version: object) -> None:
    if not isinstance(version, str) or not _VERSION.match(version):
        raise NotDecisions(f"its `schema_version` is no version such as {SCHEMA_VERSION}")
    if version.split(".")[0] != SCHEMA_VERSION.split(".")[0]:
        raise NotDecisions(f"it has schema version {version}, this tf2npu reads {SCHEMA_VERSION}")


def _check_entries(entries: Iterable[Entry]) -> None:
    """Checks what types do not say: paths stay below SRC, numbers fit, and no decision is there twice."""
    seen: set[str] = set()
    for number, entry in enumerate(entries, 1):
        where = f"decision {number} ({entry.id})"
        if entry.id in seen:
            raise NotDecisions(f"{where} is there twice: leave one of the two")
        seen.add(entry.id)
        wrong = [path for path in entry.files if not path or path.startswith("/") or ".." in path.split("/") or "\0" in path]
        if wrong:
            raise NotDecisions(f"{where} names a path that is none below SRC")
        if not entry.files or sum(map(len, entry.files.values())) != entry.findings or entry.places < entry.findings:
            raise NotDecisions(f"{where} names other findings than `findings` and `places` count: it was cut off, or was changed")
