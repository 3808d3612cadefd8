"""Bessel, gamma and beta functions and the like, by SciPy in fp64 and rounded once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import per_element
from npu_runtime.errors import InvalidArgument
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.shapes import broadcast, same_as
from npu_runtime.kernels.threads.tiling import NARROW, OneUfunc, elementwise
from npu_runtime.kernels.variable_access import shape_text

Array = np.ndarray
FLOAT32 = frozenset({"float32"})
HALF = frozenset({"float16", "float32"})

for _op, _ufunc in {"BesselI0": special.i0, "BesselI0e": special.i0e, "BesselI1": special.i1, "BesselI1e": special.i1e}.items():
    elementwise(_op, flops=20, dtypes=HALF)(OneUfunc(_ufunc))


def _rounded(function: Callable[..., Any]) -> Callable[..., None]:
    """A body that evaluates a function in fp64."""

    def body(out: Array, *inputs: Array) -> None:
        with np.errstate(all="ignore"):
            np.copyto(out, function(*(x.astype(np.float64) for x in inputs)), casting="unsafe")

    body.__doc__ = f"{getattr(function, '__name__', 'function').strip('_')}, element by element."
    return body


def _equal_or_scalar(*inputs: Array) -> tuple[Array, ...]:
    """Source: TensorFlow op `Betainc`, whose operands do not broadcast but as scalars."""
    shapes = [x.shape for x in inputs if x.ndim]
    if len(set(shapes)) > 1:
        raise InvalidArgument(f"Shapes of a, b and x are inconsistent: {', '.join(map(shape_text, shapes))}")
    return inputs


def _lower_gamma(a: Array, x: Array) -> Array:
    """Source: Eigen's igamma_impl: nothing lies below 0, whatever a is; else a must be above 0."""
    return np.where(x == 0, 0.0, np.where(a > 0, special.gammainc(a, x), np.nan))


def _upper_gamma(a: Array, x: Array) -> Array:
    """Source: Eigen's igammac_impl."""
    return np.where(a > 0, special.gammaincc(a, x), np.nan)


_WIDE: dict[str, tuple[Callable[..., Any], int]] = {
    "Igamma": (_lower_gamma, 40), "Igammac": (_upper_gamma, 40), "Betainc": (special.betainc, 60),
    "Zeta": (special.zeta, 60),
}  # fmt: skip
for _op, (_function, _flops) in _WIDE.items():
    fit = _equal_or_scalar if _op == "Betainc" else None
    elementwise(_op, flops=_flops, dtypes=FLOAT32, shape=broadcast, inplace=(), fit=fit)(_rounded(_function))


@elementwise("Polygamma", flops=60, dtypes=FLOAT32, shape=broadcast, inplace=())
def polygamma(out: Array, order: Array, x: Array) -> None:
    """The derivative of `order` of digamma; NaN for an order that is no whole number from 0 on."""
    n, wide = order.astype(np.float64), x.astype(np.float64)
    with np.errstate(all="ignore"):
        value = np.where(n == 0, special.digamma(wide), np.power(-1.0, n + 1) * special.gamma(n + 1) * special.zeta(n + 1, wide))
    is_order = (n == np.floor(n)) & (n >= 0)
    np.copyto(out, np.where(is_order, value, np.nan), casting="unsafe")


@elementwise("NextAfter", flops=0, dtypes=FLOAT32, shape=broadcast)
def next_after(out: Array, x: Array, toward: Array) -> None:
    """The next number from x toward the other."""
    np.nextafter(x, toward, out=out)


@kernel(
    "CumulativeLogsumexp",
    unit="vector",
    shape=same_as(0),
    dtypes={"T": dt.FLOATS, "Tidx": dt.INDICES},
    estimate=per_element(6),
    ranks={"axis": 0},
)
def cumulative_logsumexp(x: Array, axis: Array, /, *, exclusive: bool = False, reverse: bool = False) -> Array:
    """log(sum(exp)) of all elements up to each one along an axis.

    exclusive: without the element itself, beginning with minus infinity.  Source: TensorFlow op `CumulativeLogsumexp`.
    """
    place = int(axis.reshape(-1)[0])
    if not -x.ndim <= place < x.ndim:
        raise InvalidArgument(f"ScanOp: Expected scan axis in the range [{-x.ndim}, {x.ndim}), but got {place}")
    values = np.moveaxis(x.astype(np.float32) if x.dtype in NARROW else x, place, 0)
    values = values[::-1] if reverse else values
    made = np.empty(values.shape, values.dtype)
    if exclusive:
        made[:1] = -np.inf
        np.logaddexp.accumulate(values[:-1], axis=0, out=made[1:])
    else:
        np.logaddexp.accumulate(values, axis=0, out=made)
    return np.ascontiguousarray(np.moveaxis(made[::-1] if reverse else made, 0, place)).astype(x.dtype, copy=False)
