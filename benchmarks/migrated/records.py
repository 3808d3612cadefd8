"""TFRecord files of tf.train.Example, written without TensorFlow's runtime getting in the way of a script's own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np


def feature(values: Any) -> Any:
    """A tf.train.Feature of bytes, text, ints or floats."""
    from tensorflow.core.example import feature_pb2

    if isinstance(values, str | bytes):
        values = [values]
    values = list(np.ravel(values)) if not isinstance(values, list) else values
    if values and isinstance(values[0], str | bytes):
        data = [value.encode() if isinstance(value, str) else value for value in values]
        return feature_pb2.Feature(bytes_list=feature_pb2.BytesList(value=data))
    if all(isinstance(value, int | np.integer) for value in values):
        return feature_pb2.Feature(int64_list=feature_pb2.Int64List(value=[int(value) for value in values]))
    return feature_pb2.Feature(float_list=feature_pb2.FloatList(value=[float(value) for value in values]))


def write_records(path: Path, examples: Iterable[Mapping[str, Any]]) -> None:
    """Write one record an example, its features in the order of their names."""
    from tensorflow.core.example import example_pb2, feature_pb2
    from tensorflow.python.lib.io import tf_record

    path.parent.mkdir(parents=True, exist_ok=True)
    with tf_record.TFRecordWriter(str(path)) as writer:
        for example in examples:
            features = feature_pb2.Features(feature={name: feature(values) for name, values in sorted(example.items())})
            writer.write(example_pb2.Example(features=features).SerializeToString(deterministic=True))
