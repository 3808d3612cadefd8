"""Ops marked as keeping numbers on the 16-bit grid do: their results on fp16 numbers are fp16 numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from npu_formats.device.op_table import tensorflow_ops
from npu_runtime.kernels.base import all_kernels
from tests.kernels.harness import Case, all_cases, call, case_ids
from tests.one_item import together

CONTROL_FLOW = {"Switch", "Merge", "PlaceholderWithDefault"}
MARKED = {op for op, row in tensorflow_ops().items() if row.keeps_grid}


def has_nan(one: Case) -> bool:
    """A window of nothing but NaN has no largest number; the pool then gives the type's lowest."""
    return any(isinstance(x, np.ndarray) and x.dtype.kind == "f" and bool(np.isnan(x).any()) for x in one.flat())


CASES = [one for one in all_cases() if one.op in MARKED and one.checks == "value" and not has_nan(one)]


def on_grid(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype == np.float32:
        with np.errstate(over="ignore"):
            return value.astype(np.float16).astype(np.float32)
    return value


@together("one", CASES, case_ids(CASES))
def test_results_of_every_op_are_numbers_of_the_grid(one: Case) -> None:
    for result in call(one, [on_grid(value) for value in one.flat()]):
        if isinstance(result, np.ndarray) and result.dtype == np.float32:
            np.testing.assert_array_equal(result, on_grid(result))


def test_every_marked_op_has_a_case() -> None:
    assert {one.op for one in CASES} | CONTROL_FLOW >= MARKED & set(all_kernels())
