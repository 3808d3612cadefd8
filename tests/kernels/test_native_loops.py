"""Loops that numba compiles give the bits of numpy's kernels, whatever the numbers and the sizes; numpy is the oracle."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from npu_runtime.device.denormals import flushed
from npu_runtime.kernels.conv.depthwise import depthwise_backprop_filter, depthwise_backprop_input, depthwise_conv2d_native
from npu_runtime.kernels.elementwise.elementwise_gradients import relu_grad
from npu_runtime.kernels.fused import moments_update
from npu_runtime.kernels.fused.normalized_activation import batch_norm_activation
from npu_runtime.kernels.fused.normalized_activation_gradient import batch_norm_activation_grad
from npu_runtime.kernels.fused.pooled_relu_gradient import max_pool_relu_grad
from npu_runtime.kernels.native import (
    channel_loops,
    depthwise_loops,
    elementwise_loops,
    normalization_loops,
    optimizer_loops,
    philox_loops,
    pool_loops,
    window_loops,
)
from npu_runtime.kernels.native.compiled import Loop
from npu_runtime.kernels.norm.lrn import lrn, lrn_grad
from npu_runtime.kernels.norm.normalization import fused_batch_norm_v3
from npu_runtime.kernels.pool.pooling import max_pool
from npu_runtime.kernels.pool.pooling_gradients import max_pool_grad
from npu_runtime.kernels.random.philox import Stream
from npu_runtime.kernels.training import optimizer
from npu_runtime.kernels.training.apply_update import DENSE

pytest.importorskip("numba")
CODE: dict[Loop, Any] = {}
LOOPS = (
    channel_loops, depthwise_loops, elementwise_loops, normalization_loops, optimizer_loops, philox_loops, pool_loops,
    window_loops,
)  # fmt: skip
ODD = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 3e38, -3e38, 1e-30, 1], np.float32)
SIZES = (1, 2, 7, 16, 33, 1000, 4099)
FORMULAS: dict[str, tuple[Callable[..., None], Loop]] = {
    "ResourceApplyGradientDescent": (optimizer.gradient_descent, optimizer_loops.gradient_descent),
    "ResourceApplyMomentum": (optimizer.momentum, optimizer_loops.momentum),
    "ResourceApplyKerasMomentum": (optimizer.keras_momentum, optimizer_loops.keras_momentum),
    "ResourceApplyAdam": (optimizer.adam, optimizer_loops.adam),
    "ResourceApplyAdagrad": (optimizer.adagrad, optimizer_loops.adagrad),
    "ResourceApplyRMSProp": (optimizer.rms_prop, optimizer_loops.rms_prop),
    moments_update.APPLY_MOMENTS: (moments_update.apply_moments, optimizer_loops.moments),
}


def numbers(draws: np.random.Generator, shape: tuple[int, ...], odd: float) -> np.ndarray:
    """Normal numbers, a share of which is odd."""
    made = draws.standard_normal(shape).astype(np.float32)
    is_odd = draws.random(shape) < odd
    made[is_odd] = draws.choice(ODD, int(is_odd.sum()))
    return made


def same(left: np.ndarray, right: np.ndarray) -> bool:
    """Equal bits, but for the sign and payload of a NaN, and for denormals, which only a feed can hold: numpy flushes some."""
    is_nan, tiny, zero = np.isnan(left) & np.isnan(right), np.finfo(np.float32).tiny, np.float32(0)
    one, other = (np.where(np.abs(x) < tiny, np.copysign(zero, x), x).view(np.uint32) for x in (left, right))
    return bool(((one == other) | is_nan).all())


@pytest.mark.parametrize("odd", [0, 0.3])
@pytest.mark.parametrize("op", FORMULAS)
def test_an_update_has_the_bits_of_its_formula(op: str, odd: float):
    formula, loop = FORMULAS[op]
    loop.code = compiled(loop)
    draws, layout = np.random.default_rng(7), DENSE[op].layout
    flags = [p.name for p in inspect.signature(formula).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for size in SIZES:
        for settings in [{}, *({flag: value} for flag in flags for value in (True, False))]:
            tiled = [i in layout.tiled for i in range(len(layout.names))]
            given = [numbers(draws, (size,), odd) if is_tile else np.float32(0.1 + 0.05 * i) for i, is_tile in enumerate(tiled)]
            by_numpy, native = ([x.copy() for x in given] for _ in range(2))
            with flushed(), np.errstate(all="ignore"):
                formula(*by_numpy, **settings)
                DENSE[op].formula(*native, **settings)
            for i in range(layout.n_variables):
                assert same(by_numpy[i], native[i]), (size, settings, layout.names[i])


def compiled(loop: Loop) -> Callable[..., None]:
    """The machine code of a loop, made once for all tests."""
    if loop not in CODE:
        loop.compile()
        CODE[loop] = loop.code
    return CODE[loop]


@pytest.fixture
def by_loops(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """A switch: whether kernels may use compiled loops from here on."""

    def switch(on: bool) -> None:
        for loop in [loop for module in LOOPS for loop in vars(module).values() if isinstance(loop, Loop)]:
            monkeypatch.setattr(loop, "code", compiled(loop) if on else None)
            monkeypatch.setattr(loop, "is_asked", True)

    return switch


def both_ways(by_loops: Callable[[bool], None], kernel: Callable[..., Any], *given: Any, **attrs: Any) -> Any:
    """Asserts that a kernel gives the same bits by numpy and by compiled loops.  Returns: what it gives."""
    results = []
    for on in (False, True):
        by_loops(on)
        with flushed(), np.errstate(all="ignore"):
            made = kernel(*given, **attrs)
        results.append(made if isinstance(made, tuple) else (made,))
    for left, right in zip(*results, strict=True):
        assert same(left, right)
    return made


SHAPES = ((1, 2, 2, 1), (3, 4, 6, 5), (2, 8, 8, 16), (5, 6, 4, 33), (50, 28, 28, 6), (3, 5, 7, 8), (2, 3, 4, 20))


@pytest.mark.parametrize("odd", [0, 0.02, 0.5])
@pytest.mark.parametrize("shape", SHAPES)
def test_pools_of_pairs(by_loops, shape: tuple[int, ...], odd: float):
    draws = np.random.default_rng(3)
    window: dict[str, Any] = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
    for x in (numbers(draws, shape, odd), np.maximum(numbers(draws, shape, 0), 0), numbers(draws, shape, odd).round()):
        y = both_ways(by_loops, max_pool, x, **window)
        for dy in (numbers(draws, y.shape, 0), numbers(draws, y.shape, 0.5)):
            both_ways(by_loops, max_pool_grad, x, y, dy, **window)
            both_ways(by_loops, max_pool_relu_grad, x, y, dy, **window)


@pytest.mark.parametrize("odd", [0, 0.1])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("kernel", "stride"), [(3, 2), (3, 1), (2, 1), (5, 2), (2, 3), (3, 3), (1, 2)])
@pytest.mark.parametrize("shape", [(2, 6, 6, 3), (3, 7, 9, 16), (1, 12, 5, 33)])
def test_pools_of_any_windows(by_loops, shape: tuple[int, ...], kernel: int, stride: int, padding: str, odd: float):
    draws = np.random.default_rng(3)
    window: dict[str, Any] = {"ksize": [1, kernel, kernel, 1], "strides": [1, stride, stride, 1], "padding": padding}
    for x in (numbers(draws, shape, odd), np.maximum(numbers(draws, shape, 0), 0), numbers(draws, shape, odd).round()):
        y = both_ways(by_loops, max_pool, x, **window)
        for dy in (numbers(draws, y.shape, 0), numbers(draws, y.shape, 0.5)):
            both_ways(by_loops, max_pool_grad, x, y, dy, **window)
            both_ways(by_loops, max_pool_relu_grad, x, y, dy, **window)


DEPTHWISE = (
    ((2, 5, 7, 3), 3, 1, "SAME", 1), ((3, 9, 9, 16), 3, 2, "SAME", 1), ((2, 8, 8, 64), 5, 1, "SAME", 1),
    ((2, 12, 6, 130), 3, 1, "VALID", 1), ((4, 28, 28, 24), 3, 1, "SAME", 1), ((2, 6, 6, 5), 3, 1, "SAME", 2),
    ((1, 3, 3, 2), 3, 3, "SAME", 1), ((2, 7, 7, 8), 1, 2, "VALID", 1),
)  # fmt: skip


@pytest.mark.parametrize("odd", [0, 0.01])
@pytest.mark.parametrize(("shape", "kernel", "stride", "padding", "multiplier"), DEPTHWISE)
def test_depthwise_convolutions(by_loops, shape, kernel: int, stride: int, padding: str, multiplier: int, odd: float):
    draws = np.random.default_rng(5)
    x, w = numbers(draws, shape, odd), numbers(draws, (kernel, kernel, shape[3], multiplier), odd)
    given: dict[str, Any] = {"strides": [1, stride, stride, 1], "padding": padding}
    y = both_ways(by_loops, depthwise_conv2d_native, x, w, **given)
    dy = numbers(draws, y.shape, odd)
    both_ways(by_loops, depthwise_backprop_input, np.array(shape, np.int32), w, dy, **given)
    both_ways(by_loops, depthwise_backprop_filter, x, np.array(w.shape, np.int32), dy, **given)


@pytest.mark.parametrize("counter", [0, (7 << 64) + 0xFFFFFFF0, (1 << 128) - 5, 1 << 40])
@pytest.mark.parametrize("n", [1, 511, 512, 513, 2000])
def test_random_words(by_loops, counter: int, n: int):
    stream, offsets, made = Stream(0x0123456789ABCDEF, counter), np.arange(n, dtype=np.uint64), []
    for on in (False, True):
        by_loops(on)
        made.append(stream.blocks(offsets).tobytes())
    assert made[0] == made[1]


@pytest.mark.parametrize("is_training", [True, False])
@pytest.mark.parametrize("offset", [0, 100])
@pytest.mark.parametrize("shape", [(2, 3, 3, 5), (4, 16, 16, 32), (3, 7, 9, 130), (16, 28, 28, 24), (1, 1, 1, 3)])
def test_batch_normalisation(by_loops, shape: tuple[int, ...], offset: float, is_training: bool):
    draws = np.random.default_rng(9)
    x, side, dy = (numbers(draws, shape, 0) + np.float32(offset) for _ in range(3))
    scale, shift, mean, variance = (np.abs(numbers(draws, shape[3:], 0)) for _ in range(4))
    given: dict[str, Any] = {"is_training": is_training}
    by_itself = both_ways(by_loops, fused_batch_norm_v3, x, scale, shift, mean, variance, **given)
    both_ways(by_loops, batch_norm_activation, x, scale, shift, mean, variance, activation="Relu", **given)
    y = both_ways(by_loops, batch_norm_activation, x, scale, shift, mean, variance, side, activation="Relu", **given)
    kept = (x, scale, *by_itself[3:5], np.empty(0, np.float32))
    both_ways(by_loops, batch_norm_activation_grad, dy, y[0], *kept, activation="ReluGrad", **given)


@pytest.mark.parametrize("beta", [1.0, 0.5, 0.75, 0.6])
@pytest.mark.parametrize("shape", [(2, 3, 3, 5), (4, 16, 16, 32), (1, 2, 2, 200)])
@pytest.mark.parametrize("odd", [0, 0.01])
def test_local_response_normalisation(by_loops, shape: tuple[int, ...], beta: float, odd: float):
    draws = np.random.default_rng(11)
    x, dy = numbers(draws, shape, odd), numbers(draws, shape, odd)
    y = both_ways(by_loops, lrn, x, depth_radius=2, alpha=2e-5, beta=beta)
    both_ways(by_loops, lrn_grad, dy, x, y, depth_radius=2, alpha=2e-5, beta=beta)


@pytest.mark.parametrize("shape", [(1,), (7, 3), (40, 1000)])
def test_gradients_of_relu(by_loops, shape: tuple[int, ...]):
    draws = np.random.default_rng(13)
    gradients, features = numbers(draws, shape, 0.2), numbers(draws, shape, 0.2)

    def made() -> np.ndarray:
        out = np.empty_like(gradients)
        relu_grad(out, gradients, features)
        return out

    both_ways(by_loops, made)
