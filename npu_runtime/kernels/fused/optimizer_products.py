"""An optimizer whose gradient, a product of two matrices, is made row by row: it is neither written to memory nor read again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from npu_runtime.cost.work import n_elements
from npu_runtime.device.variable import Variable
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels import variable_access
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.linalg.matmul import check_inner, check_ranks, multiply
from npu_runtime.kernels.threads.parallel import scratch
from npu_runtime.kernels.training.apply_update import DENSE

APPLY_PRODUCT = "_ApplyProduct"
N_FACTORS = 2
"""Factors of one product."""


def _shape(var: Spec, *inputs: Spec, update: str, settings: Mapping[str, Any], transpose_a: bool, transpose_b: bool) -> Any:
    return [] if update.startswith("Resource") else var.shape


def _flops(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: dict[str, Any]) -> float:
    """Flops as the single nodes count."""
    left, right = (spec.known_shape() for spec in inputs[-N_FACTORS:])
    inner, rows = left if attrs["transpose_a"] else left[::-1]
    made: Shape = (rows, right[0 if attrs["transpose_b"] else 1])
    return (DENSE[attrs["update"]].flops + 2.0 * inner) * n_elements(Spec(made, "float32"))


@kernel(APPLY_PRODUCT, unit="cube", shape=_shape, estimate=_flops, dtypes=frozenset({"float32"}))
def apply_product(
    var: Variable, /, *inputs: Any, update: str, settings: Mapping[str, Any], transpose_a: bool, transpose_b: bool
) -> Variable | tuple[()]:  # fmt: skip
    """The op `update` with these attributes, its gradient the product of the last two inputs.

    inputs: of the op those behind var without its gradient, then two matrices as MatMul takes them with transpose_a and
    transpose_b.  Returns and raises: as the op, and as MatMul.
    """
    one = DENSE[update]
    a, b = inputs[-N_FACTORS:]
    check_ranks(a.shape, b.shape)
    left, right = (a.T if transpose_a else a), (b.T if transpose_b else b)
    check_inner(left.shape[1], right.shape[0], a.shape, b.shape)
    given = [var, *inputs[:-N_FACTORS]]
    given.insert(one.layout.grad, None)
    columns = right.shape[1]

    def made(start: int, stop: int) -> np.ndarray:
        rows = slice(start // columns, stop // columns)
        gradient = scratch("gradient", (rows.stop - rows.start, columns))
        return multiply(left[rows], right, gradient).reshape(-1)

    one.run(given, settings, (len(left), columns), made, 2.0 * len(right), columns)
    return variable_access.result(var)
