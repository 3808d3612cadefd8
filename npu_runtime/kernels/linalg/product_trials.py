"""The cut and the algorithm of a matrix product where a tuner chooses by the clock: each way runs on made-up operands."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from npu_runtime.kernels.algorithm_choice import Trial, chosen, operand, trials_of
from npu_runtime.kernels.linalg.epilogue import Epilogue
from npu_runtime.kernels.linalg.gemm_unpacked import SMALL_PRODUCT, WIDTH, multiply_unpacked
from npu_runtime.kernels.linalg.serial_products import as_blas_takes_it, multiply_few, multiply_stacked, multiply_transposed
from npu_runtime.kernels.threads.parallel import n_threads, parallel_ranges

Multiply = Callable[..., object]
RULES = "rules"
"""The way that `matmul.multiply` takes by itself."""
_ON_ONE_THREAD: dict[str, Multiply] = {
    "blas": np.matmul, "stacked": multiply_stacked, "few": multiply_few, "transposed": multiply_transposed,
    "unpacked": multiply_unpacked,
}  # fmt: skip
_WHOLE, _ROWS, _COLUMNS = "whole", "rows", "columns"
_PARTS = (_WHOLE, _ROWS, _COLUMNS)
"""Work of a thread: the whole product, or one piece each of its rows or columns."""
WAYS = {f"{parts} {name}": (parts, by) for parts in _PARTS for name, by in _ON_ONE_THREAD.items()}
"""Ways of a product, by the names that a bank knows them by."""
LEAST = 500_000
"""Multiplications of the smallest product that a tuner is asked about: 10 us, of which asking takes two."""
_LANES = 16
"""Rows or columns that pieces have a multiple of: the width of the micro kernels."""


def is_worth_it(a: np.ndarray, out: np.ndarray) -> bool:
    """Whether a tuner is asked how to multiply.  a: (m, k).  out: (m, n)."""
    return out.size * a.shape[1] >= LEAST and out.dtype == a.dtype == np.float32


def multiply(a: np.ndarray, b: np.ndarray, out: np.ndarray, epilogue: Epilogue | None, rules: Multiply) -> np.ndarray:
    """out = a @ b, fp32, by the way that a tuner takes.  See `matmul.multiply`."""
    a, b = as_blas_takes_it(a), as_blas_takes_it(b)
    layouts = a.strides[1] == a.itemsize, b.strides[1] == b.itemsize, out.flags.c_contiguous, epilogue is not None

    def prepare() -> Callable[[str], np.ndarray]:
        left, right = _operand(a), _operand(b)
        made = np.empty(out.shape, np.float32)

        def run(way: str) -> np.ndarray:
            _by(way, rules)(left, right, made, None)
            return made

        return run

    def trials() -> dict[str, Trial]:
        return trials_of([way for way in (RULES, *WAYS) if _takes(way, b)], prepare)

    _by(chosen("MatMul", (a.shape, b.shape, layouts), RULES, trials), rules)(a, b, out, epilogue)
    return out


def _by(way: str, rules: Multiply) -> Multiply:
    return rules if way == RULES else partial(_in_parts, *WAYS[way])


def _takes(way: str, b: np.ndarray) -> bool:
    """Whether a way takes a right operand of this layout, with this BLAS.

    Pieces that BLAS does not pack need one that knows such; panels are cut out of rows, and are never wider than a piece.
    """
    if way == RULES or WAYS[way][1] is not multiply_unpacked:
        return way == RULES or WAYS[way][1] is not multiply_few or SMALL_PRODUCT > 0
    pieces = n_threads() if WAYS[way][0] == _COLUMNS else 1
    return b.strides[1] == b.itemsize and b.shape[1] >= 2 * WIDTH * pieces


def _in_parts(parts: str, by: Multiply, a: np.ndarray, b: np.ndarray, out: np.ndarray, epilogue: Epilogue | None) -> None:
    def rows(start: int, stop: int) -> None:
        by(a[start:stop], b, out=out[start:stop])
        if epilogue is not None:
            epilogue(out[start:stop])

    def columns(start: int, stop: int) -> None:
        by(a, b[:, start:stop], out=out[:, start:stop])
        if epilogue is not None:
            epilogue(out[:, start:stop], slice(start, stop))

    if parts == _WHOLE:
        rows(0, len(a))
    elif parts == _ROWS:
        parallel_ranges(len(a), rows, _piece(len(a)))
    else:
        parallel_ranges(out.shape[1], columns, _piece(out.shape[1]))


def _piece(extent: int) -> int:
    return -(-extent // (n_threads() * _LANES)) * _LANES


def _operand(x: np.ndarray) -> np.ndarray:
    """Made-up numbers in the shape and layout of a matrix."""
    return operand(*x.shape) if x.strides[1] == x.itemsize else operand(*x.shape[::-1]).T
