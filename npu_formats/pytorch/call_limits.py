"""Findings about one call of an operator, or one use of an API, on a chip."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from npu_formats.device.chip import chip_names, load_chip
from npu_formats.pytorch.api_support import (
    FALLS_BACK,
    LIMITED,
    ON_CPU,
    REFUSED,
    UNKNOWN,
    Support,
    instead_of,
    support_of_api,
)  # fmt: skip
from npu_formats.pytorch.chip_column import column_of
from npu_formats.pytorch.limit_facts import Fact
from npu_formats.pytorch.operator_facts import FIRST_TENSOR
from npu_formats.pytorch.operator_support import (
    COMPOSITE,
    CPU,
    DEVICE,
    NONE,
    advice_on,
    as_on_device,
    base_of,
    device_types,
    kernel_of,
    support_of_operator,
)  # fmt: skip

KINDS = ("refused", "falls_back", "type_refused", "shape_limit", "limited", "unverified")
POSITIONS = {**dict.fromkeys(FIRST_TENSOR, 0), "elements": 0, "": 0, "key": 1, "test_elements": 1, "value": 2}
"""The place among a call's tensors of those that the lists name; none for others, whose place depends on the operator."""
IN_NO_LIST = frozenset({"complex32"})
"""Types that no list names. Source: error 161002 of aclnn for complex32 (flagos-ai/FlagGems pull request 3267)."""
MOVES = frozenset({
    "_local_scalar_dense", "_reshape_alias", "_to_copy", "as_strided", "clone", "copy_", "empty", "empty_strided",
    "unsqueeze", "view",
})  # fmt: skip
"""Operators that compute nothing, so that units have no say in their types."""
OF_THE_HOST = ("profiler::", "prim::")
"""Namespaces of operators that never run on a device."""
WITH_OPERATOR_TABLE = frozenset({"A2", "A3"})
"""Columns of chips whose operators are those of the device's own table, which is one of Ascend 910B."""
WHAT_TO_DO = {
    "refused": "compute it on the CPU, or with other operators",
    "falls_back": "take it out of the training step, or compute it with other operators",
    "type_refused": "convert the tensor first, as with .float()",
    "shape_limit": "reshape the tensors first",
    "limited": "see the vendor's page",
    "unverified": "try it on a card before you rely on it",
}


@dataclass(frozen=True)
class Limit:
    """A finding.  kind: one of KINDS.  message: what, on which chip, and what to do, in one line.

    certain: whether all that the vendor publishes agrees: not where a list refuses what torch_npu or the device has a kernel
    for, or says that the CPU may compute it.  source: where it stands.
    """

    kind: str
    name: str
    message: str
    certain: bool
    source: str


def limits_of_call(name: str, dtypes: Sequence[str], shapes: Sequence[tuple[int, ...]], chip: str) -> list[Limit]:
    """Findings about a dispatched call.

    name: the operator's, as `aten::add.Tensor`.  dtypes, shapes: of its tensors in their order; types as `float32` or
    `torch.float32`.  chip: as for `--soc`.  An operator that is made of others is judged by those.
    Raises: ChipProblem for a name that is no chip's.
    """
    plain = tuple(dtype.removeprefix("torch.") for dtype in dtypes)
    axes = len(shapes[0]) - 2 if shapes and len(shapes[0]) > 2 else 0
    return list(_limits(name, plain, tuple(shapes), chip, axes))


@lru_cache(maxsize=8192)
def _limits(name: str, dtypes: tuple[str, ...], shapes: tuple[tuple[int, ...], ...], chip: str, axes: int) -> tuple[Limit, ...]:
    """The findings, remembered: a training step makes the calls of the one before."""
    return tuple(_found(name, dtypes, shapes, chip, axes))


def limits_of_api(name: str, chip: str) -> list[Limit]:
    """Findings about a use of an API by its dotted name, as `torch.nn.DataParallel`.  Raises: ChipProblem."""
    support = support_of_api(name, chip)
    kind = {REFUSED: "refused", FALLS_BACK: "falls_back", LIMITED: "limited", UNKNOWN: "unverified"}.get(support.verdict)
    if not kind:
        return []
    unsaid = {fact.text for fact in support.facts if kind == "refused" or not fact.limits}
    what = "; ".join(words for words in support.words if words not in unsaid)
    todo = instead_of(name) or WHAT_TO_DO[kind]
    certain = kind != "unverified" and support.verified and not any(fact.kind == "maybe_cpu" for fact in support.facts)
    return [Limit(kind, name, f"{name} on {support.chip}: {what}; {todo}", certain, support.source)]


def _found(name: str, dtypes: Sequence[str], shapes: Sequence[tuple[int, ...]], chip: str, axes: int) -> Iterator[Limit]:
    if name.startswith(OF_THE_HOST):
        return
    support = support_of_operator(name, chip, axes)
    kernel = kernel_of(name)
    yield from _of_operator(support, kernel)
    if kernel == COMPOSITE or support.verdict == REFUSED:
        return
    yield from _without_bfloat16(support, dtypes)
    yield from _of_types(support, dtypes)
    yield from (one for fact in support.facts if (one := _of_shape(fact, support, dtypes, shapes)))


def _of_operator(support: Support, kernel: str) -> Iterator[Limit]:
    family = column_of(support.chip).family
    if kernel == NONE:
        yield _limit(support, "refused", "torch_npu has no kernel for it, and neither has the CPU", listed=False)
    elif support.verdict == REFUSED:
        against = f"the vendor's list does not support it on {family}, though torch_npu has a kernel for it"
        what = against if kernel == DEVICE else f"the vendor's list does not support it on {family}"
        yield _limit(support, "refused", what, certain=kernel != DEVICE)
    elif support.verdict == UNKNOWN:
        yield _limit(support, "unverified", "the vendor's lists do not name it", certain=False)
    elif kernel == CPU or support.verdict == FALLS_BACK:
        what = "torch_npu has no kernel for it: the CPU computes it, with a copy there and one back"
        yield _limit(support, "falls_back", what, listed=False)
    elif any(fact.kind in ON_CPU for fact in support.facts):
        yield _limit(support, "falls_back", "the vendor's list says that the CPU may compute it", certain=False)


def _without_bfloat16(support: Support, dtypes: Sequence[str]) -> Iterator[Limit]:
    if "bfloat16" in dtypes and not _has_bfloat16(support.chip) and base_of(support.name) not in MOVES:
        yield _limit(support, "type_refused", "the chip does not compute with bfloat16: float16 is what it has", listed=False)


def _of_types(support: Support, dtypes: Sequence[str]) -> Iterator[Limit]:
    allowed = {POSITIONS[argument]: types for argument, types in support.dtypes.items() if argument in POSITIONS}
    for place, dtype in enumerate(dtypes):
        if dtype in IN_NO_LIST:
            yield _limit(support, "type_refused", f"tensor {place + 1} is {dtype}, which no list names", listed=False)
        elif place in allowed and dtype not in allowed[place] and (dtype != "bfloat16" or _has_bfloat16(support.chip)):
            listed = ", ".join(sorted(allowed[place]))
            taken = column_of(support.chip).name in WITH_OPERATOR_TABLE and dtype in device_types(support.name)
            against = f"tensor {place + 1} is {dtype}, not of the vendor's list ({listed}), though the device's operator takes it"
            what = against if taken else f"tensor {place + 1} is {dtype}, and the vendor's list has {listed}"
            yield _limit(support, "type_refused", what, certain=not taken)


def _of_shape(fact: Fact, support: Support, dtypes: Sequence[str], shapes: Sequence[tuple[int, ...]]) -> Limit | None:
    argument, _, axis = fact.argument.partition(".")
    place = 0 if fact.kind == "types_max_dims" else POSITIONS.get(argument, len(shapes))
    if place >= len(shapes) or not _breaks(fact, axis, dtypes[place : place + 1], shapes[place]):
        return None
    what = f"tensor {place + 1} has the shape {list(shapes[place])}, and the vendor's list says: {fact.text}"
    return _limit(support, "shape_limit", what)


def _breaks(fact: Fact, axis: str, dtype: Sequence[str], shape: tuple[int, ...]) -> bool:
    """Whether a shape is outside of what a fact allows.  axis: of a `max_size`, counted from the end where negative."""
    if fact.kind not in ("max_dims", "min_dims", "dims", "not_dims", "types_max_dims", "max_size", "max_elements"):
        return False
    first, _, last = fact.values[0].partition("-")
    low, high, dims = int(first), int(last or first), len(shape)
    if fact.kind == "max_size":
        return -dims <= int(axis) < dims and shape[int(axis)] > high
    if fact.kind == "max_elements":
        return _elements(shape) > high
    if fact.kind == "types_max_dims":
        return dtype == (fact.argument,) and dims > high
    return {"max_dims": dims > high, "min_dims": dims < low, "not_dims": dims == low}.get(fact.kind, not low <= dims <= high)


def _elements(shape: tuple[int, ...]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def _limit(support: Support, kind: str, what: str, certain: bool = True, listed: bool = True) -> Limit:
    """A finding.  listed: whether it is out of the list of APIs, which does not tell of every chip."""
    remark = column_of(support.chip).remark if listed else ""
    todo = (advice_on(support.name) if kind == "falls_back" else "") or WHAT_TO_DO[kind]
    name, chip = _shown(support.name), support.chip
    known = f"{name} on the chip {chip}: {what}; {todo}"
    message = f"{name} on the chip {chip}: {what} ({remark}); {todo}" if remark else known
    return Limit(kind, support.name, message, certain and not remark, support.source)


def _shown(operator: str) -> str:
    base = base_of(as_on_device(operator))
    return base if "::" in base else f"aten::{base}"


@cache
def _has_bfloat16(chip: str) -> bool:
    full = f"Ascend{chip}"
    return full not in chip_names() or load_chip(full).has_bfloat16
