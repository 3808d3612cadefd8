"""Keras' optimizers, which TensorFlow 2 has under two names."""

from __future__ import annotations

PACKAGES = ("tensorflow.keras.optimizers", "tensorflow.optimizers")
OLDER = ("SGD", "RMSprop", "Adagrad", "Adadelta", "Adam", "Adamax", "Nadam", "Ftrl")
"""Classes of all releases; each has a class of before 2.11 in `legacy`."""
NEWER = ("AdamW", "Lion", "Adafactor")
"""Classes that came with release 2.11 or later."""
OPTIMIZERS = tuple(
    f"{package}.{name}" for package in PACKAGES for name in (*OLDER, *(f"legacy.{name}" for name in OLDER), *NEWER)
)
"""The qualified names of all of them."""
