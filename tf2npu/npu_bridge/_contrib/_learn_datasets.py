"""``tf.contrib.learn.datasets.base``: rows of a csv file and the triple that data sets came in."""

from __future__ import annotations

import csv
from typing import Any, NamedTuple

import numpy as np
from npu_bridge._contrib._mnist import Datasets, maybe_download
from tensorflow.python.platform import gfile

__all__ = ["Dataset", "Datasets", "load_csv_with_header", "load_csv_without_header", "maybe_download"]


class Dataset(NamedTuple):
    """Samples and their targets."""

    data: Any
    target: Any


def load_csv_with_header(filename: str, target_dtype: Any, features_dtype: Any, target_column: int = -1) -> Dataset:
    """Rows behind a first line that says how many rows and features there are."""
    with gfile.Open(filename) as file:
        rows = csv.reader(file)
        n_samples, n_features = (int(text) for text in next(rows)[:2])
        data = np.zeros((n_samples, n_features), dtype=features_dtype)
        target = np.zeros((n_samples,), dtype=target_dtype)
        for number, row in enumerate(rows):
            target[number] = np.asarray(row.pop(target_column), dtype=target_dtype)
            data[number] = np.asarray(row, dtype=features_dtype)
    return Dataset(data=data, target=target)


def load_csv_without_header(filename: str, target_dtype: Any, features_dtype: Any, target_column: int = -1) -> Dataset:
    """Every row of a file."""
    with gfile.Open(filename) as file:
        rows = list(csv.reader(file))
    target = np.array([row.pop(target_column) for row in rows], dtype=target_dtype)
    return Dataset(data=np.array([np.asarray(row, dtype=features_dtype) for row in rows]), target=target)
