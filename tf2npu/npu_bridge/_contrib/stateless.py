"""``tf.contrib.stateless``: random numbers that depend on their seed alone."""

from tensorflow.random import (
    stateless_multinomial,
    stateless_truncated_normal,
)
from tensorflow.random import stateless_normal as stateless_random_normal
from tensorflow.random import stateless_uniform as stateless_random_uniform

__all__ = ["stateless_multinomial", "stateless_random_normal", "stateless_random_uniform", "stateless_truncated_normal"]
