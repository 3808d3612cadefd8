"""The figures of one row: both tensors are read, laid beside each other, measured and let go."""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np

from tf2npu.comparison.error_statistics import measures
from tf2npu.comparison.graph_pairing import Partner
from tf2npu.comparison.metrics import figures
from tf2npu.comparison.rows import Row
from tf2npu.comparison.tensors.layouts import Beside, beside
from tf2npu.comparison.tensors.stored_tensor import StoredTensor
from tf2npu.comparison.verdicts import Thresholds, judge


def fill(row: Row, device: StoredTensor, partner: Partner, thresholds: Thresholds) -> None:
    """Put figures, measures and the verdict into a row.  Raises: NotComparable; Unreadable."""
    reference = partner.tensor
    described = partner.described
    row.beside = partial(beside, device, reference, described.origin_format, described.origin_shape, row.operator)
    row.extents = reference.shape
    pair = row.beside()
    row.device_type, row.reference_type = (_shown_type(tensor) for tensor in (device, reference))
    row.shape = f"[{','.join(map(str, pair.shape))}]"
    measure(row, pair, (device, reference), thresholds)


def measure(row: Row, pair: Beside, tensors: tuple[StoredTensor, StoredTensor], thresholds: Thresholds) -> None:
    """Put the figures of two arrays into a row."""
    device, reference = tensors
    found = figures(pair.x, pair.y, is_scalar=pair.is_scalar, x_file=str(device.path), y_file=str(reference.path))
    row.figures, row.values, row.reason = found.row(), found.values, ",".join(found.reasons)
    limits = thresholds.of(device.dtype, reference.dtype)
    row.measures = measures(pair.x, pair.y, limits["rtol"], limits["atol"], found.finite)
    judge(row, limits)


def _shown_type(tensor: StoredTensor) -> str:
    """Name of the type in the table: bfloat16 is widened when it is read, and an empty tensor has no data to tell by."""
    if not tensor.size:
        return "float64"
    name = name_of(tensor.dtype)
    return "float32" if name == "bfloat16" else name


@lru_cache(maxsize=64)
def name_of(dtype: np.dtype) -> str:
    """The name of an element type, which numpy makes anew each time."""
    return dtype.name
