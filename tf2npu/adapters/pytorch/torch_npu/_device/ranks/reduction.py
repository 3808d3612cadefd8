"""The ranks' numbers become one: the operators that HCCL has, carried out by those that Gloo has.

Source: ProcessGroupHCCL.cpp and HCCLUtils.cpp of Ascend/pytorch for the operators and types that HCCL takes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

from ..chip import chip_of_run

_Op = dist.ReduceOp
_NAMES = {_Op.SUM: "SUM", _Op.AVG: "AVG", _Op.PRODUCT: "PRODUCT", _Op.MIN: "MIN", _Op.MAX: "MAX"}
_REFUSED = {_Op.BAND: "BAND", _Op.BOR: "BOR", _Op.BXOR: "BXOR"}
_TYPES = (
    torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32, torch.bfloat16, torch.uint8, torch.bool,
)  # fmt: skip
"""Element types that HCCL reduces; uint8 and bool by way of int32."""
_OF_TRUTH = {_Op.SUM: _Op.MAX, _Op.PRODUCT: _Op.MIN}
"""Operators of bool: any and all."""
_DOUBLE_SINCE = "950"
"""The generation of chips whose HCCL reduces float64."""


class Reduction:
    """operation: the collective's name, for messages.  wanted: a ReduceOp, or options that have one; None for the sum.

    Raises: RuntimeError for what HCCL refuses.
    """

    def __init__(self, operation: str, wanted: Any, dtype: torch.dtype, n_ranks: int) -> None:
        op = _op_of(wanted)
        self._dtype, self._n_ranks = dtype, n_ranks
        self._factor = getattr(op, "factor", None) if op == _Op.PREMUL_SUM else None
        self._is_mean = op == _Op.AVG
        _check_type(operation, dtype)
        if self._factor is not None or op == _Op.PREMUL_SUM:
            self.name, self._op = "PREMUL_SUM", _Op.SUM
            return
        self.name = _name_of(op)
        if self._is_mean and not dtype.is_floating_point:
            raise RuntimeError(f"hccl: {operation}: ReduceOp.AVG divides, which {dtype} cannot: take ReduceOp.SUM")
        plain = _Op.SUM if self._is_mean else next(known for known in _NAMES if op == known)
        self._op = _OF_TRUTH.get(plain, plain) if dtype is torch.bool else plain

    def carry_out(self, row: torch.Tensor, reduce: Callable[[torch.Tensor, Any], None]) -> None:
        """Reduce a row in place.  reduce: does it for types and operators of Gloo."""
        if row.numel() == 0:
            return
        if self._factor is not None:
            row.mul_(self._factor.cpu() if isinstance(self._factor, torch.Tensor) else self._factor)
        if self._dtype is torch.int16:  # Gloo has none
            wide = row.int()
            reduce(wide, self._op)
            row.copy_(wide)
        else:
            reduce(row.view(torch.uint8) if self._dtype is torch.bool else row, self._op)
        if self._is_mean:
            row.div_(self._n_ranks)


def _op_of(wanted: Any) -> Any:
    if wanted is None:
        return _Op.SUM
    return getattr(wanted, "reduceOp", wanted)


def _name_of(op: Any) -> str:
    for known, name in _REFUSED.items():
        if op == known:
            raise RuntimeError(f"Cannot use ReduceOp.{name} with HCCL")
    return next(name for known, name in _NAMES.items() if op == known)


def _check_type(operation: str, dtype: torch.dtype) -> None:
    if dtype in _TYPES or (dtype is torch.float64 and _DOUBLE_SINCE in chip_of_run().name):
        return
    raise RuntimeError(
        f"HCCL {operation}: Unsupported data type {dtype}: it takes int8, int16, int32, int64, float16, bfloat16 and float32, so "
        "convert the tensor first"
    )
