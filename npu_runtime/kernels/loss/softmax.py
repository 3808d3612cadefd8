"""Softmax and the losses built on it, row by row; shifted by the row maximum where exp could overflow or a loss would cancel."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import per_element, per_input_element
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.half_storage import store, wide_buffer, widen
from npu_runtime.kernels.shapes import broadcast_pair, same_as
from npu_runtime.kernels.threads.parallel import parallel_ranges, scratch
from npu_runtime.kernels.threads.per_channel import ones
from npu_runtime.kernels.threads.row_indexing import are_inside
from npu_runtime.kernels.variable_access import shape_text

BLOCK_ELEMENTS = 1 << 18
"""Elements of the rows that one thread works on at a time."""
SAFE = -5.0, 60.0
"""The limits of the largest logit of a block between which exponentials are taken as they are: neither they nor their sums
overflow."""
LEAST_SUM = 1e-3
"""The least sum of a row that was not shifted: what vanishes beside it is less than 1e-34 of it."""
SHORT = 1024
"""Classes up to which the maximum of each row takes a good part of the time."""


def _each_block(rows: int, classes: int, body: Callable[[int, int], object]) -> None:
    parallel_ranges(rows, body, max(1, BLOCK_ELEMENTS // max(classes, 1)))


def shift_rows(x: np.ndarray, out: np.ndarray) -> None:
    """out = x minus the maximum of its row.  x, out: (rows, classes)."""
    np.subtract(x, x.max(axis=1, keepdims=True), out=out)


def row_sums(x: np.ndarray) -> np.ndarray:
    """Sum of each row, by BLAS.  x: (rows, classes) fp32 contiguous.  Returns: (rows, 1)."""
    return np.matmul(x, ones(x.shape[1])[:, None])


def softmax_rows(x: np.ndarray, out: np.ndarray) -> None:
    """out = softmax of each row.  x, out: (rows, classes) fp32; they may be the same."""
    powers = scratch("softmax", out.shape, out.dtype)
    if x.shape[1] <= SHORT and SAFE[0] <= np.maximum.reduce(x, axis=None) <= SAFE[1]:
        np.exp(x, out=powers)
        sums = row_sums(powers)
        if np.minimum.reduce(sums, axis=None) >= LEAST_SUM:
            np.divide(powers, sums, out=out)  # exactly 1 where the others vanish, which their product with 1 / sum need not be
            return
    shift_rows(x, powers)
    np.exp(powers, out=powers)
    np.multiply(powers, 1.0 / row_sums(powers), out=out)


def log_softmax_rows(x: np.ndarray, out: np.ndarray) -> None:
    """out = log of the softmax of each row.  x, out: (rows, classes) fp32; they may be the same."""
    shift_rows(x, out)
    powers = scratch("softmax", out.shape, out.dtype)
    np.exp(out, out=powers)
    np.subtract(out, np.log(row_sums(powers)), out=out)


def _by_rows(body: Callable[[np.ndarray, np.ndarray], None], logits: np.ndarray, out: np.ndarray | None) -> np.ndarray:
    if logits.ndim < 1:
        raise InvalidArgument(f"logits must have >= 1 dimension, got {shape_text(logits.shape)}")
    wide = widen(logits)
    result = wide_buffer(logits.shape, logits.dtype, out)
    if logits.size:
        classes = logits.shape[-1]
        flat, target = wide.reshape(-1, classes), result.reshape(-1, classes)
        _each_block(len(flat), classes, lambda start, stop: body(flat[start:stop], target[start:stop]))
    return store(result, logits.dtype, out)


@kernel("Softmax", unit="vector", shape=same_as(0), dtypes=dt.FLOATS, estimate=per_element(5), inplace=(0,))
def softmax(logits: np.ndarray, /, *, out: np.ndarray | None = None) -> np.ndarray:
    """Softmax over the last axis.

    logits: (..., classes).  Returns: same shape; rows sum to 1; no classes give an empty result.
    Source: TensorFlow op `Softmax`; 5 flops an element (maximum, subtraction, exp, sum, division).
    """
    return _by_rows(softmax_rows, logits, out)


@kernel("LogSoftmax", unit="vector", shape=same_as(0), dtypes=dt.FLOATS, estimate=per_element(5), inplace=(0,))
def log_softmax(logits: np.ndarray, /, *, out: np.ndarray | None = None) -> np.ndarray:
    """logits - log(sum(exp(logits))) over the last axis.  Source: TensorFlow op `LogSoftmax`."""
    return _by_rows(log_softmax_rows, logits, out)


def _two_outputs(out: Any) -> tuple[np.ndarray | None, np.ndarray | None]:
    return (None, None) if out is None else out


def _cross_entropy_shape(features: Spec, labels: Spec, **attrs: Any) -> list[Shape]:
    shape = broadcast_pair(features.shape, labels.shape)
    return [None if shape is None else shape[:1], shape]


def _check_matrices(features: np.ndarray, labels: np.ndarray) -> tuple[int, int]:
    """Source: TensorFlow core/kernels/xent_op.cc."""
    try:
        shape = broadcast_pair(features.shape, labels.shape)
    except InvalidArgument:
        raise InvalidArgument(
            f"logits and labels must be broadcastable: logits_size={shape_text(features.shape)} "
            f"labels_size={shape_text(labels.shape)}"
        ) from None
    if shape is None or len(shape) != 2:
        raise InvalidArgument(
            "logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional: "
            f"logits_size={shape_text(features.shape)} labels_size={shape_text(labels.shape)}"
        )
    return int(shape[0] or 0), int(shape[1] or 0)


@kernel(
    "SoftmaxCrossEntropyWithLogits", unit="vector", shape=_cross_entropy_shape, dtypes=dt.FLOATS, estimate=per_input_element(8)
)
def softmax_cross_entropy(
    features: np.ndarray, labels: np.ndarray, /, *, out: tuple[np.ndarray | None, np.ndarray | None] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Cross entropy of each row of logits with a distribution, and its gradient by the logits.

    features, labels: (batch, classes), either may broadcast.
    Returns: loss (batch,), the sum of labels * -log_softmax; gradient (batch, classes) = softmax - labels.
    Raises: InvalidArgument when the shapes do not broadcast to a matrix.
    Source: TensorFlow op `SoftmaxCrossEntropyWithLogits`; 8 flops an element: softmax and the weighted sum.
    """
    rows, classes = _check_matrices(features, labels)
    loss_out, gradient_out = _two_outputs(out)
    dtype = features.dtype
    loss = wide_buffer((rows,), dtype, loss_out)
    gradient = wide_buffer((rows, classes), dtype, gradient_out)
    x, weights = (np.broadcast_to(widen(v), (rows, classes)) for v in (features, labels))

    def body(start: int, stop: int) -> None:
        target = gradient[start:stop]
        powers, sums = _exponentials(x[start:stop], target)
        entropy = np.subtract(np.log(sums), target, out=target)
        np.multiply(entropy, weights[start:stop], out=target)
        np.sum(target, axis=1, out=loss[start:stop])
        np.multiply(powers, 1.0 / sums, out=target)
        np.subtract(target, weights[start:stop], out=target)

    if classes:
        _each_block(rows, classes, body)
    else:
        loss.fill(0)
    return store(loss, dtype, loss_out), store(gradient, dtype, gradient_out)


def _exponentials(x: np.ndarray, shifted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(exp of the shifted rows in scratch, their sums); `shifted` receives x minus its row maximum."""
    shift_rows(x, shifted)
    powers = scratch("softmax", shifted.shape, shifted.dtype)
    np.exp(shifted, out=powers)
    return powers, row_sums(powers)


def _sparse_shape(features: Spec, labels: Spec, **attrs: Any) -> list[Shape]:
    return [labels.shape, features.shape]


def _check_labels(features: np.ndarray, labels: np.ndarray) -> None:
    """Source: TensorFlow core/kernels/sparse_xent_op.cc."""
    if features.ndim != 2:
        raise InvalidArgument(f"logits must be 2-D, but got shape {shape_text(features.shape)}")
    if labels.ndim != 1:
        raise InvalidArgument(f"labels must be 1-D, but got shape {shape_text(labels.shape)}")
    if len(features) != len(labels):
        raise InvalidArgument(
            "logits and labels must have the same first dimension, got logits shape "
            f"{shape_text(features.shape)} and labels shape {shape_text(labels.shape)}"
        )
    classes = features.shape[1]
    if classes == 0:
        raise InvalidArgument(f"Must have at least one class, but got logits shape {shape_text(features.shape)}")
    if not are_inside(labels, classes):
        wrong = labels.min() if labels.min() < 0 else labels.max()
        raise InvalidArgument(
            f"Received a label value of {wrong} which is outside the valid range of [0, {classes}).  "
            f"Label values: {' '.join(map(str, labels.tolist()))}"
        )


def _sparse_rows(x: np.ndarray, at: np.ndarray, loss: np.ndarray, gradient: np.ndarray) -> None:
    """Fills losses and gradients.  x, gradient: (rows, classes) fp32.  at: the label of each row, counted over all classes."""
    powers, sums = _exponentials(x, gradient)
    flat = gradient.reshape(-1)
    np.subtract(np.log(sums[:, 0]), flat.take(at), out=loss)
    np.multiply(powers, 1.0 / sums, out=gradient)
    flat[at] -= 1.0


@lru_cache(256)
def _row_starts(rows: int, classes: int) -> np.ndarray:
    """The first element of each row; nobody may write the array."""
    return np.arange(rows) * classes


def _small_sparse(
    inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Mapping[str, Any], is_planned: bool
) -> Callable[..., Any] | None:
    """See `base.Small`: rows of fp32 that one thread works on."""
    shape = inputs[0].known_shape()
    if (
        inputs[0].dtype != "float32"
        or len(shape) != 2
        or inputs[1].shape != shape[:1]
        or not 0 < math.prod(shape) <= BLOCK_ELEMENTS
    ):
        return None
    starts = _row_starts(*shape)

    def run(features: np.ndarray, labels: np.ndarray, out: Any = None) -> tuple[np.ndarray, np.ndarray]:
        if features.shape != shape or labels.shape != shape[:1] or not are_inside(labels, shape[1]):
            return sparse_softmax_cross_entropy(features, labels, out=out)
        loss, gradient = _two_outputs(out)
        loss = np.empty(shape[:1], np.float32) if loss is None else loss
        gradient = np.empty(shape, np.float32) if gradient is None else gradient
        _sparse_rows(features, starts + labels, loss, gradient)
        return loss, gradient

    return run


@kernel(
    "SparseSoftmaxCrossEntropyWithLogits", unit="vector", shape=_sparse_shape, estimate=per_input_element(6),
    dtypes={"T": dt.FLOATS, "Tlabels": dt.INDICES}, small=_small_sparse,
)  # fmt: skip
def sparse_softmax_cross_entropy(
    features: np.ndarray, labels: np.ndarray, /, *, out: tuple[np.ndarray | None, np.ndarray | None] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Cross entropy of each row of logits with one right class, and its gradient by the logits.

    features: (batch, classes).  labels: (batch,) int32|int64 in [0, classes).
    Returns: loss (batch,) = -log_softmax at the label; gradient (batch, classes) = softmax - one_hot(labels).
    Raises: InvalidArgument for a label outside the range, or shapes that do not belong together.
    Source: TensorFlow op `SparseSoftmaxCrossEntropyWithLogits`.
    """
    _check_labels(features, labels)
    loss_out, gradient_out = _two_outputs(out)
    dtype = features.dtype
    x = widen(features)
    loss = wide_buffer(labels.shape, dtype, loss_out)
    gradient = wide_buffer(features.shape, dtype, gradient_out)

    def body(start: int, stop: int) -> None:
        at = _row_starts(stop - start, x.shape[1]) + labels[start:stop]
        _sparse_rows(x[start:stop], at, loss[start:stop], gradient[start:stop])

    _each_block(len(x), x.shape[1], body)
    return store(loss, dtype, loss_out), store(gradient, dtype, gradient_out)
