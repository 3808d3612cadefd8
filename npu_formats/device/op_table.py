"""Operators of the device: their mixed-precision list and element types, and which of them a TensorFlow op becomes.

`ops/device_ops.csv`: one device operator a row.  `ops/tensorflow_ops.csv`: one TensorFlow op a row, read and kept by hand.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

WHITE, GRAY, BLACK = "white", "gray", "black"


@dataclass(frozen=True)
class DeviceOp:
    """One operator of the device.

    list: white (16 bit is fine), black (origin types only) or gray (as its producer).  types: (input, output) element types
    that it exists for, "" where one is no float; empty when the table does not tell, and every float type is taken.
    """

    name: str
    list: str
    types: tuple[tuple[str, str], ...]

    def has(self, dtype: str) -> bool:
        """Whether the operator exists for a float type."""
        return not self.types or any((given or made) == dtype for given, made in self.types)

    def result_of(self, dtype: str) -> str:
        """The type of its result for inputs of `dtype`: the same where there is a choice."""
        made = [result for given, result in self.types if (given or result) == dtype]
        return dtype if not made or dtype in made else made[0] or dtype


@dataclass(frozen=True)
class OpOnDevice:
    """The mapping of a TensorFlow op to the device.

    device_op: its operator, "" for an op without one.  forms: operators that passes of the graph engine make of that one, by
    whose names scripts may mean it.  inputs, outputs: positions that take the operator's type, None for all
    floats; others stay as they are.  keeps_grid: whether every result is one of the inputs' numbers (or 0 or 1), so that it
    needs no rounding of its own.  otherwise: without an operator, "aicpu" or "local" (nothing is launched).
    """

    tf_op: str
    device_op: str
    forms: tuple[str, ...]
    inputs: frozenset[int] | None
    outputs: frozenset[int] | None
    keeps_grid: bool
    otherwise: str


def _rows(name: str) -> list[dict[str, str]]:
    text = (resources.files("npu_formats.device") / "ops" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


@cache
def device_ops() -> Mapping[str, DeviceOp]:
    """Every operator of the device by name."""
    return {row["op"]: DeviceOp(row["op"], row["list"], _types(row["types"])) for row in _rows("device_ops.csv")}


@cache
def tensorflow_ops() -> Mapping[str, OpOnDevice]:
    """Every TensorFlow op that the device runs, by name."""
    return {
        row["tf_op"]: OpOnDevice(
            row["tf_op"], row["device_op"], tuple(row["forms"].split()), _positions(row["inputs"]), _positions(row["outputs"]),
            row["keeps_grid"] == "yes", row["otherwise"],
        )
        for row in _rows("tensorflow_ops.csv")
    }  # fmt: skip


def _types(text: str) -> tuple[tuple[str, str], ...]:
    """ "float16 float32>float16" as pairs; "any" is an empty table."""
    pairs = [word.partition(">") for word in text.split() if word != "any"]
    return tuple((given, result if arrow else given) for given, arrow, result in pairs)


def _positions(text: str) -> frozenset[int] | None:
    return frozenset(map(int, text.split())) if text else None
