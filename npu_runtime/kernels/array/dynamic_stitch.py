"""Parts of a tensor by number, and back: DynamicPartition, DynamicStitch."""

from __future__ import annotations

import numpy as np

from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.variable_access import shape_text


def _stitch_shape(*specs: Spec) -> Shape:
    n = len(specs) // 2
    indices, data = specs[:n], specs[n:]
    rest: Shape = None
    for index, values in zip(indices, data, strict=True):
        if index.shape is not None and values.shape is not None:
            rest = values.shape[len(index.shape) :]
    if rest is None:
        return None
    if any(index.value is None for index in indices):
        return (None, *rest)
    return (_n_rows([index.value for index in indices if index.value is not None]), *rest)


def _n_rows(indices: list[np.ndarray]) -> int:
    return max((int(index.max()) + 1 for index in indices if index.size), default=0)


@kernel("DynamicStitch", "ParallelDynamicStitch", unit="memory", shape=_stitch_shape)
def dynamic_stitch(*inputs: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Row indices[m][i] of the result is data[m][i]; of several for one row the last wins, a row without one is 0.

    inputs: all indices, then all data, whose shapes begin with those of their indices.
    Raises: InvalidArgument for shapes that do not fit or a negative index.  Source: TensorFlow op `DynamicStitch`.
    """
    n = len(inputs) // 2
    indices, data = list(inputs[:n]), inputs[n:]
    rest = data[0].shape[indices[0].ndim :]
    for k, (index, values) in enumerate(zip(indices, data, strict=True)):
        if values.shape[: index.ndim] != index.shape:
            prefix = f"indices[{k}].shape = {shape_text(index.shape)}"
            raise InvalidArgument(f"data[{k}].shape = {shape_text(values.shape)} does not start with {prefix}")
        if values.shape[index.ndim :] != rest:
            raise InvalidArgument(
                f"Need data[0].shape[{indices[0].ndim}:] = data[{k}].shape[{index.ndim}:], "
                f"got data[0].shape = {shape_text(data[0].shape)}, data[{k}].shape = {shape_text(values.shape)}"
            )
        if index.size and index.min() < 0:
            raise InvalidArgument(f"indices[{int(np.argmax(index.reshape(-1) < 0))}] is out of range")
    made = np.empty((_n_rows(indices), *rest), data[0].dtype) if out is None else out
    made.fill(0)
    for index, values in zip(indices, data, strict=True):
        made[index.reshape(-1)] = values.reshape(index.size, *rest)
    return made


def _partition_shapes(data: Spec, partitions: Spec, *, num_partitions: int) -> list[Shape]:
    if data.shape is None or partitions.shape is None:
        return [None] * num_partitions
    return [(None, *data.shape[len(partitions.shape) :])] * num_partitions


@kernel("DynamicPartition", unit="memory", shape=_partition_shapes)
def dynamic_partition(data: np.ndarray, partitions: np.ndarray, /, *, num_partitions: int) -> tuple[np.ndarray, ...]:
    """The rows of each partition, in order.

    partitions: int32, a prefix of data's shape.  Raises: InvalidArgument for a number outside [0, num_partitions).
    Source: TensorFlow op `DynamicPartition`.
    """
    if data.shape[: partitions.ndim] != partitions.shape:
        shapes = f"data.shape = {shape_text(data.shape)}, partitions.shape = {shape_text(partitions.shape)}"
        raise InvalidArgument(f"data.shape must start with partitions.shape, got {shapes}")
    outside = np.argwhere((partitions < 0) | (partitions >= num_partitions))
    if len(outside):
        place, found = tuple(outside[0]), partitions[tuple(outside[0])]
        raise InvalidArgument(f"partitions{shape_text(place) if place else ''} = {found} is not in [0, {num_partitions})")
    return tuple(data[partitions == number] for number in range(num_partitions))
