"""Functions of ``tf.image`` whose types, values or shapes TensorFlow changed after 1.15, as they were.

Source: tensorflow/python/ops/image_ops_impl.py of TF 1.15; what it gave is recorded in tests/fixtures/shim/calls.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from typing import Any

from npu_bridge._tf1 import twins
from npu_bridge._tf1.journal import Journal
from tensorflow.python.framework import dtypes, ops
from tensorflow.python.ops import array_ops, gen_image_ops, image_ops, image_ops_impl, math_ops

Tensor = Any
_FLIPS = ("flip_left_right", "flip_up_down", "random_flip_left_right", "random_flip_up_down")
_ADJUSTMENTS = ("adjust_contrast", "adjust_hue", "adjust_saturation")


def restore(journal: Journal) -> None:
    """Bind the functions in TensorFlow's own modules, for those that call one another, and in the API of TF1."""
    old: dict[str, Callable[..., Any]] = {
        "per_image_standardization": per_image_standardization,
        "non_max_suppression_padded": non_max_suppression_padded,
        **{name: _of_three_dimensions(getattr(image_ops_impl, name)) for name in _FLIPS},
        **{name: _in_single_precision(getattr(image_ops_impl, name)) for name in _ADJUSTMENTS},
    }
    for module in (image_ops_impl, image_ops, import_module(f"{twins.V1}.image")):
        for name, function in old.items():
            journal.set(vars(module), name, function)


def per_image_standardization(image: Any) -> Tensor:
    """Images with mean 0 and variance 1 each, in the type that they come in.

    image: [..., height, width, channels].  What is not fp16 or fp32 is scaled to fp32 and back as convert_image_dtype does it: of
    uint8, what lies below the mean is 0 and what lies a deviation above it is 255.  TensorFlow 2.15 gives fp32 for every type.
    Raises: ValueError for fewer than three dimensions.
    """
    with ops.name_scope(None, "per_image_standardization", [image]) as scope:
        image = image_ops_impl._AssertAtLeast3DImage(ops.convert_to_tensor(image, name="image"))
        given = image.dtype
        if given not in (dtypes.float16, dtypes.float32):
            image = image_ops_impl.convert_image_dtype(image, dtypes.float32)
        n_elements = math_ops.cast(math_ops.reduce_prod(array_ops.shape(image)[-3:]), image.dtype)
        mean = math_ops.reduce_mean(image, axis=[-1, -2, -3], keepdims=True)
        deviation = math_ops.reduce_std(image, axis=[-1, -2, -3], keepdims=True)
        divisor = math_ops.maximum(deviation, math_ops.rsqrt(n_elements))
        return image_ops_impl.convert_image_dtype(math_ops.div(image - mean, divisor, name=scope), given, saturate=True)


def non_max_suppression_padded(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    pad_to_max_output_size: bool = False,
    name: str | None = None,
) -> Any:
    """Indices of the boxes that are kept, best first, and how many they are, as a pair with names.

    boxes: [n, 4].  scores: [n].  pad_to_max_output_size: fill the indices up with zeros.
    """
    with ops.name_scope(name, "non_max_suppression_padded"):
        return gen_image_ops.non_max_suppression_v4(
            boxes, scores, max_output_size, iou_threshold, score_threshold, pad_to_max_output_size
        )


def _of_three_dimensions(flip: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A flip after which an image of unknown rank has three dimensions, which what comes next may need to know."""

    @functools.wraps(flip)
    def flipped(image: Any, *arguments: Any, **options: Any) -> Tensor:
        image = ops.convert_to_tensor(image, name="image")
        result = flip(image, *arguments, **options)
        if image.shape.rank is None:
            result.set_shape([None, None, None])
        return result

    return flipped


def _in_single_precision(adjust: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """An adjustment that computes fp16 images in fp32, as TensorFlow's CPU has kernels for fp32 only since."""

    @functools.wraps(adjust)
    def adjusted(image: Any, *arguments: Any, **options: Any) -> Tensor:
        image = ops.convert_to_tensor(image)
        if image.dtype != dtypes.float16:
            return adjust(image, *arguments, **options)
        return math_ops.cast(adjust(math_ops.cast(image, dtypes.float32), *arguments, **options), dtypes.float16)

    return adjusted
