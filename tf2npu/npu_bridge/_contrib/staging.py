"""``tf.contrib.staging``: the staging area, which is TensorFlow's own."""

from tensorflow.python.ops.data_flow_ops import StagingArea

__all__ = ["StagingArea"]
