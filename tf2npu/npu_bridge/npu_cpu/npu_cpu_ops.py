"""Operators of the device's own CPU."""

from __future__ import annotations

from typing import Any, NoReturn

import tensorflow as tf
from npu_bridge._refuse import refuse


def embeddingrankid(addr_tensor: tf.Tensor, index: tf.Tensor, row_memory: int = 320, mode: str = "mod") -> tf.Tensor:
    """Where the rows ``index`` of a table spread over hosts live: rows [rank, address, size] as uint64.

    addr_tensor: [ranks, 3] uint64, rank, first address and size in bytes of each part.  row_memory: bytes of a row.
    mode: 'mod' puts row i on rank i mod ranks, 'order' gives neighbouring rows to one rank.
    """
    if mode not in ("mod", "order"):
        raise ValueError(f"mode must be 'mod' or 'order', got {mode!r}")
    addr, rows = tf.cast(addr_tensor, tf.int64), tf.cast(tf.reshape(index, [-1]), tf.int64)
    ranks = tf.shape(addr, out_type=tf.int64)[0]
    per_rank = addr[0, 2] // row_memory
    part = rows % ranks if mode == "mod" else rows // per_rank
    place = rows // ranks if mode == "mod" else rows % per_rank
    base = tf.gather(addr, part)
    size = tf.fill(tf.shape(rows), tf.constant(row_memory, tf.int64))
    return tf.cast(tf.stack([base[:, 0], base[:, 1] + place * row_memory, size], axis=1), tf.uint64)


def randomchoicewithmask(x: tf.Tensor, count: int, seed: int = 0, seed2: int = 0) -> tuple[tf.Tensor, tf.Tensor]:
    """Draw ``count`` coordinates of true elements: indices [count, rank] int32 and mask [count], false where none were left."""
    rows = tf.cast(tf.where(x), tf.int32)
    order = tf.random.uniform(tf.shape(rows)[:1], seed=seed2 or seed or None)
    chosen = tf.gather(rows, tf.argsort(order))[:count]
    missing = count - tf.shape(chosen)[0]
    indices = tf.pad(chosen, [[0, missing], [0, 0]])
    mask = tf.sequence_mask(tf.shape(chosen)[0], count)
    indices.set_shape([count, x.shape.ndims])
    return indices, mask


def dense_image_warp(image: tf.Tensor, flow: tf.Tensor, name: str | None = None) -> tf.Tensor:
    """Move pixels: result(b, j, i) = image(b, j - flow(b, j, i, 0), i - flow(b, j, i, 1)), bilinear, clamped at the border.

    image: [batch, height, width, channels].  flow: [batch, height, width, 2].
    """
    with tf.name_scope(name, "DenseImageWarp"):
        image, flow = tf.convert_to_tensor(image), tf.convert_to_tensor(flow)
        batch, height, width, channels = tf.unstack(tf.shape(image))
        rows, columns = tf.meshgrid(tf.range(height), tf.range(width), indexing="ij")
        grid = tf.cast(tf.stack([rows, columns], axis=2), flow.dtype)
        limits = tf.cast(tf.stack([height - 1, width - 1]), flow.dtype)
        at = tf.clip_by_value(tf.reshape(grid[None] - flow, [batch, -1, 2]), tf.zeros([2], flow.dtype), limits)
        low = tf.minimum(tf.floor(at), tf.maximum(limits - 1, 0))
        part = tf.cast(at - low, image.dtype)
        first = tf.cast(low, tf.int32)
        last = tf.minimum(first + 1, tf.cast(limits, tf.int32))

        def pixels(y: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
            return tf.gather_nd(image, tf.stack([y, x], axis=2), batch_dims=1)

        top = _mix(pixels(first[..., 0], first[..., 1]), pixels(first[..., 0], last[..., 1]), part[..., 1:])
        bottom = _mix(pixels(last[..., 0], first[..., 1]), pixels(last[..., 0], last[..., 1]), part[..., 1:])
        result = tf.reshape(_mix(top, bottom, part[..., :1]), [batch, height, width, channels])
        result.set_shape(image.shape)
        return result


def _mix(a: tf.Tensor, b: tf.Tensor, part: tf.Tensor) -> tf.Tensor:
    return a + part * (b - a)


def stateless_dropout(x: tf.Tensor, noise_shape: Any, p: float, seed: int, offset: int) -> tf.Tensor:
    """Dropout with rate ``p`` whose mask depends on seed and offset alone."""
    x = tf.convert_to_tensor(x)
    shape = tf.shape(x) if noise_shape is None else noise_shape
    drawn = tf.random.stateless_uniform(shape, seed=[seed, offset], dtype=x.dtype)
    return x * tf.cast(drawn >= p, x.dtype) / (1.0 - p)


_REASONS = {
    "hash tables of embeddings on the device are not simulated; use tf.Variable and tf.nn.embedding_lookup": (
        "embedding_local_index", "host_feature_mapping", "device_feature_mapping", "init_embedding_hashmap_v2",
        "deinit_embedding_hashmap_v2", "table_to_resource_v2", "embedding_hashmap_import_v2", "embedding_hashmap_export_v2",
        "embedding_hashmap_size", "embedding_hashmap_file_size", "embedding_hashmap_export", "embedding_hashmap_import",
        "embedding_hash_table_lookup_or_insert", "embedding_hashtable_init", "embedding_hashtable_import",
        "embedding_hashtable_export", "embedding_hashtable_lookup", "embedding_hashtable_apply_adam_w",
        "embedding_hashtable_evict",
    ),
    "character recognition operators are not simulated; do this step on the host with OpenCV": (
        "ocr_recognition_pre_handle", "ocr_detection_pre_handle", "ocr_identify_pre_handle", "ocr_find_contours",
        "ocr_detection_post_handle", "batch_dilate_polys", "resize_and_clip_polys",
    ),
    "batching queues of the device are not simulated; use tf.data": ("batch_enqueue", "dequeue"),
    "this image operator is not simulated; use tf.image": ("warp_affine_v2", "resize_v2"),
    "this operator is not simulated; use tf.where and tf.gather_nd": (
        "non_zero_with_value_shape", "non_zero_with_value_shape_v2", "stateless_random_choice_with_mask",
    ),
}  # fmt: skip


def _refused(name: str, reason: str) -> Any:
    def call(*args: Any, **kwargs: Any) -> NoReturn:
        refuse(f"npu_cpu_ops.{name}", reason)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Refused: {reason}."
    return call


for _reason, _names in _REASONS.items():
    for _name in _names:
        globals()[_name] = _refused(_name, _reason)
