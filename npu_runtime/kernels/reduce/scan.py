"""Running sums and products along one axis."""

from __future__ import annotations

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import per_element
from npu_runtime.errors import InvalidArgument
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.shapes import same_as
from npu_runtime.kernels.threads.parallel import parallel_ranges
from npu_runtime.kernels.threads.tiling import NARROW

WIDE_STEP = 256
"""Elements of one step of a scan from which on a call for each step takes less time than numpy's loop over elements."""
STEP_GRAIN = 4096
"""Elements of one call: threads that make shorter ones wait for each other."""
TYPES = {"T": dt.NUMBERS, "Tidx": dt.INDICES}


def _scan(ufunc: np.ufunc, x: np.ndarray, axis: np.ndarray, exclusive: bool, reverse: bool, out: np.ndarray | None) -> np.ndarray:
    place = int(axis.reshape(-1)[0])
    if not -x.ndim <= place < x.ndim:
        raise InvalidArgument(f"ScanOp: Expected scan axis in the range [{-x.ndim}, {x.ndim}), but got {place}")
    values = np.moveaxis(x.astype(np.float32) if x.dtype in NARROW else x, place, 0)
    made = np.empty(x.shape, x.dtype) if out is None else out
    target = np.moveaxis(made, place, 0)
    if reverse:
        values, target = values[::-1], target[::-1]
    if exclusive:
        target[:1] = ufunc.identity
        values, target = values[:-1], target[1:]
    if target.size:
        sums = np.empty(target.shape, np.float32) if x.dtype in NARROW else target
        _accumulate(ufunc, values, sums)
        if sums is not target:
            np.copyto(target, sums, casting="unsafe")
    return made


def _accumulate(ufunc: np.ufunc, x: np.ndarray, out: np.ndarray) -> None:
    """Along axis 0; side by side over the longest other axis, a few of its elements at once so that cache lines are kept."""
    if x.ndim == 1:
        ufunc.accumulate(x, dtype=x.dtype, out=out)
        return
    longest = int(np.argmax(x.shape[1:])) + 1
    before = (slice(None),) * longest
    step_size = x[0].size
    goes_by_steps = step_size >= WIDE_STEP and x.strides[-1] == x.itemsize

    def columns(start: int, stop: int) -> None:
        index = (*before, slice(start, stop))
        if goes_by_steps:
            _step_by_step(ufunc, x[index], out[index])
        else:
            ufunc.accumulate(x[index], axis=0, dtype=x.dtype, out=out[index])

    parallel_ranges(x.shape[longest], columns, STEP_GRAIN * x.shape[longest] // step_size if goes_by_steps else 64)


def _step_by_step(ufunc: np.ufunc, x: np.ndarray, out: np.ndarray) -> None:
    """Each step as one call for all the elements beside each other: numpy's own way takes them one by one."""
    np.copyto(out[0], x[0])
    for step in range(1, len(x)):
        ufunc(out[step - 1], x[step], out=out[step])


@kernel("Cumsum", unit="vector", shape=same_as(0), dtypes=TYPES, estimate=per_element(1), ranks={"axis": 0})
def cumulative_sum(
    x: np.ndarray, axis: np.ndarray, /, *, exclusive: bool = False, reverse: bool = False, out: np.ndarray | None = None
) -> np.ndarray:
    """Sums of all elements up to each one along an axis.

    exclusive: without the element itself, beginning with 0.  reverse: from the end.
    Raises: InvalidArgument for an axis outside the rank.  Source: TensorFlow op `Cumsum`.
    """
    return _scan(np.add, x, axis, exclusive, reverse, out)


@kernel("Cumprod", unit="vector", shape=same_as(0), dtypes=TYPES, estimate=per_element(1), ranks={"axis": 0})
def cumulative_product(
    x: np.ndarray, axis: np.ndarray, /, *, exclusive: bool = False, reverse: bool = False, out: np.ndarray | None = None
) -> np.ndarray:
    """Products of all elements up to each one along an axis; see `Cumsum`, beginning with 1. Source: TensorFlow op `Cumprod`."""
    return _scan(np.multiply, x, axis, exclusive, reverse, out)
