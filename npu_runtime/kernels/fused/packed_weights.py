"""Products of few rows with a matrix that many of them share: the matrix is laid out once, in panels of columns.

A piece of a matrix's columns has its rows in other pages of memory, one after the other; a panel is one stretch of it.
20x1300 by 1300x2560 takes 1.3 ms by panels and 1.75 without on an EPYC; laying out takes 4.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.fused.bias_activation import make_epilogue, with_epilogue
from npu_runtime.kernels.linalg import gemm_unpacked, matmul
from npu_runtime.kernels.linalg.matmul import matmul_flops, matmul_shape
from npu_runtime.kernels.threads.parallel import parallel_ranges, scratch
from npu_runtime.kernels.threads.transposing import transpose_into

PANELS, PANEL_MATMUL = "_Panels", "_PanelMatMul"
WIDTH = 64
"""Columns of a panel."""
FLOAT32 = frozenset({"float32"})


def _panels_shape(matrix: Spec, *, transpose: bool = False) -> Shape:
    return matrix.shape[::-1] if transpose and matrix.shape is not None else matrix.shape


def _shape(a: Spec, panels: Spec, *bias: Spec, fused_ops: Sequence[str], leakyrelu_alpha: float) -> Shape:
    return matmul_shape(a, panels)


def _parts(panels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Views of a matrix in panels.  Returns: (n // WIDTH, k, WIDTH) and (k, n % WIDTH)."""
    k, n = panels.shape
    count, flat = n // WIDTH, panels.reshape(-1)
    end = count * k * WIDTH
    return flat[:end].reshape(count, k, WIDTH), flat[end:].reshape(k, n % WIDTH)


@kernel(PANELS, unit="vector", shape=_panels_shape, dtypes=FLOAT32, ranks={"matrix": 2})
def lay_out_panels(matrix: np.ndarray, /, *, transpose: bool = False, out: np.ndarray | None = None) -> np.ndarray:
    """The elements of a matrix in another order: WIDTH columns at a time, row by row, then the rest.

    matrix: (k, n) fp32, or (n, k) with transpose.  Returns: an array of shape (k, n), which only `_PanelMatMul` can read.
    """
    source = matrix.T if transpose else matrix
    result = np.empty(source.shape, np.float32) if out is None else out
    panels, rest = _parts(result)
    whole = len(panels) * WIDTH

    def lay_out(start: int, stop: int) -> None:
        np.copyto(panels[start:stop], gemm_unpacked.cut_columns(source[:, start * WIDTH : stop * WIDTH], WIDTH))

    if transpose:
        transpose_into(panels, gemm_unpacked.cut_columns(source[:, :whole], WIDTH))
    else:
        parallel_ranges(len(panels), lay_out, -(-len(panels) // 2))
    np.copyto(rest, source[:, whole:])
    return result


@kernel(PANEL_MATMUL, unit="cube", shape=_shape, dtypes=FLOAT32, estimate=with_epilogue(matmul_flops))
def panel_matmul(
    a: np.ndarray, panels: np.ndarray, /, *bias: np.ndarray, fused_ops: Sequence[str], leakyrelu_alpha: float,
    out: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """a @ b, perhaps with bias and activation as in `_FusedMatMul`.

    a: (m, k) fp32.  panels: b of (k, n), as `lay_out_panels` makes it.  bias: (n,) or none.  Returns: (m, n).
    """
    result = np.empty((len(a), panels.shape[1]), np.float32) if out is None else out
    finish = make_epilogue(bias[0], panels.shape[1], fused_ops, leakyrelu_alpha, len(a)) if bias else matmul.leave
    by_panel, rest = _parts(panels)
    whole = len(by_panel) * WIDTH

    def multiply(start: int, stop: int) -> None:
        columns = slice(start * WIDTH, stop * WIDTH)
        _multiply(a, by_panel[start:stop], result[:, columns])
        finish(result[:, columns], columns)

    is_serial = 2.0 * a.size * whole < matmul.SERIAL_FLOPS
    parallel_ranges(len(by_panel), multiply, max(1, len(by_panel) if is_serial else -(-len(by_panel) // 2)))
    if rest.size:
        np.matmul(a, rest, out=result[:, whole:])
        finish(result[:, whole:], slice(whole, None))
    return result


def _multiply(a: np.ndarray, panels: np.ndarray, out: np.ndarray) -> None:
    """out = a @ b on this thread, in products that BLAS does not pack; out: (m, columns of the panels), rows contiguous."""
    inner = a.shape[1]
    n_parts = -(-a.size * WIDTH // (matmul.SMALL_PRODUCT or a.size * WIDTH))
    for index in range(n_parts):
        part = slice(inner * index // n_parts, inner * (index + 1) // n_parts)
        target = scratch("panels", out.shape) if index else out
        np.matmul(a[:, part], panels[:, part], out=gemm_unpacked.cut_columns(target, WIDTH))
        if index:
            np.add(out, target, out=out)
