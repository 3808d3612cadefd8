"""``tf.contrib.image``: projective transforms of images.

Source: tensorflow/contrib/image of TF 1.15. A transform is (a0, a1, a2, b0, b1, b2, c0, c1): the output point (x, y) takes the
input point ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k) with k = c0 x + c1 y + 1.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.python.ops import gen_image_ops

__all__ = [
    "angles_to_projective_transforms", "compose_transforms", "dense_image_warp", "flat_transforms_to_matrices",
    "matrices_to_flat_transforms", "rotate", "transform", "translate", "translations_to_projective_transforms",
]  # fmt: skip
_DTYPES = (tf.uint8, tf.int32, tf.int64, tf.float16, tf.float32, tf.float64)


def _as_batch(images: tf.Tensor) -> tf.Tensor:
    """Images as (batch, height, width, channels). Raises: TypeError for another rank or dtype."""
    if images.dtype.base_dtype not in _DTYPES:
        raise TypeError(f"Invalid dtype {images.dtype}.")
    rank = images.shape.ndims
    if rank is None:
        raise TypeError("image_or_images rank must be statically known")
    if rank not in (2, 3, 4):
        raise TypeError("Images should have rank between 2 and 4.")
    return {2: lambda: images[None, :, :, None], 3: lambda: images[None], 4: lambda: images}[rank]()


def _as_given(batch: tf.Tensor, rank: int) -> tf.Tensor:
    return batch[0, :, :, 0] if rank == 2 else batch[0] if rank == 3 else batch


def rotate(images: Any, angles: Any, interpolation: str = "NEAREST", name: str | None = None) -> tf.Tensor:
    """Images turned counterclockwise by ``angles`` radians about their middle; outside is zero."""
    with tf.name_scope(name, "rotate"):
        given = tf.convert_to_tensor(images)
        batch = _as_batch(given)
        height, width = (tf.cast(tf.shape(batch)[axis], tf.float32)[None] for axis in (1, 2))
        turned = transform(batch, angles_to_projective_transforms(angles, height, width), interpolation)
        return _as_given(turned, given.shape.ndims)


def translate(images: Any, translations: Any, interpolation: str = "NEAREST", name: str | None = None) -> tf.Tensor:
    """Images moved by (dx, dy); outside is zero."""
    with tf.name_scope(name, "translate"):
        return transform(images, translations_to_projective_transforms(translations), interpolation)


def angles_to_projective_transforms(angles: Any, image_height: Any, image_width: Any, name: str | None = None) -> tf.Tensor:
    """Transforms (n, 8) that turn images about their middle. Raises: TypeError when angles have rank above 1."""
    with tf.name_scope(name, "angles_to_projective_transforms"):
        angles = tf.convert_to_tensor(angles, name="angles", dtype=tf.float32)
        if len(angles.shape) > 1:
            raise TypeError("Angles should have rank 0 or 1.")
        angles = tf.reshape(angles, [-1])
        cos, sin = tf.cos(angles), tf.sin(angles)
        right, bottom = image_width - 1, image_height - 1
        x_offset = (right - (cos * right - sin * bottom)) / 2.0
        y_offset = (bottom - (sin * right + cos * bottom)) / 2.0
        columns = [cos, -sin, x_offset, sin, cos, y_offset]
        flat = [column[:, None] for column in columns]
        return tf.concat([*flat, tf.zeros((tf.shape(angles)[0], 2), tf.float32)], axis=1)


def translations_to_projective_transforms(translations: Any, name: str | None = None) -> tf.Tensor:
    """Transforms (n, 8) that move images. Raises: TypeError when translations have rank other than 1 or 2."""
    with tf.name_scope(name, "translations_to_projective_transforms"):
        translations = tf.convert_to_tensor(translations, name="translations", dtype=tf.float32)
        if translations.shape.ndims is None:
            raise TypeError("translation_or_translations rank must be statically known")
        if translations.shape.ndims not in (1, 2):
            raise TypeError("Translations should have rank 1 or 2.")
        moves = translations[None] if translations.shape.ndims == 1 else translations
        n = tf.shape(moves)[0]
        one, zero = tf.ones((n, 1), tf.float32), tf.zeros((n, 1), tf.float32)
        return tf.concat([one, zero, -moves[:, 0, None], zero, one, -moves[:, 1, None], zero, zero], axis=1)


def transform(
    images: Any, transforms: Any, interpolation: str = "NEAREST", output_shape: Any = None, name: str | None = None
) -> tf.Tensor:
    """Images under projective transforms (8,) or (n, 8). Raises: TypeError, ValueError for shapes that do not fit."""
    with tf.name_scope(name, "transform"):
        given = tf.convert_to_tensor(images, name="images")
        transforms = tf.convert_to_tensor(transforms, name="transforms", dtype=tf.float32)
        batch = _as_batch(given)
        if output_shape is None:
            output_shape = tf.shape(batch)[1:3]
            known = tf.get_static_value(output_shape)
            output_shape = output_shape if known is None else known
        output_shape = tf.convert_to_tensor(output_shape, tf.int32, name="output_shape")
        if not output_shape.shape.is_compatible_with([2]):
            raise ValueError("output_shape must be a 1-D Tensor of 2 elements: new_height, new_width")
        if transforms.shape.ndims is None:
            raise TypeError("transform_or_transforms rank must be statically known")
        if transforms.shape.ndims not in (1, 2):
            raise TypeError("Transforms should have rank 1 or 2.")
        flat = transforms[None] if transforms.shape.ndims == 1 else transforms
        moved = gen_image_ops.image_projective_transform_v2(
            batch, output_shape=output_shape, transforms=flat, interpolation=interpolation.upper()
        )
        return _as_given(moved, given.shape.ndims)


def compose_transforms(*transforms: Any) -> tf.Tensor:
    """The transform that does the given ones one after another."""
    if not transforms:
        raise AssertionError("transforms cannot be empty")
    with tf.name_scope("compose_transforms"):
        composed = flat_transforms_to_matrices(transforms[0])
        for other in transforms[1:]:
            composed = tf.matmul(composed, flat_transforms_to_matrices(other))
        return matrices_to_flat_transforms(composed)


def flat_transforms_to_matrices(transforms: Any) -> tf.Tensor:
    """Transforms as matrices (n, 3, 3). Raises: ValueError for rank other than 1 or 2."""
    with tf.name_scope("flat_transforms_to_matrices"):
        transforms = tf.convert_to_tensor(transforms, name="transforms")
        if transforms.shape.ndims not in (1, 2):
            raise ValueError(f"Transforms should be 1D or 2D, got: {transforms}")
        flat = tf.reshape(transforms, [-1, 8])
        return tf.reshape(tf.concat([flat, tf.ones([tf.shape(flat)[0], 1])], axis=1), [-1, 3, 3])


def matrices_to_flat_transforms(transform_matrices: Any) -> tf.Tensor:
    """Matrices as transforms (n, 8). Raises: ValueError for rank other than 2 or 3."""
    with tf.name_scope("matrices_to_flat_transforms"):
        matrices = tf.convert_to_tensor(transform_matrices, name="transform_matrices")
        if matrices.shape.ndims not in (2, 3):
            raise ValueError(f"Matrices should be 2D or 3D, got: {matrices}")
        flat = tf.reshape(matrices, [-1, 9])
        return (flat / flat[:, 8:9])[:, :8]


def dense_image_warp(image: Any, flow: Any, name: str = "dense_image_warp") -> tf.Tensor:
    """Each output pixel (y, x) is the bilinear value of the image at (y, x) - flow, held inside the image.

    image: (batch, height, width, channels) float.  flow: (batch, height, width, 2).
    """
    with tf.name_scope(name):
        image, flow = tf.convert_to_tensor(image), tf.convert_to_tensor(flow)
        batch, height, width = tf.unstack(tf.shape(image)[:3])
        ys, xs = tf.meshgrid(tf.range(height), tf.range(width), indexing="ij")
        points = tf.cast(tf.stack([ys, xs], axis=2)[None], flow.dtype) - flow
        last = tf.cast(tf.stack([height - 2, width - 2]), flow.dtype)
        low = tf.minimum(tf.maximum(tf.floor(points), 0.0), last)
        part = tf.cast(tf.clip_by_value(points - low, 0.0, 1.0), image.dtype)
        corner = tf.cast(low, tf.int32)
        rows = tf.broadcast_to(tf.reshape(tf.range(batch), [-1, 1, 1, 1]), tf.concat([tf.shape(corner)[:3], [1]], 0))

        def pixels(dy: int, dx: int) -> tf.Tensor:
            return tf.gather_nd(image, tf.concat([rows, tf.add(corner, [dy, dx])], axis=3))

        y, x = part[..., :1], part[..., 1:]
        top = pixels(0, 0) + x * (pixels(0, 1) - pixels(0, 0))
        bottom = pixels(1, 0) + x * (pixels(1, 1) - pixels(1, 0))
        return top + y * (bottom - top)
