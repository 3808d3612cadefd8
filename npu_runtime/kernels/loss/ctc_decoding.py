"""The most probable labelling by the most probable class of every step."""

from __future__ import annotations

from typing import Any

import numpy as np

from npu_runtime.cost.work import per_input_element
from npu_runtime.errors import FailedPrecondition, InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.variable_access import shape_text

Array = np.ndarray


def _shapes(inputs: Spec, lengths: Spec, /, **attrs: Any) -> list[Shape]:
    batch = None if inputs.shape is None else inputs.shape[1]
    return [(None, 2), (None,), (2,), (batch, 1)]


@kernel("CTCGreedyDecoder", unit="vector", shape=_shapes, dtypes=frozenset({"float32"}), estimate=per_input_element(1),
        ranks={"sequence_length": 1})  # fmt: skip
def ctc_greedy_decoder(
    inputs: Array, sequence_length: Array, /, *, merge_repeated: bool = False, blank_index: int = -1
) -> tuple[Array, Array, Array, Array]:
    """Labels without blanks as a sparse matrix (batch, longest), and minus the sum of the largest logits (batch, 1).

    inputs: (time, batch, classes).  sequence_length: (batch,) int32.  merge_repeated: runs of one label count once.
    Raises: FailedPrecondition for a sequence longer than the time.  Source: TensorFlow op `CTCGreedyDecoder`.
    """
    if inputs.ndim != 3:
        raise InvalidArgument(f"inputs is not a 3-Tensor: {shape_text(inputs.shape)}")
    n_steps, n_rows, n_classes = inputs.shape
    if sequence_length.shape != (n_rows,):
        lengths = f"len(sequence_length):  {shape_text(sequence_length.shape)} batch_size: {n_rows}"
        raise FailedPrecondition(f"len(sequence_length) != batch_size.  {lengths}")
    if (sequence_length > n_steps).any():
        raise FailedPrecondition(f"sequence_length({int(np.argmax(sequence_length > n_steps))}) <= {n_steps}")
    best, is_inside = inputs.argmax(axis=2), np.arange(n_steps)[:, None] < sequence_length
    score = -np.where(is_inside, inputs.max(axis=2), np.float32(0)).sum(axis=0, dtype=np.float32)
    is_label = is_inside & (best != blank_index % n_classes)
    if merge_repeated:
        is_label[1:] &= best[1:] != best[:-1]
    row, step = np.nonzero(is_label.T)
    counts = np.bincount(row, minlength=n_rows)
    place = np.arange(len(row)) - (np.cumsum(counts) - counts)[row]
    shape = np.array([n_rows, counts.max(initial=0)], np.int64)
    return np.stack([row, place], axis=1).astype(np.int64), best[step, row].astype(np.int64), shape, score[:, None]
