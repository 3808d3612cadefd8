"""Sums and element-wise work by channel: what numpy gives in float64, and the same bits on any number of threads."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from npu_runtime.graph.spec import Spec
from npu_runtime.kernels.base import all_kernels
from npu_runtime.kernels.elementwise.bias import bias_add_grad
from npu_runtime.kernels.norm.normalization import fused_batch_norm_v3
from npu_runtime.kernels.norm.normalization_gradients import fused_batch_norm_grad_v3
from npu_runtime.kernels.threads.parallel import n_threads, set_n_threads
from npu_runtime.kernels.threads.per_channel import add_up, add_up_products, block_sums, column_sums, each_block
from tests.kernels.harness import arr

SHAPES = [(0, 3), (3, 0), (1, 1), (7, 5), (4099, 1), (20011, 33), (9001, 64), (300, 3001)]
"""Nothing, one line, prime numbers of pixels, several blocks, more channels than a line has elements."""


@pytest.fixture
def threads() -> Iterator[None]:
    before = n_threads()
    yield
    set_n_threads(before)


def sums_and_products(matrix: np.ndarray, divisor: int) -> np.ndarray:
    def body(block: np.ndarray, shift: np.ndarray, totals: np.ndarray) -> None:
        shifted = block - shift
        add_up(shifted, totals[0])
        add_up_products(shifted, block, totals[1])

    return block_sums([matrix], [np.full(matrix.shape[1], 0.5, np.float32)], 2, body, divisor)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("divisor", [1, 7])
def test_sums_are_those_of_float64(shape: tuple[int, int], divisor: int) -> None:
    matrix = arr(*shape)
    wide = matrix.astype(np.float64)
    expected = np.stack([(wide - 0.5).sum(0), ((wide - 0.5) * wide).sum(0)]) / divisor
    np.testing.assert_allclose(sums_and_products(matrix, divisor), expected, rtol=1e-5, atol=1e-3)
    np.testing.assert_allclose(column_sums(matrix), wide.sum(0), rtol=1e-5, atol=1e-2)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_each_block_meets_every_element_once(shape: tuple[int, int]) -> None:
    matrix, vector, result = arr(*shape), arr(shape[1], seed=1), np.zeros(shape, np.float32)

    def body(block: np.ndarray, target: np.ndarray, added: np.ndarray) -> None:
        target += block + added

    each_block([matrix, result], [vector], body)
    np.testing.assert_array_equal(result, matrix + vector)


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("mean", [0.0, 40.0])
def test_normalisations_have_the_same_bits_on_any_number_of_threads(mean: float) -> None:
    x, dy = arr(13, 28, 27, 31) + np.float32(mean), arr(13, 28, 27, 31, seed=1)
    scale, offset, nothing = arr(31, low=0.5, seed=2), arr(31, seed=3), arr(0)
    found = []
    for count in (1, 2, 3):
        set_n_threads(count)
        made = fused_batch_norm_v3(x, scale, offset, nothing, nothing)
        found.append([*made[:5], *fused_batch_norm_grad_v3(dy, x, scale, made[3], made[4], nothing)[:3]])
    for others in found[1:]:
        for mine, theirs in zip(others, found[0], strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("view", [np.s_[:, :, :, ::2], np.s_[::2, :, ::-1], np.s_[:, ::-1, :, 1:5]])
def test_a_few_gradients_of_a_bias_in_a_view_give_the_same_bits_as_in_order(view: tuple[slice, ...]) -> None:
    gradient = arr(8, 2, 4, 8)[view]
    spec = Spec(gradient.shape, "float32")
    attrs = {"data_format": "NHWC"}
    run = all_kernels()["BiasAddGrad"].small([spec], [Spec(gradient.shape[-1:], "float32")], attrs, False)
    np.testing.assert_array_equal(run(gradient), bias_add_grad(gradient))
    np.testing.assert_allclose(run(gradient), gradient.sum(axis=(0, 1, 2), dtype=np.float64), rtol=1e-5, atol=1e-5)
