"""A function that is gone takes along what the device made for it in TensorFlow's eager context."""

from __future__ import annotations

from tests.legs.tf2.api_programs import run

SOURCE = """
import gc
import tensorflow as tf
import npu_device as npu
from tensorflow.python.eager import context

npu.open().as_default()
v = tf.Variable(0.0)
batches = iter(tf.data.Dataset.range(100))


def made():
    return tf.function(lambda it: v.assign_add(tf.cast(next(it), tf.float32)))


def host_calls():
    gc.collect()
    return sum("npu_host_call" in name for name in context.context().list_function_names())


kept = made()
kept(batches)
before = host_calls()
for _ in range(5):
    made()(batches)
print(before, host_calls(), float(v))
"""


def test_host_calls_go_with_their_function() -> None:
    before, after, total = run(SOURCE, "").stdout.split()
    assert int(before) > 0 and after == before, "those of the five functions that are gone"
    assert float(total) == 15.0
