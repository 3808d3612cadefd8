"""Limits of an operator, of those that the list has for the APIs that call it.

One kernel serves all of them. So what one API may be given, the operator may: element types are those of any, and none is said
where one API has no limit of types. Whether the CPU computes is said of the operator's own form, in place or not, alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from npu_formats.pytorch.api_support import ON_CPU, VendorEntry
from npu_formats.pytorch.chip_column import ChipColumn
from npu_formats.pytorch.limit_facts import TYPES, Fact

FIRST_TENSOR = ("input", "self", "tensor", "query")
"""Names that the lists give to the first tensor of a call."""
OF_TYPES = frozenset({"types", "more_types", "not_types"})


def facts_of_operator(base: str, found: Sequence[VendorEntry], column: ChipColumn) -> tuple[Fact, ...]:
    """The limits of an operator on a chip; types of its first tensor are one fact `types input=...`.

    base: its name without overload.  found: APIs that call it; those that the chip does not support are left out where it
    supports others.
    """
    taken = [entry for entry in found if entry.supports(column)] or list(found)
    types = _types(taken, column)
    first = [Fact("types", "input", types)] if taken and len(types) < len(TYPES) else []
    return tuple(dict.fromkeys([*first, *_others(base, taken, column)]))


def _types(found: Iterable[VendorEntry], column: ChipColumn) -> tuple[str, ...]:
    """Types of the first tensor that any API takes, in the order of TYPES."""
    taken = {name for entry in found for name in _types_of(entry.facts_for(column))}
    return tuple(name for name in TYPES if name in taken)


def _types_of(facts: Sequence[Fact]) -> set[str]:
    named = [fact for fact in facts if fact.kind == "types" and fact.argument in FIRST_TENSOR]
    types = {name for fact in named for name in fact.values} or set(TYPES)
    more = {name for fact in facts if fact.kind == "more_types" for name in fact.values}
    return (types | more) - {name for fact in facts if fact.kind == "not_types" for name in fact.values}


def _others(base: str, found: Iterable[VendorEntry], column: ChipColumn) -> Iterable[Fact]:
    for entry in found:
        for fact in entry.facts_for(column):
            of_first = fact.kind in OF_TYPES and (fact.kind != "types" or fact.argument in FIRST_TENSOR)
            other_form = fact.kind in ON_CPU and entry.api.endswith("_") != base.endswith("_")
            if not of_first and not other_form:
                yield fact
