"""A conversion leaves nothing behind that has to wait for the garbage collector."""

from __future__ import annotations

import gc

import libcst

from tf2npu.engine.convert_file import convert_source

NESTED = b"""import tensorflow as tf
from tensorflow.python import *
class Net:
    def build(self, x):
        self.x = tf.nn.dropout(x, 0.5)
        def inner(y=lambda z: z):
            nonlocal x
            return [tf.nn.relu(a) for a in self.x if (b := a)] + [y]
        return inner
with tf.Session() as sess:
    sess.run(Net().build(1))
"""


def test_the_tree_is_freed_when_the_file_is_done():
    convert_source(NESTED)
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        assert convert_source(NESTED).edits
        gc.collect()
        assert not [type(left) for left in gc.garbage if isinstance(left, libcst.CSTNode)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
