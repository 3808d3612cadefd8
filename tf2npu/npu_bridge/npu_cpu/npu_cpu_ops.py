"""Operators of the device's own CPU."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from npu_bridge._unsupported import refused


def embeddingrankid(addr_tensor: tf.Tensor, index: tf.Tensor, row_memory: int = 320, mode: str = "mod") -> tf.Tensor:
    """The places of the rows ``index`` of a table spread over hosts: rows [rank, address, size] as uint64.

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


_TABLES = "hash tables of embeddings on the device are not simulated; use tf.Variable and tf.nn.embedding_lookup"
_CHARACTERS = "character recognition operators are not simulated; do this step on the host with OpenCV"
_QUEUES = "batching queues of the device are not simulated; use tf.data"
_PICTURES = "this image operator is not simulated; use tf.image"
_CHOICES = "this operator is not simulated; use tf.where and tf.gather_nd"
# name: (parameters, reason); "*" where no release that we know says what it takes
_REFUSED = {
    "embedding_local_index": ("addr_tensor index row_memory=320 mode='mod'", _TABLES),
    "host_feature_mapping": ("feature_id threshold=1 table_name='default_table_name'", _TABLES),
    "device_feature_mapping": ("*", _TABLES),
    **dict.fromkeys(
        (
            "init_embedding_hashmap_v2", "deinit_embedding_hashmap_v2", "table_to_resource_v2", "embedding_hashmap_import_v2",
            "embedding_hashmap_export_v2", "embedding_hashmap_size", "embedding_hashmap_file_size",
            "embedding_hashmap_export", "embedding_hashmap_import", "embedding_hash_table_lookup_or_insert",
            "embedding_hashtable_init", "embedding_hashtable_import", "embedding_hashtable_export",
            "embedding_hashtable_lookup", "embedding_hashtable_apply_adam_w", "embedding_hashtable_evict",
        ),
        ("*", _TABLES),
    ),
    "ocr_recognition_pre_handle": (
        "imgs_data imgs_offset imgs_size langs langs_score batch_size=8 data_format='NHWC' pad_mode='REPLICATE'", _CHARACTERS,
    ),
    "ocr_detection_pre_handle": ("img data_format='NHWC'", _CHARACTERS),
    "ocr_identify_pre_handle": ("imgs_data imgs_offset imgs_size size data_format='NHWC'", _CHARACTERS),
    "ocr_find_contours": ("img value_mode=0", _CHARACTERS),
    "ocr_detection_post_handle": ("img polys_data polys_offset polys_size data_format='NHWC'", _CHARACTERS),
    "batch_dilate_polys": (
        "polys_data polys_offset polys_size score min_border min_area_thr score_thr expand_scale", _CHARACTERS,
    ),
    "resize_and_clip_polys": ("polys_data polys_offset polys_size h_scale w_scale img_h img_w", _CHARACTERS),
    "batch_enqueue": ("x queue_id=0 batch_size=8 queue_name='' queue_depth=100 pad_mode='REPLICATE'", _QUEUES),
    "dequeue": ("queue_id output_type output_shape queue_name=''", _QUEUES),
    "warp_affine_v2": (
        "x matrix dst_size interploation='INTEL_BILINEAR' border_type='BORDER_CONSTANT' border_value=0", _PICTURES,
    ),
    "resize_v2": ("x dst_size interploation='INTEL_BILINEAR'", _PICTURES),
    "non_zero_with_value_shape": ("value index count", _CHOICES),
    "non_zero_with_value_shape_v2": ("*", _CHOICES),
    "stateless_random_choice_with_mask": ("*", _CHOICES),
}  # fmt: skip
for _name, (_parameters, _reason) in _REFUSED.items():
    globals()[_name] = refused(f"npu_cpu_ops.{_name}", _parameters, _reason)
