"""Repeated rows: whatever way is taken, the result is that of one update after the other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_runtime.device.variable import Variable
from npu_runtime.dtypes import to_numpy
from npu_runtime.kernels.base import all_kernels
from npu_runtime.kernels.threads import row_indexing
from npu_runtime.kernels.training.apply_update import rounds

numbers = st.lists(st.integers(0, 6), max_size=40).map(lambda values: np.array(values, np.int64))


@given(numbers)
def test_rounds_keep_the_order_and_name_no_row_twice(indices: np.ndarray) -> None:
    seen: dict[int, list[int]] = {}
    for named, positions in rounds(indices):
        assert np.unique(named).size == named.size
        np.testing.assert_array_equal(indices[positions], named)
        for row, position in zip(named.tolist(), positions.tolist(), strict=True):
            seen.setdefault(row, []).append(position)
    assert sorted(p for positions in seen.values() for p in positions) == list(range(indices.size))
    assert all(positions == sorted(positions) for positions in seen.values())


@pytest.mark.parametrize("operation", [np.add, np.subtract, np.multiply, np.maximum, np.minimum])
@pytest.mark.parametrize(
    ("n_updates", "n_rows", "inner"),
    [
        (3, 5, 30),
        (400, 5, 30),
        (400, 4000, 30),
        (1500, 20_000, 30),
        (200, 3000, 100),
        (5000, 300, 1),
        (5000, 300_000, 1),
        (400, 5, 64),
        (3000, 700, 40),
        (9000, 8000, 40),
    ],
)
@pytest.mark.parametrize("index", ["int32", "int64"])
def test_combine(operation: np.ufunc, n_updates: int, n_rows: int, inner: int, index: str) -> None:
    """Small whole numbers, so that every order of adding is exact."""
    rng = np.random.default_rng(n_updates)
    target = rng.integers(-4, 5, (n_rows, inner)).astype(np.float32)
    named = rng.integers(0, n_rows, n_updates).astype(index)
    updates = rng.choice(np.array([1, -1], np.float32), (n_updates, inner))
    expected = target.copy()
    for row, update in zip(named, updates, strict=True):
        expected[row] = operation(expected[row], update)
    row_indexing.combine(operation, target, named, updates)
    np.testing.assert_array_equal(target, expected)


@pytest.mark.parametrize("dtype", ["float32", "int32", "int64", "uint32", "uint64", "float16", "bfloat16", "int8"])
@pytest.mark.parametrize("operation", [np.add, np.subtract])
@pytest.mark.parametrize("inner", [1, 5, 33])
def test_combine_many_of_each_type(operation: np.ufunc, dtype: str, inner: int) -> None:
    rng = np.random.default_rng(0)
    target, updates = (rng.integers(8, 12, (n, inner)).astype(to_numpy(dtype)) for n in (4000, 6000))
    named = np.arange(6000, dtype=np.int32)[::-1] % 4000
    expected = target.copy()
    for part in (slice(0, 2000), slice(2000, 6000)):  # no row twice in one of them
        expected[named[part]] = operation(expected[named[part]], updates[part])
    row_indexing.combine(operation, target, named, updates)
    np.testing.assert_array_equal(target, expected)


@pytest.mark.parametrize("inner", [3, 40])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.filterwarnings("ignore:invalid value")
def test_combine_picked_as_one_row_after_the_other(inner: int, is_weighted: bool) -> None:
    """Of uneven groups, with rounding: the very sums of adding in order."""
    rng = np.random.default_rng(inner)
    named = np.minimum(rng.zipf(1.3, 4000) - 1, 499)
    picks = rng.integers(0, 50, 4000).astype(np.int32)
    source, target = (rng.normal(size=(n, inner)).astype(np.float32) for n in (50, 500))
    source[7] = np.inf
    source[9] = np.nan
    weights = rng.normal(size=4000).astype(np.float32)
    expected = target.copy()
    for row, pick, weight in zip(named, picks, weights, strict=True):
        expected[row] += source[pick] * weight if is_weighted else source[pick]
    row_indexing.combine_picked(np.add, target, named, source, picks, weights if is_weighted else None)
    np.testing.assert_array_equal(target, expected)


def test_combine_more_rows_than_numpys_fast_sort_tells_apart() -> None:
    rng = np.random.default_rng(3)
    named = np.concatenate([rng.permutation(70_000), rng.integers(0, 70_000, 500)])
    updates = rng.integers(-9, 9, (len(named), 32)).astype(np.float32)
    target, expected = np.zeros((70_000, 32), np.float32), np.zeros((70_000, 32), np.float32)
    expected[named[:70_000]] = updates[:70_000]
    np.add.at(expected, named[70_000:], updates[70_000:])
    row_indexing.combine(np.add, target, named, updates)
    np.testing.assert_array_equal(target, expected)


def test_sparse_optimizer_takes_repeated_rows_one_by_one() -> None:
    momentum = all_kernels()["ResourceSparseApplyMomentum"].function
    rng = np.random.default_rng(1)
    indices, grad = rng.integers(0, 4, 50).astype(np.int32), rng.normal(size=(50, 6)).astype(np.float32)
    together, alone = ([_variable(np.ones((4, 6))), _variable(np.zeros((4, 6)))] for _ in range(2))
    scalars = np.float32(0.1).reshape(()), np.float32(0.9).reshape(())
    momentum(*together, scalars[0], grad, indices, scalars[1])
    for i in range(50):
        momentum(*alone, scalars[0], grad[i : i + 1], indices[i : i + 1], scalars[1])
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_array_equal(one.read(), other.read())


def _variable(value: np.ndarray) -> Variable:
    made = Variable("v", np.dtype("float32"), False)
    made.assign(value.astype(np.float32))
    return made
