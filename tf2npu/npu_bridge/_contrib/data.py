"""``tf.contrib.data``: transformations of datasets, most of which are ``tf.data.experimental``'s now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tensorflow.data.experimental import (
    AUTOTUNE,
    CheckpointInputPipelineHook,
    Counter,
    CsvDataset,
    Optional,
    RandomDataset,
    Reducer,
    SqlDataset,
    TFRecordWriter,
    bucket_by_sequence_length,
    choose_from_datasets,
    copy_to_device,
    dense_to_sparse_batch,
    enumerate_dataset,
    get_next_as_optional,
    get_single_element,
    group_by_reducer,
    group_by_window,
    ignore_errors,
    make_batched_features_dataset,
    make_csv_dataset,
    make_saveable_from_iterator,
    map_and_batch,
    parallel_interleave,
    parse_example_dataset,
    prefetch_to_device,
    rejection_resample,
    sample_from_datasets,
    scan,
    shuffle_and_repeat,
    unbatch,
    unique,
)

__all__ = [
    "AUTOTUNE", "CheckpointInputPipelineHook", "Counter", "CsvDataset", "Optional", "RandomDataset", "Reducer", "SqlDataset",
    "TFRecordWriter", "assert_element_shape", "batch_and_drop_remainder", "bucket_by_sequence_length", "choose_from_datasets",
    "copy_to_device", "dense_to_sparse_batch", "enumerate_dataset", "get_next_as_optional", "get_single_element",
    "group_by_reducer", "group_by_window", "ignore_errors", "make_batched_features_dataset", "make_csv_dataset",
    "make_saveable_from_iterator", "map_and_batch", "padded_batch_and_drop_remainder", "parallel_interleave",
    "parse_example_dataset", "prefetch_to_device", "read_batch_features", "reduce_dataset", "rejection_resample",
    "sample_from_datasets", "scan", "shuffle_and_repeat", "sliding_window_batch", "sloppy_interleave", "unbatch", "unique",
]  # fmt: skip
Transformation = Callable[[tf.data.Dataset], tf.data.Dataset]


def batch_and_drop_remainder(batch_size: Any) -> Transformation:
    """Batches of exactly ``batch_size`` elements."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(batch_size: Any, padded_shapes: Any, padding_values: Any = None) -> Transformation:
    """Padded batches of exactly ``batch_size`` elements."""
    return lambda dataset: dataset.padded_batch(batch_size, padded_shapes, padding_values, drop_remainder=True)


def sloppy_interleave(map_func: Callable[..., Any], cycle_length: int, block_length: int = 1) -> Transformation:
    """Interleave what comes first, in no certain order."""
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)


def sliding_window_batch(
    window_size: Any, stride: Any = None, window_shift: Any = None, window_stride: Any = 1
) -> Transformation:
    """Windows of ``window_size`` elements as batches.

    Raises: ValueError when both stride (the old name) and window_shift are given.
    """
    if stride is not None and window_shift is not None:
        raise ValueError("give either stride or window_shift")
    shift = 1 if stride is None and window_shift is None else stride if window_shift is None else window_shift

    def windows(dataset: tf.data.Dataset) -> tf.data.Dataset:
        parts = dataset.window(window_size, shift, window_stride, drop_remainder=True)
        return parts.flat_map(lambda *window: _batch_of(window, window_size))

    return windows


def _batch_of(window: Any, size: Any) -> tf.data.Dataset:
    parts = window[0] if len(window) == 1 else tf.data.Dataset.zip(tuple(window))
    return parts.batch(size, drop_remainder=True)


def assert_element_shape(expected_shapes: Any) -> Transformation:
    """Elements with these static shapes, or an error.

    Raises: ValueError when a shape cannot be the expected one; InvalidArgumentError at run time.
    """

    def check(*element: Any) -> Any:
        structure = element[0] if len(element) == 1 else element
        return tf.nest.map_structure(lambda shape, part: tf.ensure_shape(part, shape), expected_shapes, structure)

    return lambda dataset: dataset.map(check)


def reduce_dataset(dataset: tf.data.Dataset, reducer: Reducer) -> Any:
    """The result of the reducer over all elements."""
    one_group = dataset.apply(group_by_reducer(lambda *element: tf.constant(0, tf.int64), reducer))
    return get_single_element(one_group)


def read_batch_features(
    file_pattern: Any,
    batch_size: int,
    features: Any,
    reader: Any = tf.data.TFRecordDataset,
    reader_args: Any = None,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    capacity: int = 10000,
) -> Any:
    """The next batch of parsed examples out of files."""
    dataset = make_batched_features_dataset(
        file_pattern, batch_size, features, reader=reader, reader_args=reader_args, shuffle=randomize_input,
        num_epochs=num_epochs, shuffle_buffer_size=capacity,
    )  # fmt: skip
    return tf.data.make_one_shot_iterator(dataset).get_next()
