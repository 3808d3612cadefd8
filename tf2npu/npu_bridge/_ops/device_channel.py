"""Starting and stopping the device from a graph, and queues from the device to the host."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from npu_runtime.importers.tensorflow.device_calls import mark

CAPACITY = 64
"""Values that may wait in a channel before the device has to. Chosen, not measured."""


def initialize_system(name: str | None = None) -> tf.Operation:
    """An operation that starts the device when it is run; it may be run again after ``shutdown_system``."""
    return mark(tf.no_op(name=name or "NPUInit"), "NPUInit")


def shutdown_system(name: str | None = None) -> tf.Operation:
    """An operation that stops the device when it is run."""
    return mark(tf.no_op(name=name or "NPUShutdown"), "NPUShutdown")


def _channels() -> dict[str, list[tf.DType]]:
    """The dtypes that each channel of the default graph carries, by its name: whoever closes one does not say."""
    known = tf.get_collection_ref("npu_channels")
    if not known:
        known.append({})
    return known[0]


def _queue(channel_name: str, types: Sequence[tf.DType]) -> tf.FIFOQueue:
    _channels()[channel_name] = list(types)
    return tf.FIFOQueue(CAPACITY, types, shared_name=f"npu_channel_{channel_name}")


def outfeed_enqueue_op(channel_name: str, inputs: Sequence[tf.Tensor], name: str | None = None) -> tf.Operation:
    """Put the values into the channel."""
    values = [tf.convert_to_tensor(value) for value in inputs]
    queue = _queue(channel_name, [value.dtype.base_dtype for value in values])
    return mark(queue.enqueue(values, name=name or "OutfeedEnqueueOp"), "OutfeedEnqueueOp", channel_name=channel_name)


def outfeed_dequeue_op(
    channel_name: str, output_types: Sequence[tf.DType], output_shapes: Sequence[tf.TensorShape], name: str | None = None
) -> list[tf.Tensor]:
    """Take the next values out of the channel; it waits for them."""
    values = _queue(channel_name, list(output_types)).dequeue(name=name or "OutfeedDequeueOp")
    values = list(values) if isinstance(values, list | tuple) else [values]
    for value, shape in zip(values, output_shapes, strict=True):
        value.set_shape(shape)
    return values


def stop_outfeed_dequeue_op(channel_name: str, name: str | None = None) -> tf.Operation:
    """Close the channel, so that whoever waits at its end gets an OutOfRangeError."""
    types = _channels().get(channel_name, [tf.float32])
    return _queue(channel_name, types).close(name=name or "StopOutfeedDequeueOp")
