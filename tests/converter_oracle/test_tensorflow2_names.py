"""The names of TensorFlow 2 that are reported exist in it, under the name that is reported."""

from __future__ import annotations

import pytest
import tensorflow as tf

from tf2npu.rules.newer_tensorflow import _INSTEAD
from tf2npu.rules.tensorflow2_names import TENSORFLOW_2_NAMES


@pytest.mark.parametrize("name", TENSORFLOW_2_NAMES)
def test_the_name_exists(name: str) -> None:
    found = tf
    for part in name.removeprefix("tensorflow.").split("."):
        found = getattr(found, part.removesuffix("()"))
    assert found is not None


def test_every_advice_is_for_a_name_that_is_reported() -> None:
    assert {f"tensorflow.{name}" for name in _INSTEAD} <= set(TENSORFLOW_2_NAMES)
