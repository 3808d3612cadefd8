"""The messages on a place of native Keras that was brought to tf.keras, or that means something else there."""

from __future__ import annotations

IMPORT = "tf.keras took the place of native Keras, which does not run on the NPU. Nothing is left to do."
KEYWORDS = "Arguments of Keras 1 became those of tf.keras: {}. Nothing is left to do."
DEFAULTS = "Values that native Keras has by default were written out, as tf.keras has others: {}. Nothing is left to do."
RENAMED = "The name that tf.keras has took the place of the one of native Keras. Nothing is left to do."
ACTIVATION = (
    "Without recurrent_activation this layer has hard_sigmoid in tf.keras, as in Keras up to 2.2. For the numbers of Keras 2.3 "
    "write recurrent_activation='sigmoid'."
)
WEIGHTS = (
    "Keras up to 2.2 divides a loss by the share of samples whose weight is not 0, or that no mask hides; tf.keras and Keras 2.3 "
    "do not. The loss is smaller by that share: look at the learning rate and at regularizers."
)
ACCURACY = (
    "tf.keras of TensorFlow 1.15 calls this metric 'acc' and 'val_acc', as Keras up to 2.2 does: write that name here, or give "
    "metrics=[tf.keras.metrics.categorical_accuracy] and its name."
)
