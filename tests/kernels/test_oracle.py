"""Every kernel case against TensorFlow's CPU kernel."""

from __future__ import annotations

import numpy as np

from npu_runtime.device.variable import Variable
from tests.kernels import oracle
from tests.kernels.harness import Case, call, each_op

RELATIVE = {"float32": 4e-6, "float16": 2e-3, "bfloat16": 1.6e-2}


def assert_matches(actual: np.ndarray, expected: np.ndarray, one: Case) -> None:
    """Relative to the dtype and, for cancellation, to the largest magnitude of the result."""
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    if expected.dtype.name not in RELATIVE:
        np.testing.assert_array_equal(actual, expected)
        return
    wide = expected.astype(np.float64)
    finite = np.abs(wide[np.isfinite(wide)])
    rtol = RELATIVE[expected.dtype.name] if one.rtol is None else one.rtol
    atol = rtol * (finite.max() if finite.size else 0.0) if one.atol is None else one.atol
    np.testing.assert_allclose(actual.astype(np.float64), wide, rtol=rtol, atol=atol)


@each_op
def test_same_as_tensorflow(one: Case) -> None:
    inputs = one.flat()
    actual = [value.read() if isinstance(value, Variable) else value for value in call(one, inputs)]
    expected, states = oracle.run(one)
    assert len(actual) == len(expected)
    for mine, theirs in zip(actual, expected, strict=True):
        assert isinstance(mine, np.ndarray), f"{one.op} returned {type(mine).__name__}, not an array"
        if one.checks == "value":
            assert_matches(mine, theirs, one)
        else:
            assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype)
    for variable, theirs in zip([v for v in inputs if isinstance(v, Variable) and v.is_initialized], states, strict=True):
        assert_matches(variable.read(), theirs, one)
