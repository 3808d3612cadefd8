"""The module of TensorFlow that ``tf.contrib.slim`` let through besides the names of ``tf_slim``."""

from tensorflow.python.ops import variable_scope

__all__ = ["variable_scope"]
