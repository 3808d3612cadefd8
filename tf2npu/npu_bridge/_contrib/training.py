"""``tf.contrib.training``: hyperparameters; training and evaluation loops are ``tf_slim``'s."""

from npu_bridge._contrib._hparams import HParams, parse_values

__all__ = ["HParams", "parse_values"]
