"""Small products, stacked or added up, give what one large product gives, whatever the sizes and layouts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from npu_runtime.kernels.conv import im2col
from npu_runtime.kernels.fused import packed_weights
from npu_runtime.kernels.linalg import batch_matmul, epilogue, gemm_unpacked, matmul, serial_products
from npu_runtime.kernels.threads import parallel
from tests.how_many import drawn
from tests.kernels.harness import arr

SIZES = {
    "IS_AMD": True,
    "LANES": 2,
    "SUMMED_ROWS": 25,
    "WIDTH": 4,
    "PANEL_BYTES": 300,
    "FEWEST_ROWS": 2,
    "FEWEST_INNER": 1,
    "FEWEST_TURNED": 20,
}
LAYOUTS = {"rows": lambda x: x, "columns": np.asfortranarray, "part": lambda x: np.repeat(x, 2, axis=0)[::2]}


@given(
    st.integers(0, 200), st.integers(0, 12), st.integers(0, 12),
    st.sampled_from(sorted(LAYOUTS)), st.sampled_from(sorted(LAYOUTS)), st.sampled_from([16, 300, 4000]), st.booleans(),
)  # fmt: skip
@settings(deadline=None, max_examples=drawn(80))
def test_stacks_of_any_size(m: int, k: int, n: int, left: str, right: str, small: int, is_wide: bool) -> None:
    a, b = LAYOUTS[left](arr(m, k)), LAYOUTS[right](arr(k, n, seed=1))
    out = np.full((m, n + 3 if is_wide else n), np.nan, np.float32)[:, :n]
    sizes = {**SIZES, "IS_AMD": small == 16, "SMALL_PRODUCT": 100}
    with (
        mock.patch.multiple(serial_products, SMALL_PRODUCT=small * max(b.size, 1), FEWEST_STACKED=16),
        mock.patch.multiple(gemm_unpacked, **sizes),
    ):
        serial_products.multiply_stacked(a, b, out)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5 * max(1, k))


@given(
    st.integers(1, 30), st.integers(1, 50), st.integers(0, 70), st.sampled_from(sorted(LAYOUTS)), st.booleans(),
    st.sampled_from([1, 500, 10**6]), st.booleans(),
)  # fmt: skip
@settings(deadline=None, max_examples=drawn(80))
def test_few_rows_by_pieces_of_any_size(m: int, k: int, n: int, left: str, is_turned: bool, small: int, is_wide: bool) -> None:
    """Whole numbers, whose sums are exact in any order."""
    a, b = LAYOUTS[left](arr(m, k).round()), arr(k, n, seed=1).round()
    b = np.asfortranarray(b) if is_turned else b
    out = np.full((m, n + 3 if is_wide else n), np.nan, np.float32)[:, :n]
    with mock.patch.multiple(serial_products, SMALL_PRODUCT=small * m, FEW_COLUMNS=16, FEW_TURNED=4):
        serial_products.multiply_few(a, b, out)
    np.testing.assert_array_equal(out, a.astype(np.float64) @ b.astype(np.float64))


@given(
    st.integers(1, 40), st.integers(1, 50), st.integers(0, 70), st.sampled_from(sorted(LAYOUTS)), st.booleans(), st.booleans(),
)  # fmt: skip
@settings(deadline=None, max_examples=drawn(40))
def test_a_product_turned_around(m: int, k: int, n: int, left: str, is_part: bool, is_wide: bool) -> None:
    """Whole numbers, whose sums are exact in any order."""
    a, b = LAYOUTS[left](arr(m, k).round()), arr(k, n + 5, seed=1).round()[:, 2 : n + 2]
    b = b if is_part else np.ascontiguousarray(b)
    out = np.full((m, n + 3 if is_wide else n), np.nan, np.float32)[:, :n]
    serial_products.multiply_transposed(a, b, out)
    np.testing.assert_array_equal(out, a.astype(np.float64) @ b.astype(np.float64))


@given(
    st.integers(1, 40), st.integers(1, 50), st.integers(0, 900), st.sampled_from(sorted(LAYOUTS)), st.booleans(), st.booleans(),
    st.sampled_from([1, 70, 10**6]),
)  # fmt: skip
@settings(deadline=None, max_examples=drawn(60))
def test_a_small_matrix_times_a_wide_one(m: int, k: int, n: int, left: str, is_part: bool, ends: bool, small: int) -> None:
    """Whole numbers, whose sums are exact in any order; what ends a product sees each of its columns once."""
    a, b = LAYOUTS[left](arr(m, k).round()), arr(k, n + 5, seed=1).round()[:, 2 : n + 2]
    b = b if is_part else np.ascontiguousarray(b)
    out = np.full((m, n + 3), np.nan, np.float32)[:, :n]
    sizes = {"SMALL_PRODUCT": small * a.size, "SERIAL_FLOPS": 0, "FEWEST_WIDE": 8, "WIDE_COLUMNS": range(4, 101)}
    serially = mock.patch.object(serial_products, "SMALL_PRODUCT", small * a.size)
    with mock.patch.multiple(matmul, **sizes), serially:
        matmul.multiply(a, b, out, _double if ends else None)
    np.testing.assert_array_equal(out, a.astype(np.float64) @ b.astype(np.float64) * (2 if ends else 1))


@given(
    st.integers(1, 60), st.integers(1, 50), st.integers(4, 40), st.sampled_from(sorted(LAYOUTS)), st.booleans(), st.booleans(),
    st.sampled_from([1, 60, 1500]), st.integers(5, 60),
)  # fmt: skip
@settings(deadline=None, max_examples=drawn(100))
def test_a_large_product_by_panels(
    m: int, k: int, n: int, left: str, is_part: bool, is_wide: bool, small: int, longest: int
) -> None:
    """Whole numbers, whose sums are exact in any order."""
    a, b = LAYOUTS[left](arr(m, k).round()), arr(k, n + 5, seed=1).round()[:, 2 : n + 2]
    b = b if is_part else np.ascontiguousarray(b)
    out = np.full((m, n + 3 if is_wide else n), np.nan, np.float32)[:, :n]
    with mock.patch.multiple(gemm_unpacked, **SIZES, SMALL_PRODUCT=small, LONGEST=longest):
        gemm_unpacked.multiply_unpacked(a, b, out)
    np.testing.assert_array_equal(out, a.astype(np.float64) @ b.astype(np.float64))


@given(
    st.integers(1, 60), st.integers(1, 50), st.integers(1, 40), st.sampled_from(sorted(LAYOUTS)), st.booleans(), st.booleans(),
)  # fmt: skip
@settings(deadline=None, max_examples=drawn(80))
def test_panels_over_the_threads(m: int, k: int, n: int, left: str, is_turned: bool, ends: bool) -> None:
    """Whole numbers, whose sums are exact in any order; what ends a product sees each element once."""
    a, b = LAYOUTS[left](arr(m, k).round()), arr(k, n, seed=1).round()
    b = np.asfortranarray(b) if is_turned else b
    out = np.full((m, n), np.nan, np.float32)
    sizes = {"SERIAL_FLOPS": 0, "FEWEST_WIDE": 8, "FEW_ROWS": (), "FEW_ROWS_BY_COLUMNS": (), "SMALL_PRODUCT": 1, "WIDTH": 4}
    with mock.patch.multiple(gemm_unpacked, **SIZES, SMALL_PRODUCT=100), mock.patch.multiple(matmul, **sizes):
        matmul.multiply(a, b, out, _double if ends else None)
    np.testing.assert_array_equal(out, a.astype(np.float64) @ b.astype(np.float64) * (2 if ends else 1))


def test_which_products_go_by_panels() -> None:
    """Large ones whose right operand has contiguous rows, on AMD's processors, where BLAS knows small products."""
    a, b = np.empty((256, 768), np.float32), np.empty((768, 768), np.float32)
    down = np.empty((768, 1024), np.float32).T
    with mock.patch.multiple(gemm_unpacked, IS_AMD=True, SMALL_PRODUCT=10**6):
        assert gemm_unpacked.way_unpacked(a, b) is gemm_unpacked.multiply_unpacked
        assert [gemm_unpacked.way_unpacked(*pair) for pair in ((a[:40], b), (a, b.T), (down, b))] == [None] * 3
    for facts in ({"IS_AMD": False, "SMALL_PRODUCT": 10**6}, {"IS_AMD": True, "SMALL_PRODUCT": 0}):
        with mock.patch.multiple(gemm_unpacked, **facts):
            assert gemm_unpacked.way_unpacked(a, b) is None


@given(
    st.integers(1, 5), st.integers(1, 40), st.integers(1, 12), st.integers(1, 12), st.sampled_from(sorted(LAYOUTS)),
    st.booleans(), st.sampled_from([1, 100, 10**6]),
)  # fmt: skip
@settings(deadline=None, max_examples=drawn(60))
def test_batches_in_parts_of_their_rows(n: int, m: int, k: int, cols: int, left: str, is_shared: bool, small: int) -> None:
    """Whole numbers, whose sums are exact in any order."""
    x = LAYOUTS[left](arr(n * m, k).round()).reshape(n, m, k)
    y = arr(1 if is_shared else n, k, cols, seed=1).round()
    out = np.full((n, m, cols), np.nan, np.float32)
    with mock.patch.multiple(batch_matmul, SMALL_PRODUCT=small, BATCH_ROWS=1):
        batch_matmul.multiply_batch(np.swapaxes(np.swapaxes(x, 1, 2).copy(), 1, 2) if is_shared else x, y, out)
    np.testing.assert_array_equal(out, x.astype(np.float64) @ y.astype(np.float64))


@given(
    st.integers(1, 400),
    st.integers(1, 20),
    st.integers(1, 20),
    st.sampled_from(sorted(LAYOUTS)),
    st.sampled_from([0, 10**4, 10**6]),
    st.booleans(),
)
@settings(deadline=None, max_examples=drawn(60))
def test_products_that_sum_over_many_rows(n: int, m: int, k: int, left: str, small: int, by_panels: bool) -> None:
    """Whole numbers, whose sums are exact in any order."""
    a, b = LAYOUTS[left](arr(n, m).round()), arr(n, k, seed=1).round()
    out = np.full((m, k), np.nan, np.float32)
    sizes = {**SIZES, "IS_AMD": by_panels, "SMALL_PRODUCT": 100}
    with mock.patch.multiple(im2col, SMALL_PRODUCT=small), mock.patch.multiple(gemm_unpacked, **sizes):
        im2col.multiply_turned(a, b, out)
    np.testing.assert_array_equal(out, a.T.astype(np.float64) @ b.astype(np.float64))


@given(
    st.integers(1, 1400), st.integers(1, 300), st.integers(1, 1400), st.booleans(), st.booleans(), st.booleans(),
    st.integers(2, 9),
)  # fmt: skip
@example(36, 9, 5000, False, False, True, 2)  # a small matrix times a wide one
@example(64, 700, 1024, False, False, False, 2)  # turned around
@example(1139, 32, 275, False, False, False, 3)  # columns and rows beside whole vectors
@example(1300, 3, 1200, False, False, False, 4)  # pieces that are not packed
@settings(deadline=None, max_examples=drawn(60))
def test_bits_do_not_depend_on_the_number_of_threads(
    m: int, k: int, n: int, left: bool, right: bool, ends: bool, count: int
) -> None:
    a, b = (arr(k, m).T if left else arr(m, k)), (arr(n, k, seed=1).T if right else arr(k, n, seed=1))
    results = []
    for n_threads in (1, count):
        with threads(n_threads):
            results.append(matmul.multiply(a, b, np.empty((m, n), np.float32), _double if ends else None))
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_allclose(results[0], a.astype(np.float64) @ b * (2 if ends else 1), rtol=1e-4, atol=1e-4 * k)


def _double(block: np.ndarray, columns: slice = epilogue.ALL) -> None:
    block *= 2


@contextmanager
def threads(count: int) -> Iterator[None]:
    before = parallel.n_threads()
    parallel.set_n_threads(count)
    try:
        yield
    finally:
        parallel.set_n_threads(before)


def test_stacks_are_made_where_blas_knows_small_products() -> None:
    a, b, out = arr(5000, 20), arr(20, 30), np.empty((5000, 30), np.float32)
    for small, size in ((10**6, 1664), (0, 0)):
        with mock.patch.multiple(serial_products, SMALL_PRODUCT=small, IS_AMD=False):
            assert serial_products.stack_of(a, b, out) == size


def test_stacks_on_processors_of_amd_are_even() -> None:
    """Pieces from twelve rows on, whole cache lines where columns are contiguous, none where results wait for memory."""
    sizes = {
        (5000, 20, 30): 1260, (492, 68, 68): 168, (100, 200, 416): 12, (100, 200, 417): 0, (40, 20, 30): 0, (2000, 12, 1600): 0,
    }  # fmt: skip
    with mock.patch.multiple(serial_products, SMALL_PRODUCT=10**6, IS_AMD=True):
        for (m, k, n), size in sizes.items():
            a, b, out = (np.empty(shape, np.float32) for shape in ((m, k), (k, n), (m, n)))
            assert serial_products.stack_of(a, b, out) == size, (m, k, n)
        assert serial_products.stack_of(np.empty((68, 492), np.float32).T, *(np.empty((68, 68), np.float32),) * 2) == 176


def test_which_right_operands_are_turned_around_or_narrowed_on_processors_of_amd() -> None:
    """Narrow columns pay where BLAS would pack: results of more than 1,200 elements that sum up much."""
    with mock.patch.multiple(serial_products, SMALL_PRODUCT=10**6):
        assert serial_products.repays_turning(96, 68, 68)
        assert not serial_products.repays_turning(95, 68, 68)
        assert not serial_products.repays_turning(96, 300, 300)
    assert serial_products.repays_narrow_columns(15, 388, 97)
    assert not serial_products.repays_narrow_columns(15, 388, 80)
    assert not serial_products.repays_narrow_columns(40, 82, 328)
    assert not serial_products.repays_narrow_columns(76, 1000, 328)


@given(
    st.integers(1, 300), st.integers(1, 200), st.integers(1, 300), st.booleans(), st.booleans(), st.booleans(), st.booleans(),
    st.sampled_from([0, 10**3, 10**5, 10**6]),
)  # fmt: skip
@settings(deadline=None, max_examples=drawn(80))
def test_every_rule_gives_the_product(
    m: int, k: int, n: int, left: bool, right: bool, ends: bool, is_amd: bool, small: int
) -> None:
    """Whole numbers, whose sums are exact in any order, by the rules of every processor."""
    a, b = (arr(k, m).T if left else arr(m, k)).round(), (arr(n, k, seed=1).T if right else arr(k, n, seed=1)).round()
    out = np.full((m, n), np.nan, np.float32)
    facts, few = {"IS_AMD": is_amd, "SMALL_PRODUCT": small}, range(4, 81) if is_amd else range(4, 25)
    with (
        mock.patch.multiple(serial_products, **facts),
        mock.patch.multiple(gemm_unpacked, **facts),
        mock.patch.multiple(matmul, **facts, FEW_ROWS=few, SERIAL_FLOPS=1e6),
    ):
        matmul.multiply(a, b, out, _double if ends else None)
    np.testing.assert_array_equal(out, a.astype(np.float64) @ b.astype(np.float64) * (2 if ends else 1))


@given(
    st.integers(1, 30), st.integers(1, 50), st.integers(0, 200), st.sampled_from(sorted(LAYOUTS)), st.booleans(),
    st.sampled_from([0, 700, 10**6]), st.booleans(),
)  # fmt: skip
@settings(deadline=None, max_examples=drawn(80))
def test_products_with_a_matrix_in_panels(m: int, k: int, n: int, left: str, ends: bool, small: int, is_part: bool) -> None:
    """Whole numbers, whose sums are exact in any order; bias and activation as of the fused product."""
    a, wide, bias = LAYOUTS[left](arr(m, k).round()), arr(k, n + 3, seed=1).round(), arr(n, seed=2).round()
    b = wide[:, :n] if is_part else np.ascontiguousarray(wide[:, :n])
    laid_out = packed_weights.lay_out_panels(b)
    assert laid_out.shape == b.shape
    small *= m
    with (
        mock.patch.multiple(matmul, SMALL_PRODUCT=small, SERIAL_FLOPS=0),
        mock.patch.object(serial_products, "SMALL_PRODUCT", small),
    ):
        if ends:
            out = packed_weights.panel_matmul(a, laid_out, bias, fused_ops=["BiasAdd", "Relu"], leakyrelu_alpha=0.2)
        else:
            out = packed_weights.panel_matmul(
                a, laid_out, fused_ops=[], leakyrelu_alpha=0.2, out=np.full((m, n), np.nan, np.float32)
            )
    expected = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_array_equal(out, np.maximum(expected + bias, 0) if ends else expected)
