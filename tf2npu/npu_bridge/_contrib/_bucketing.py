"""``tf.contrib.training.bucket`` and ``bucket_by_sequence_length``: batches of examples that belong together, by queues.

An example goes into the queue of its bucket; a bucket that holds a batch hands it to one last queue, from which batches are
taken. The queues live on the host, and ``tf.train.start_queue_runners`` starts what fills them. TensorFlow 1.15 also adds
summaries of how full they are; these are not made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import tensorflow as tf

__all__ = ["bucket", "bucket_by_sequence_length"]

_ENDS = (tf.errors.OutOfRangeError, tf.errors.CancelledError)


def bucket(
    tensors: Any, which_bucket: Any, batch_size: int | Sequence[int], num_buckets: int, num_threads: int = 1,
    capacity: int = 32, bucket_capacities: Sequence[int] | None = None, shapes: Any = None, dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False, keep_input: Any = True, shared_name: str | None = None, name: str | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Batches of examples of one bucket.

    tensors: a list or dict of the tensors of one example.  which_bucket: int32 scalar below num_buckets.
    keep_input: bool scalar, whether the example is for any batch.
    Returns: (number of the bucket, int32 scalar; the tensors with a batch dimension, as they came in).
    Raises: ValueError for lists that are not as long as there are buckets or shapes that are not fully defined without
    dynamic_pad; TypeError for sparse tensors, which TensorFlow 1.15 takes and this does not.
    Source: tf.contrib.training.bucket of TensorFlow 1.15.
    """
    sizes = _of_each(batch_size, num_buckets, "batch_size")
    capacities = _of_each(bucket_capacities or capacity, num_buckets, "bucket_capacities")
    with tf.name_scope(name, "bucket", tf.nest.flatten(tensors)) as scope:
        parts = [_dense(part) for part in tf.nest.flatten(tensors)]
        types = [part.dtype for part in parts]
        extents = _shapes(parts, shapes)
        make: Any = tf.PaddingFIFOQueue if dynamic_pad else tf.FIFOQueue
        names = [f"{shared_name}_{number}" if shared_name else None for number in range(num_buckets)]
        queues = [
            make(size, types, extents, shared_name=shared, name="bucket_queue")
            for size, shared in zip(capacities, names, strict=True)
        ]
        _fill(queues, parts, which_bucket, keep_input, num_threads)
        last = tf.FIFOQueue(capacity, [tf.int32, *types], shared_name=shared_name, name="top_queue")
        _hand_on(queues, last, sizes, allow_smaller_final_batch)
        number, *batch = last.dequeue(name=scope)
    number.set_shape([])
    for tensor, extent in zip(batch, extents, strict=True):
        tensor.set_shape(tf.TensorShape([_known_size(sizes, allow_smaller_final_batch)]).concatenate(extent))
    return number, tf.nest.pack_sequence_as(tensors, batch)


def bucket_by_sequence_length(
    input_length: Any, tensors: Any, batch_size: int | Sequence[int], bucket_boundaries: Sequence[int], num_threads: int = 1,
    capacity: int = 32, bucket_capacities: Sequence[int] | None = None, shapes: Any = None, dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False, keep_input: Any = True, shared_name: str | None = None, name: str | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Batches of examples whose lengths lie between the same boundaries; a boundary belongs to the bucket above it.

    input_length: int32 scalar.  tensors: a list or dict of the tensors of one example; the others as for `bucket`.
    Returns: (lengths, int32 [batch]; the tensors with a batch dimension).
    Raises: TypeError and ValueError for boundaries that are no list of increasing integers.
    Source: tf.contrib.training.bucket_by_sequence_length of TensorFlow 1.15.
    """
    _check(bucket_boundaries)
    with tf.name_scope(name, "bucket_by_sequence_length", [input_length]):
        length = tf.cast(tf.convert_to_tensor(input_length), tf.int32)
        passed = tf.cast(tf.greater_equal(length, list(bucket_boundaries)), tf.int32)
        keys = list(tensors) if isinstance(tensors, dict) else range(len(tensors))
        _, (lengths, *batch) = bucket(
            [length, *(tensors[key] for key in keys)], tf.reduce_sum(passed), batch_size, len(bucket_boundaries) + 1,
            num_threads=num_threads, capacity=capacity, bucket_capacities=bucket_capacities,
            shapes=None if shapes is None else [tf.TensorShape([]), *(shapes[key] for key in keys)], dynamic_pad=dynamic_pad,
            allow_smaller_final_batch=allow_smaller_final_batch, keep_input=keep_input, shared_name=shared_name,
        )  # fmt: skip
    return lengths, dict(zip(keys, batch, strict=True)) if isinstance(tensors, dict) else batch


def _check(boundaries: Sequence[int]) -> None:
    if not isinstance(boundaries, list | tuple):
        raise TypeError(f"bucket_boundaries must be a list or tuple, but received: {boundaries}")
    if not boundaries:
        raise ValueError("bucket_boundaries must not be empty")
    if not all(isinstance(boundary, int) for boundary in boundaries):
        raise TypeError(f"bucket boundaries must be integers, but saw: {list(boundaries)}")
    if any(low >= high for low, high in pairwise(boundaries)):
        raise ValueError(f"Buckets must contain sequential increasing lengths, but saw: {list(boundaries)}")


def _of_each(given: int | Sequence[int], count: int, what: str) -> list[int]:
    each = list(given) if isinstance(given, list | tuple) else [given] * count
    if len(each) != count:
        raise ValueError(f"If {what} is a list it must have one element for each of the {count} buckets, but it has {len(each)}")
    return each


def _dense(part: Any) -> Any:
    if isinstance(part, tf.SparseTensor):
        raise TypeError("tf.contrib.training.bucket takes no sparse tensors under npu_bridge; make them dense first")
    return tf.convert_to_tensor(part)


def _shapes(parts: Sequence[Any], shapes: Any) -> list[tf.TensorShape]:
    given = [part.shape for part in parts] if shapes is None else shapes
    return [tf.TensorShape(shape) for shape in given]


def _known_size(sizes: Sequence[int], smaller: bool) -> int | None:
    return sizes[0] if len(set(sizes)) == 1 and not smaller else None


def _fill(queues: Sequence[Any], parts: Sequence[Any], which: Any, keep: Any, threads: int) -> None:
    """Threads that put each example that is kept into the queue of its bucket."""

    def into(queue: Any) -> Callable[[], Any]:
        def put() -> tf.Tensor:
            with tf.control_dependencies([queue.enqueue(parts)]):
                return tf.constant(True)

        return put

    def choose() -> Any:
        return tf.switch_case(tf.cast(which, tf.int32), [into(queue) for queue in queues])

    put = tf.group(tf.cond(tf.convert_to_tensor(keep), choose, lambda: tf.constant(False)))
    closing = tf.group(*(queue.close() for queue in queues))
    cancelling = tf.group(*(queue.close(cancel_pending_enqueues=True) for queue in queues))
    # The runner closes a queue when the examples end; ours closes all buckets.
    runner = tf.train.QueueRunner(
        queues[0], [put] * threads, close_op=closing, cancel_op=cancelling, queue_closed_exception_types=_ENDS
    )
    tf.train.add_queue_runner(runner)


def _hand_on(queues: Sequence[Any], last: Any, sizes: Sequence[int], smaller: bool) -> None:
    """A thread for each bucket that hands its batches to the last queue."""
    puts = []
    for number, (queue, size) in enumerate(zip(queues, sizes, strict=True)):
        batch = queue.dequeue_up_to(size) if smaller else queue.dequeue_many(size)
        batch = batch if isinstance(batch, list) else [batch]
        puts.append(last.enqueue([tf.constant(number), *batch], name=f"enqueue_from_bucket_{number}"))
    tf.train.add_queue_runner(tf.train.QueueRunner(last, puts, queue_closed_exception_types=_ENDS))
