"""Failing assertions say what TensorFlow's say."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels.harness import arr, case, scalar
from tests.kernels.raising import assert_raises_alike
from tests.one_item import together

FALSE = scalar(False, "bool")
TEXT = np.array(b"must be\n\"positive\" 'x' \xc3\xa4 \\", object)
VALUES = [
    scalar(1.5), scalar(0.1), scalar(np.float32(1) / 3), scalar(1e20), scalar(-1e-7), scalar(123456789.0), scalar(np.nan),
    scalar(-np.inf), scalar(7, "int32"), scalar(-7, "int64"), scalar(5, "uint8"), scalar(-5, "int8"), scalar(True, "bool"),
    scalar(0.1, "float16"), scalar(0.1, "bfloat16"), arr(5), arr(2, 3), arr(2, 3, 2, dtype="int32"), arr(3, 0), arr(0), arr(0, 2),
    arr(4, dtype="bool"), arr(1, 1, 4, dtype="int64"), np.array([b"a", b"bc", b"", b"d"], object), TEXT,
]  # fmt: skip


@pytest.mark.parametrize("summarize", [3, 1, 4, 6, 100, -1, 0])
@together("value", VALUES, lambda v: f"{v.dtype}-{v.shape}")
def test_values_are_shown_as_tensorflow_shows_them(value: np.ndarray, summarize: int) -> None:
    assert_raises_alike(case("Assert", FALSE, [value], summarize=summarize))


def test_several_values() -> None:
    assert_raises_alike(case("Assert", FALSE, [np.array(b"x <= y:", object), arr(2, 3), scalar(2, "int32")]))
