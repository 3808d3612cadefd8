"""Calls of PyTorch's operators: recorded ones of a training step, and single ones as a recorder writes them."""

from __future__ import annotations

import gzip
import json
import math
from functools import cache
from pathlib import Path
from typing import Any

from npu_runtime.importers.pytorch.operator_call import OperatorCall, TensorUse

FOLDER = Path(__file__).parents[1] / "fixtures/torch"
NETWORKS = tuple(sorted(path.name.removesuffix(".json.gz") for path in FOLDER.glob("*.json.gz")))


@cache
def recorded_step(name: str) -> tuple[list[OperatorCall], dict[str, int]]:
    """The calls of a step of a network, and its floating-point operations by operator as torch counts them."""
    found = json.loads(gzip.decompress((FOLDER / f"{name}.json.gz").read_bytes()))
    uses = [
        TensorUse(storage, tuple(shape), dtype, tuple(strides), is_p) for storage, shape, dtype, strides, is_p in found["uses"]
    ]
    return [OperatorCall(*(_unpacked(value, uses) for value in row)) for row in found["calls"]], found["flops"]


def _unpacked(value: Any, uses: list[TensorUse]) -> Any:
    if isinstance(value, list):
        return tuple(_unpacked(one, uses) for one in value)
    if isinstance(value, dict):
        return uses[value["t"]] if set(value) == {"t"} else {name: _unpacked(one, uses) for name, one in value.items()}
    return value


def use(
    storage: int, *shape: int, dtype: str = "float16", strides: tuple[int, ...] | None = None, is_parameter: bool = False
) -> TensorUse:
    """A tensor in rows, unless strides say otherwise."""
    rows = tuple(math.prod(shape[n + 1 :]) for n in range(len(shape)))
    return TensorUse(storage, shape, dtype, rows if strides is None else strides, is_parameter)


def call(name: str, *arguments: Any, results: tuple[Any, ...] = (), overload: str = "default", **keywords: Any) -> OperatorCall:
    return OperatorCall(name, overload, arguments, keywords, results, "train.py", 7, 0)
