"""Array kernels on generated arguments, against Python's own indexing and sums in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from npu_runtime.graph.spec import Spec
from npu_runtime.kernels.base import all_kernels
from tests.how_many import drawn

SHAPES = hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=6)


def values(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(len(shape) + sum(shape)).uniform(-1, 1, shape).astype(np.float32)


def bound_bits(parts: list[Any], name: str) -> int:
    """The mask of the places whose bound is open."""
    return sum(1 << i for i, part in enumerate(parts) if isinstance(part, slice) and getattr(part, name) is None)


@settings(max_examples=drawn(150), deadline=None)
@given(st.data())
def test_strided_slice_is_python_s_indexing(data: st.DataObject) -> None:
    shape = data.draw(SHAPES)
    x = values(shape)
    index = data.draw(hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))
    parts = list(index) if isinstance(index, tuple) else [index]
    numbers = [
        (p.start or 0, p.stop or 0, p.step or 1) if isinstance(p, slice) else (p, 0, 1) if isinstance(p, int) else (0, 0, 1)
        for p in parts
    ]
    begin, end, strides = (np.array([n[k] for n in numbers], np.int32) for k in range(3))
    masks = {
        "begin_mask": bound_bits(parts, "start"),
        "end_mask": bound_bits(parts, "stop"),
        "ellipsis_mask": sum(1 << i for i, p in enumerate(parts) if p is Ellipsis),
        "new_axis_mask": sum(1 << i for i, p in enumerate(parts) if p is None),
        "shrink_axis_mask": sum(1 << i for i, p in enumerate(parts) if isinstance(p, int)),
    }
    kernel = all_kernels()["StridedSlice"]
    np.testing.assert_array_equal(kernel.function(x, begin, end, strides, **masks), x[index])
    specs = [Spec(shape), *[Spec(v.shape, "int32", v) for v in (begin, end, strides)]]
    assert kernel.infer(specs, masks) == [x[index].shape]


@settings(max_examples=drawn(150), deadline=None)
@given(hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=40), st.data())
def test_sum_is_the_sum(shape: tuple[int, ...], data: st.DataObject) -> None:
    axes = data.draw(st.lists(st.integers(0, len(shape) - 1), unique=True))
    keep = data.draw(st.booleans())
    x = values(shape)
    expected = x.astype(np.float64).sum(axis=tuple(axes), keepdims=keep)
    made = all_kernels()["Sum"].function(x, np.array(axes, np.int32), keep_dims=keep)
    assert made.shape == expected.shape
    magnitude = np.abs(x.astype(np.float64)).sum(axis=tuple(axes), keepdims=keep)
    assert (np.abs(made - expected) <= 1e-6 * magnitude + 1e-12).all()


@settings(max_examples=drawn(100), deadline=None)
@given(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=40))
def test_large_and_small_broadcasts_are_numpy_s(shapes: hnp.BroadcastableShapes) -> None:
    x, y = (values(shape) for shape in shapes.input_shapes)
    made = all_kernels()["Sub"].function(x, y)
    np.testing.assert_array_equal(made, np.asarray(x - y))


@settings(max_examples=drawn(100), deadline=None)
@given(hnp.array_shapes(min_dims=2, max_dims=5, min_side=1, max_side=30), st.data())
def test_transpose_is_numpy_s(shape: tuple[int, ...], data: st.DataObject) -> None:
    perm = data.draw(st.permutations(range(len(shape))))
    x = values(shape)
    made = all_kernels()["Transpose"].function(x, np.array(perm, np.int32))
    np.testing.assert_array_equal(made, x.transpose(perm))


@settings(max_examples=drawn(100), deadline=None)
@given(SHAPES, SHAPES)
def test_broadcast_gradient_args_sum_back_to_the_operands(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    try:
        shape = np.broadcast_shapes(a, b)
    except ValueError:
        return
    axes = all_kernels()["BroadcastGradientArgs"].function(np.array(a, np.int32), np.array(b, np.int32))
    for operand, reduced in zip((a, b), axes, strict=True):
        assert np.ones(shape).sum(axis=tuple(reduced.tolist())).size == np.prod(operand)
