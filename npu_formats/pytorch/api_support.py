"""The support of PyTorch's APIs on a chip, as the vendor's list for PyTorch 2.13 has it.

`lists/apis.csv` is made by tools/build_pytorch_support.py of the vendor's pages; `lists/other_apis.csv` is kept by hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from npu_formats.pytorch.chip_column import ChipColumn, column_of
from npu_formats.pytorch.limit_facts import TYPES, Fact, facts_of, rows_of

SUPPORTED, LIMITED, FALLS_BACK, REFUSED, UNKNOWN = "supported", "limited", "falls_back", "refused", "unknown"
PAGES = "Ascend/pytorch docs/zh/api/native_api/pytorch_2-13-0"
ON_CPU = frozenset({"cpu", "maybe_cpu"})
"""Kinds of facts that mean the CPU computes, always or at times."""


@dataclass(frozen=True)
class Support:
    """The answer of the vendor's lists about an API or an operator on a chip.

    verdict: SUPPORTED, LIMITED, FALLS_BACK (the CPU computes it, maybe only at times), REFUSED or UNKNOWN.
    verified: whether the list tells of this chip.  facts: limits on this chip.  words: all of that in English, a line each.
    source: where it stands.
    """

    name: str
    chip: str
    verdict: str
    verified: bool
    facts: tuple[Fact, ...]
    words: tuple[str, ...]
    source: str

    @property
    def dtypes(self) -> Mapping[str, frozenset[str]]:
        """Element types that an argument may have, as torch calls them; arguments without a limit are left out."""
        found: dict[str, set[str]] = {}
        for fact in self._facts("types"):
            found.setdefault(fact.argument, set()).update(TYPES[value] for value in fact.values)
        more = {TYPES[value] for fact in self._facts("more_types") for value in fact.values}
        return {argument: frozenset((types | more) - self.refused_dtypes) for argument, types in found.items()}

    @property
    def refused_dtypes(self) -> frozenset[str]:
        """Element types that the list refuses by name, as torch calls them."""
        return frozenset(TYPES[value] for fact in self._facts("not_types") for value in fact.values)

    def _facts(self, kind: str) -> Iterable[Fact]:
        return (fact for fact in self.facts if fact.kind == kind)


@dataclass(frozen=True)
class VendorEntry:
    """A row of the list.

    chips: columns that support it, None where the page does not tell.  line: of its heading on the page.
    """

    api: str
    page: str
    line: int
    chips: frozenset[str] | None
    facts: tuple[Fact, ...]

    @property
    def source(self) -> str:
        return f"{PAGES}/{self.page}.md, line {self.line}"

    def supports(self, column: ChipColumn) -> bool | None:
        """Whether a chip runs it; None where the page does not tell.  The first generation is judged by A2."""
        if self.chips is None:
            return None
        return column.name in self.chips or (column.name == "first" and "A2" in self.chips)

    def facts_for(self, column: ChipColumn) -> tuple[Fact, ...]:
        """The limits of it on a chip.  The first generation has its own where the page gives them, else those of A2."""
        own = {(fact.kind, fact.argument) for fact in self.facts if column.name in fact.chips}
        wanted = {column.name, "A2"} if column.name == "first" else {column.name}
        found = (fact for fact in self.facts if not fact.chips or wanted.intersection(fact.chips))
        return tuple(fact for fact in found if column.name in fact.chips or (fact.kind, fact.argument) not in own)


@cache
def entries() -> Mapping[str, VendorEntry]:
    """Every entry of the list by its API."""
    return {row["api"]: _entry(row) for row in rows_of("apis.csv")}


@cache
def support_of_api(name: str, chip: str) -> Support:
    """The support of an API by its dotted name, as `torch.Tensor.add_` or `torch.nn.functional.gelu`, on a chip.

    A name that no list has is UNKNOWN, which is not SUPPORTED.  Raises: ChipProblem for a name that is no chip's.
    """
    column = column_of(chip)
    if entry := entries().get(name):
        return _of_entry(entry, column)
    if (row := _other_row(name)) and row["verdict"]:
        words = _lines([row["text"]], column)
        return Support(name, column.chip, row["verdict"], column.verified, (), words, row["source"])
    words = _lines(["in no list of the vendor's for PyTorch 2.13: nobody has verified it"], column)
    return Support(name, column.chip, UNKNOWN, column.verified, (), words, PAGES)


def instead_of(name: str) -> str:
    """The thing to write in place of an API, as far as somebody wrote it down."""
    row = _other_row(name)
    return row["instead"] if row else ""


def _of_entry(entry: VendorEntry, column: ChipColumn) -> Support:
    facts = entry.facts_for(column)
    supported = entry.supports(column)
    verdict = UNKNOWN if supported is None else verdict_of(facts) if supported else REFUSED
    said = {UNKNOWN: [f"the page does not tell of {column.family}"], REFUSED: [f"not supported on {column.family}"]}
    words = _lines([*said.get(verdict, ()), *(fact.text for fact in facts)], column)
    return Support(entry.api, column.chip, verdict, column.verified, facts, words, entry.source)


def verdict_of(facts: Iterable[Fact]) -> str:
    """The verdict on what a chip supports with some limits."""
    limits = [fact for fact in facts if fact.limits]
    if any(fact.kind in ON_CPU for fact in limits):
        return FALLS_BACK
    return LIMITED if limits else SUPPORTED


def _lines(words: Iterable[str], column: ChipColumn) -> tuple[str, ...]:
    return (*words, column.remark) if column.remark else tuple(words)


def _entry(row: Mapping[str, str]) -> VendorEntry:
    chips = frozenset(row["chips"].replace("none", "").split()) if row["chips"] else None
    return VendorEntry(row["api"], row["page"], int(row["line"]), chips, facts_of(row["limits"]))


def _other_row(name: str) -> Mapping[str, str] | None:
    """The row for a name: its own, or that of the nearest module above it, which ends with `.*`."""
    rows = _other_rows()
    parts = name.split(".")
    above = [".".join(parts[:length]) + ".*" for length in range(len(parts) - 1, 0, -1)]
    return next((rows[one] for one in (name, *above) if one in rows), None)


@cache
def _other_rows() -> Mapping[str, Mapping[str, str]]:
    return {row["api"]: row for row in rows_of("other_apis.csv")}
