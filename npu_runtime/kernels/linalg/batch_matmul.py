"""Products of two stacks of matrices."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.half_storage import compute_dtype, store, wide_buffer
from npu_runtime.kernels.linalg.gemm_unpacked import SMALL_PRODUCT
from npu_runtime.kernels.linalg.matmul import (
    MOST_STACKS,
    PRODUCTS,
    SERIAL_FLOPS,
    as_blas_takes_it,
    check_inner,
    matmul_flops,
    multiply,
)
from npu_runtime.kernels.shapes import broadcast_pair
from npu_runtime.kernels.threads.parallel import parallel_ranges
from npu_runtime.kernels.variable_access import shape_text

_BYTES = frozenset({"int8", "uint8"})
BATCH_ROWS, BATCH_COLUMNS = 32, 128
"""The fewest rows and the most columns of one of a batch of products that is cut so that BLAS packs nothing."""


def multiply_batch(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> np.ndarray:
    """out = x @ y over broadcast leading axes.  x: (..., m, k).  y: (..., k, n).  out: (..., m, n) contiguous."""
    if 0 in (out.size, x.size):
        out.fill(0)
        return out
    x, y = as_blas_takes_it(x), as_blas_takes_it(y)
    if out.ndim == 2:
        return multiply(x.reshape(x.shape[-2:]), y.reshape(y.shape[-2:]), out)
    if math.prod(y.shape[:-2]) == 1 and x.flags.c_contiguous:
        multiply(x.reshape(-1, x.shape[-1]), y.reshape(y.shape[-2:]), out.reshape(-1, out.shape[-1]))
        return out
    batch = out.shape[:-2]
    flat_x, flat_y, flat_out = _flat_batch(x, batch), _flat_batch(y, batch), out.reshape(-1, *out.shape[-2:])
    flops = 2.0 * out.shape[-2] * out.shape[-1] * x.shape[-1]
    n_parts = _parts_of(x, y)
    if n_parts > 1:
        flat_x, flat_out = (a.reshape(len(a), n_parts, -1, a.shape[2]) for a in (flat_x, flat_out))  # views
        flat_y = flat_y[:, None]
    grain = max(math.ceil(SERIAL_FLOPS / 2 / max(flops, 1.0)), -(-len(flat_out) // MOST_STACKS))

    def body(start: int, stop: int) -> None:
        np.matmul(flat_x[start:stop], flat_y[start:stop], out=flat_out[start:stop])

    parallel_ranges(len(flat_out), body, grain)
    return out


def _parts_of(x: np.ndarray, y: np.ndarray) -> int:
    """Into how many parts of its rows to cut each left operand of a batch, so that BLAS packs none; 1 where that does not pay."""
    (m, inner), n = x.shape[-2:], y.shape[-1]
    if x.dtype != np.float32 or y.strides[-1] != y.itemsize or n > BATCH_COLUMNS or m * inner * n <= SMALL_PRODUCT:
        return 1
    fits = (count for count in range(2, m // BATCH_ROWS + 1) if m % count == 0 and m // count * inner * n <= SMALL_PRODUCT)
    return next(fits, 1)


def _flat_batch(x: np.ndarray, batch: tuple[int, ...]) -> np.ndarray:
    """x with its leading axes broadcast to `batch` and made one; a copy only where an extent really repeats."""
    return np.broadcast_to(x, (*batch, *x.shape[-2:])).reshape(math.prod(batch), *x.shape[-2:])


def _batch_shape(x: Spec, y: Spec, *, adj_x: bool = False, adj_y: bool = False, Tout: str = "") -> Shape:
    if x.shape is None or y.shape is None:
        return None
    _check_batch_ranks(x.shape, y.shape)
    rows, inner_x = x.shape[:-3:-1] if adj_x else x.shape[-2:]
    inner_y, columns = y.shape[:-3:-1] if adj_y else y.shape[-2:]
    check_inner(inner_x, inner_y, x.shape, y.shape)
    batch = _batch_of(x.shape, y.shape)
    return None if batch is None else (*batch, rows, columns)


def _batch_of(x: Sequence[int | None], y: Sequence[int | None]) -> Shape:
    """The leading axes, broadcast.  Raises: InvalidArgument when they do not go together."""
    try:
        return broadcast_pair(tuple(x[:-2]), tuple(y[:-2]))
    except InvalidArgument as error:
        both = f"{shape_text(x)} vs. {shape_text(y)}"
        raise InvalidArgument(f"In[0] and In[1] must have compatible batch dimensions: {both}") from error


def leading_axes(x: np.ndarray, y: np.ndarray) -> tuple[int, ...]:
    """The leading axes of stacks of matrices, broadcast.  Raises: InvalidArgument when they do not go together."""
    return tuple(n for n in _batch_of(x.shape, y.shape) or () if n is not None)


def _check_batch_ranks(x: Sequence[int | None], y: Sequence[int | None]) -> None:
    for index, shape in enumerate((x, y)):
        if len(shape) < 2:
            raise InvalidArgument(f"In[{index}] ndims must be >= 2: {len(shape)}")


def _batch_matmul(x: np.ndarray, y: np.ndarray, adj_x: bool, adj_y: bool, dtype: np.dtype, out: np.ndarray | None) -> np.ndarray:
    _check_batch_ranks(x.shape, y.shape)
    left = x.swapaxes(-1, -2) if adj_x else x
    right = y.swapaxes(-1, -2) if adj_y else y
    check_inner(left.shape[-1], right.shape[-2], x.shape, y.shape)
    batch = leading_axes(x, y)
    shape = (*batch, left.shape[-2], right.shape[-1])
    wide = compute_dtype(dtype)
    result = multiply_batch(left.astype(wide, copy=False), right.astype(wide, copy=False), wide_buffer(shape, dtype, out))
    return store(result, dtype, out)


def small_batch_product(
    inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Mapping[str, Any], is_planned: bool
) -> Callable[..., Any] | None:
    """See `base.Small`: stacks of fp32 of the same number of matrices, which `multiply_batch` hands to numpy as they are."""
    (x, y), (result,) = inputs, outputs
    shape, batch = result.known_shape(), result.known_shape()[:-2]
    if result.dtype != "float32" or 0 in (*x.known_shape(), *y.known_shape()) or math.prod(batch) < 2:
        return None
    is_turned, is_other_turned = attrs.get("adj_x", False), attrs.get("adj_y", False)
    one = shape[-2] * shape[-1] * x.known_shape()[-2 if is_turned else -1]
    is_broadcast = x.known_shape()[:-2] != batch or y.known_shape()[:-2] != batch
    if is_broadcast or 4.0 * one * math.prod(batch) >= SERIAL_FLOPS or (SMALL_PRODUCT and one > SMALL_PRODUCT):
        return None

    def run(x: np.ndarray, y: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        x, y = x.swapaxes(-1, -2) if is_turned else x, y.swapaxes(-1, -2) if is_other_turned else y
        return np.matmul(as_blas_takes_it(x), as_blas_takes_it(y), out)

    return run


@kernel(
    "BatchMatMul", unit="cube", shape=_batch_shape, dtypes=PRODUCTS | {"int16"}, estimate=matmul_flops, small=small_batch_product
)
def equal_batch_matmul(
    x: np.ndarray, y: np.ndarray, /, *, adj_x: bool = False, adj_y: bool = False, out: np.ndarray | None = None
) -> np.ndarray:
    """As BatchMatMulV2, and leading axes must be equal.  Source: TensorFlow op `BatchMatMul`."""
    if x.ndim != y.ndim:
        raise InvalidArgument(f"In[0] and In[1] has different ndims: {shape_text(x.shape)} vs. {shape_text(y.shape)}")
    for axis in range(x.ndim - 2):
        if x.shape[axis] != y.shape[axis]:
            both = f"In[0].dim({axis}) and In[1].dim({axis})"
            raise InvalidArgument(f"{both} must be the same: {shape_text(x.shape)} vs {shape_text(y.shape)}")
    return _batch_matmul(x, y, adj_x, adj_y, x.dtype, out)


@kernel(
    "BatchMatMulV2",
    unit="cube",
    shape=_batch_shape,
    dtypes=PRODUCTS | {"int16"},
    estimate=matmul_flops,
    small=small_batch_product,
)
def batch_matmul(
    x: np.ndarray, y: np.ndarray, /, *, adj_x: bool = False, adj_y: bool = False, out: np.ndarray | None = None
) -> np.ndarray:
    """Products of two stacks of matrices; leading axes broadcast.

    x: (..., m, k), or (..., k, m) with adj_x.  y: (..., k, n), or (..., n, k) with adj_y.  Returns: (..., m, n).
    Raises: InvalidArgument for a rank below 2, different k, or leading axes that do not broadcast.
    Source: TensorFlow op `BatchMatMulV2`.
    """
    return _batch_matmul(x, y, adj_x, adj_y, x.dtype, out)


def _refuse_mixture(specs: Sequence[Spec], attrs: dict[str, Any]) -> str | None:
    """A mixture of types that TensorFlow's CPU has no kernel for.

    Source: the kernels registered in TensorFlow's core/kernels/matmul_op_real.cc and batch_matmul_op_*.cc.
    """
    kinds, out = {spec.dtype for spec in specs}, attrs["Tout"]
    if kinds == {out} or (kinds <= _BYTES and out == "int32"):
        return None
    if out == "bfloat16" and out in kinds and kinds <= _BYTES | {out}:
        return None
    return f"BatchMatMulV3 of {' and '.join(spec.dtype for spec in specs)} to {out}"


@kernel(
    "BatchMatMulV3", unit="cube", shape=_batch_shape, estimate=matmul_flops, refuse=_refuse_mixture,
    dtypes={"Ta": PRODUCTS | _BYTES | {"int16"}, "Tb": PRODUCTS | _BYTES | {"int16"}, "Tout": PRODUCTS - {"float16"} | {"int16"}},
)  # fmt: skip
def batch_matmul_v3(
    x: np.ndarray, y: np.ndarray, /, *, adj_x: bool = False, adj_y: bool = False, Tout: str, out: np.ndarray | None = None
) -> np.ndarray:
    """As BatchMatMulV2 with a type of its own for the result: int8 or uint8 times int8 summed in int32.

    Source: TensorFlow op `BatchMatMulV3`.
    """
    return _batch_matmul(x, y, adj_x, adj_y, dt.to_numpy(Tout), out)
