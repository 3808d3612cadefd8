"""Entry of an operator bank: all that the cost of an operator depends on, the record of its tiling or schedule, and the time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from npu_runtime.observers.tuning.bank.document import canonical, name, need, number, whole

MOST_TENSORS = 4096
"""Tensors of an operator: an optimizer of a large network may update as many variables in one task."""
MOST_AXES = 16
"""Axes of a tensor. TensorFlow's own kernels take eight."""
MOST_FIELDS = 64
"""Fields of a record: the vendor's tiling record has 23."""


@dataclass(frozen=True)
class OperatorEntry:
    """operator: as `tuning.programs.operator_key` describes it.  record: names and whole numbers.  us: microseconds by the cost
    model of the release that wrote it; who reads it computes it anew.
    """

    operator: Mapping[str, Any]
    record: Mapping[str, int]
    us: float

    @property
    def key(self) -> str:
        """Equal keys have equal costs on a chip."""
        return canonical(self.operator)


def entry_of(value: Any) -> tuple[str, OperatorEntry]:
    """The entry of a JSON value, and its key.  Raises: Damaged."""
    need(isinstance(value, dict) and set(value) == {"operator", "record", "us"}, "set of fields")
    _check_operator(value["operator"])
    record = value["record"]
    need(isinstance(record, dict) and 0 < len(record) <= MOST_FIELDS, "record")
    need(all(name(key) and whole(item) for key, item in record.items()), "record")
    need(number(value["us"]) and value["us"] > 0, "time")
    made = OperatorEntry(value["operator"], record, float(value["us"]))
    return made.key, made


def value_of(entry: OperatorEntry) -> dict[str, Any]:
    """The JSON value of an entry."""
    return {"operator": entry.operator, "record": entry.record, "us": entry.us}


def _check_operator(operator: Any) -> None:
    need(isinstance(operator, dict) and set(operator) == {"op_type", "fused", "inputs", "outputs", "work"}, "operator")
    need(name(operator["op_type"]), "op type")
    need(_is_list(operator["fused"]) and all(map(name, operator["fused"])), "list of fused operators")
    for side in ("inputs", "outputs"):
        need(_is_list(operator[side]) and all(map(_is_tensor, operator[side])), f"list of {side}")
    work = operator["work"]
    need(isinstance(work, dict) and set(work) == {"product", "read_bytes", "written_bytes", "instructions"}, "work")
    need(all(number(item) for key, item in work.items() if key != "product"), "work")
    product = work["product"]
    need(product is None or (isinstance(product, dict) and all(_is_plain(item) for item in product.values())), "product")


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= MOST_TENSORS


def _is_tensor(value: Any) -> bool:
    """[shape, element type, format]"""
    if not (isinstance(value, list) and len(value) == 3 and name(value[1]) and name(value[2])):
        return False
    return isinstance(value[0], list) and len(value[0]) <= MOST_AXES and all(map(whole, value[0]))


def _is_plain(value: Any) -> bool:
    return isinstance(value, bool) or name(value) or (number(value) and value >= 0)
