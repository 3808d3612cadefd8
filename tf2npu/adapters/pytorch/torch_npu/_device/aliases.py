"""Arguments of an operator that its results are, or look into, by its schema."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch


class Aliases(NamedTuple):
    """written: position and name of the argument that each result is.  viewed: position of the one the results share memory with.

    is_certain: whether they always do; `reshape` and `contiguous` may copy, where autograd has not taken them apart.
    """

    written: tuple[tuple[int, str], ...]
    viewed: int
    is_certain: bool


_known: dict[Any, Aliases] = {}


def aliases_of(operator: Any) -> Aliases:
    """The aliases of an operator; viewed is -1 for results with memory of their own."""
    found = _known.get(operator)
    if found is None:
        found = _known[operator] = _read(operator._schema, not _is_composite(operator))
    return found


def _is_composite(operator: Any) -> bool:
    return torch._C._dispatch_has_kernel_for_dispatch_key(operator.name(), "CompositeImplicitAutograd")


def _read(schema: Any, is_certain: bool) -> Aliases:
    written, viewed = [], -1
    for result in schema.returns:
        if result.alias_info is None:
            continue
        at = _argument(schema, result.alias_info)
        if at is None:
            continue
        if result.alias_info.is_write:
            written.append((at, schema.arguments[at].name))
        elif viewed < 0:
            viewed = at
    return Aliases(tuple(written), viewed, is_certain)


def _argument(schema: Any, alias: Any) -> int | None:
    for at, argument in enumerate(schema.arguments):
        if argument.alias_info is not None and argument.alias_info.before_set & alias.before_set:
            return at
    return None
