"""``tf.contrib.training``: hyperparameters, batches by buckets; training and evaluation loops are ``tf_slim``'s."""

from npu_bridge._contrib._bucketing import bucket, bucket_by_sequence_length
from npu_bridge._contrib._hparams import HParams, parse_values

__all__ = ["HParams", "bucket", "bucket_by_sequence_length", "parse_values"]
