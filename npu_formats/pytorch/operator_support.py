"""The support of PyTorch's operators on a chip: who computes one, and what the list of APIs says of those that call it.

`lists/operators.csv` is made by tools/build_pytorch_support.py: `device`, `composite` (made of other operators), `cpu`, or
`none` for one that other devices alone have. An API
is found by the operator's name, or by hand in `lists/operator_apis.csv`, which also has what operators of PyTorch's CPU build
stand for on the device. An operator is refused where all its APIs are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from npu_formats.device.op_table import device_ops
from npu_formats.pytorch.api_support import (
    FALLS_BACK,
    LIMITED,
    REFUSED,
    UNKNOWN,
    Support,
    VendorEntry,
    entries,
    verdict_of,
)  # fmt: skip
from npu_formats.pytorch.chip_column import ChipColumn, column_of
from npu_formats.pytorch.limit_facts import Fact, rows_of
from npu_formats.pytorch.operator_facts import facts_of_operator

DEVICE, COMPOSITE, CPU, NONE = "device", "composite", "cpu", "none"
KERNELS = "Ascend/op-plugin op_plugin/config/op_plugin_functions.yaml"
BACKWARD = re.compile(r"_(backward|double_backward|backward_data|forward)$")
MODULES = (
    ("", "torch."), ("", "torch.Tensor."), ("", "torch.nn.functional."), ("", "torch.special."), ("", "torch.linalg."),
    ("linalg_", "torch.linalg."), ("fft_", "torch.fft."), ("special_", "torch.special."), ("nn_", "torch.nn.functional."),
)  # fmt: skip
"""Beginnings of operators' names, and the module whose function has the rest as its name."""
NO_ROW = {"apis": "", "stands_for": "", "device_operator": ""}


def base_of(operator: str) -> str:
    """The name without overload: `add_` of `aten::add_.Tensor`, `c10d::allreduce_` of an operator that is not one of aten's."""
    return _plain(operator).partition(".")[0]


@cache
def support_of_operator(operator: str, chip: str, axes: int = 0) -> Support:
    """The support of an operator by its name, as `aten::add.Tensor` or `torchvision::nms`, on a chip.

    axes: of its images, 1 to 3; then APIs for other numbers, as `conv1d` for 2, count no more. An operator that no list has is
    UNKNOWN.  Raises: ChipProblem for a name that is no chip's.
    """
    column = column_of(chip)
    name = _plain(operator)
    kernel = kernel_of(operator)
    found = _for_axes(apis_of(operator), axes)
    facts = facts_of_operator(base_of(operator), found, column)
    words = _words(as_on_device(operator), kernel, found, facts, column)
    source = "; ".join([*(entry.source for entry in found), *([KERNELS] if kernel else ())]) or KERNELS
    if row := _known_fallbacks().get(name):
        words, source = (row["text"], *words), row["source"]
        kernel = kernel or CPU
    words += (column.remark,) if column.remark else ()
    return Support(operator, column.chip, _verdict(kernel, found, facts, column), column.verified, facts, words, source)


def kernel_of(operator: str) -> str:
    """DEVICE, COMPOSITE, CPU or NONE; an empty text for an operator that the table has not."""
    return _kernels().get(as_on_device(operator), "")


def as_on_device(operator: str) -> str:
    """The operator with overload that the device has where PyTorch's CPU build calls one of its own."""
    return _row_of(base_of(operator))["stands_for"] or _plain(operator)


def apis_of(operator: str) -> tuple[VendorEntry, ...]:
    """The APIs of the list that call an operator: those of its own form, in place or not, before those of the other."""
    base = base_of(operator)
    forward = BACKWARD.sub("", base)
    names = [*_by_hand(base), *_by_hand(forward)]
    if "::" not in base:
        names += [*_names(base), *_names(forward)]
    known = entries()
    return tuple(known[name] for name in dict.fromkeys(names) if name in known)


def device_types(operator: str) -> frozenset[str]:
    """Float types that operators of an Ascend 910B of this name take, by the device's own table; empty where none is known."""
    base = base_of(operator)
    by_hand = _row_of(base)["device_operator"]
    stem = BACKWARD.sub("", base).replace("_", "").lower()
    names = [by_hand] if by_hand else _device_operators().get(stem, [])
    pairs = [pair for name in names for pair in device_ops()[name].types]
    return frozenset(name for pair in pairs for name in pair if name)


@cache
def _device_operators() -> Mapping[str, list[str]]:
    """Operators of the device by their names in small letters without a version: `["Lerp"]` of `lerp`."""
    found: dict[str, list[str]] = {}
    for name in device_ops():
        found.setdefault(re.sub(r"V\d+$", "", name).lower(), []).append(name)
    return found


def advice_on(operator: str) -> str:
    """The way round an operator that the CPU computes, as far as somebody wrote it down."""
    row = _known_fallbacks().get(_plain(operator))
    return row["instead"] if row else ""


def _for_axes(found: Sequence[VendorEntry], axes: int) -> Sequence[VendorEntry]:
    """The APIs of a number of axes, or all where none is for it."""
    return [entry for entry in found if entry.api.endswith(f"{axes}d")] or found


def _verdict(kernel: str, found: Iterable[VendorEntry], facts: Iterable[Fact], column: ChipColumn) -> str:
    answers = {entry.supports(column) for entry in found} - {None}
    if answers == {False} or kernel == NONE:
        return REFUSED
    if kernel == CPU:
        return FALLS_BACK
    if not kernel and not answers:
        return UNKNOWN
    verdict = verdict_of(facts)
    return LIMITED if verdict == FALLS_BACK and kernel else verdict


def _words(name: str, kernel: str, found: Sequence[VendorEntry], facts: Iterable[Fact], column: ChipColumn) -> tuple[str, ...]:
    said = {
        DEVICE: f"{name} has a kernel of the device",
        COMPOSITE: f"{name} is made of other operators",
        CPU: f"{name} has no kernel of the device: the CPU computes it, with a copy there and one back",
        NONE: f"{name} has no kernel of the device, and none of the CPU",
        "": "" if found else f"{name} is in no list of the vendor's",
    }
    refused = [f"{entry.api} is not supported on {column.family}" for entry in found if entry.supports(column) is False]
    return tuple(filter(None, (said[kernel], *refused, *(fact.text for fact in facts))))


def _plain(operator: str) -> str:
    """The name with overload as the tables have it: `add.Tensor` of `aten::add.Tensor`, `relu` of `aten::relu.default`."""
    return operator.removeprefix("aten::").removeprefix("aten.").removesuffix(".default")


def _names(base: str) -> list[str]:
    """APIs that an operator may have by its name, its own form first."""
    stem = base.rstrip("_").lstrip("_")
    forms = [base, f"{stem}_", stem] if base.endswith("_") else [base, stem, f"{stem}_"]
    plain = [f"{module}{form.removeprefix(start)}" for form in forms for start, module in MODULES if form.startswith(start)]
    return [*plain, *_layers().get(stem.replace("_", ""), ())]


@cache
def _layers() -> Mapping[str, tuple[str, ...]]:
    """Classes of torch.nn by their names in small letters, as operators are called: `torch.nn.AvgPool3d` for `avgpool3d`."""
    names = [name for name in entries() if re.fullmatch(r"torch\.nn\.[A-Z]\w+", name)]
    return {name.rpartition(".")[2].lower(): (name,) for name in names}


def _by_hand(base: str) -> list[str]:
    return _row_of(base)["apis"].split()


def _row_of(base: str) -> Mapping[str, str]:
    return _apis_by_hand().get(base, NO_ROW)


@cache
def _apis_by_hand() -> Mapping[str, Mapping[str, str]]:
    return {row["operator"]: row for row in rows_of("operator_apis.csv")}


@cache
def _kernels() -> Mapping[str, str]:
    return {row["operator"]: row["kernel"] for row in rows_of("operators.csv")}


@cache
def _known_fallbacks() -> Mapping[str, Mapping[str, str]]:
    """Operators that people reported to be computed on the CPU, by their names; some have a kernel by now."""
    return {row["operator"]: row for row in rows_of("known_fallbacks.csv")}
