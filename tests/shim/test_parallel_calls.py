"""The number of parallel calls of a dataset as TensorFlow 1.15 takes it: a Python number, or a tensor of int32."""

from __future__ import annotations

import pytest
import tensorflow as tf


@pytest.mark.parametrize("method", ["map", "map_with_legacy_function"])
@pytest.mark.parametrize("kind", ["int32", "int64", "number"])
def test_calls_side_by_side_are_counted_in_a_tensor(plain_session, method: str, kind: str) -> None:
    count = 2 if kind == "number" else tf.constant(2, kind)
    dataset = getattr(tf.data.Dataset.range(3), method)(lambda x: x * x, num_parallel_calls=count)
    squares = tf.data.make_one_shot_iterator(dataset).get_next()
    assert [plain_session.run(squares) for _ in range(3)] == [0, 1, 4]
