"""MNIST from local IDX files, as ``tensorflow.examples.tutorials.mnist`` gave it; nothing is ever downloaded.

Source: tensorflow/contrib/learn/python/learn/datasets/mnist.py of TF 1.15; batches come in its order for a seed.
"""

from __future__ import annotations

import gzip
import os
from io import BytesIO
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from tensorflow.python.framework import dtypes, random_seed

__all__ = [
    "DataSet", "Datasets", "dense_to_one_hot", "extract_images", "extract_labels", "load_mnist", "maybe_download",
    "read_data_sets",
]  # fmt: skip
DEFAULT_SOURCE_URL = ""
_IMAGES, _LABELS = 2051, 2049
"""The first number of a file of images and of one of labels. Source: the description of the MNIST files."""


class Datasets(NamedTuple):
    """The three parts of a data set."""

    train: Any
    validation: Any
    test: Any


def maybe_download(filename: str, work_directory: str, source_url: str = "") -> str:
    """The path of a file, with or without ``.gz``. Raises: FileNotFoundError when it is not there."""
    path = os.path.join(work_directory, filename)
    for candidate in (path, path.removesuffix(".gz"), path.removesuffix(".gz").replace("-idx", ".idx")):
        if os.path.exists(candidate):
            return candidate
    raise FileNotFoundError(
        f"{path} is not there, and npu_bridge downloads nothing: put MNIST's four IDX files into {work_directory}"
    )


def _open(file: Any) -> IO[bytes]:
    """The file's decompressed bytes; file: a path or an open file."""
    data = Path(file).read_bytes() if isinstance(file, str | os.PathLike) else file.read()
    return BytesIO(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)


def _header(stream: IO[bytes], magic: int, n_numbers: int, name: str) -> list[int]:
    print("Extracting", name)
    numbers = np.frombuffer(stream.read(4 * (n_numbers + 1)), dtype=">u4")
    if numbers[0] != magic:
        raise ValueError(f"Invalid magic number {numbers[0]} in MNIST file: {name}")
    return [int(number) for number in numbers[1:]]


def extract_images(f: Any) -> np.ndarray:
    """Images (n, rows, columns, 1) uint8. Raises: ValueError when it is no file of images."""
    with _open(f) as stream:
        n, rows, columns = _header(stream, _IMAGES, 3, getattr(f, "name", str(f)))
        return np.frombuffer(stream.read(n * rows * columns), np.uint8).reshape(n, rows, columns, 1)


def dense_to_one_hot(labels_dense: np.ndarray, num_classes: int) -> np.ndarray:
    """Labels (n,) as rows (n, num_classes) of zeros and a one."""
    return np.eye(num_classes)[np.asarray(labels_dense).ravel()]


def extract_labels(f: Any, one_hot: bool = False, num_classes: int = 10) -> np.ndarray:
    """Labels (n,) uint8, or one-hot (n, num_classes). Raises: ValueError when it is no file of labels."""
    with _open(f) as stream:
        (n,) = _header(stream, _LABELS, 1, getattr(f, "name", str(f)))
        labels = np.frombuffer(stream.read(n), np.uint8)
        return dense_to_one_hot(labels, num_classes) if one_hot else labels


class DataSet:
    """Images and labels with ``next_batch``. Raises: TypeError for a dtype other than uint8 and float32."""

    def __init__(
        self,
        images: Any,
        labels: Any,
        fake_data: bool = False,
        one_hot: bool = False,
        dtype: Any = dtypes.float32,
        reshape: bool = True,
        seed: int | None = None,
    ) -> None:
        graph_seed, op_seed = random_seed.get_seed(seed)
        np.random.seed(graph_seed if seed is None else op_seed)
        dtype = dtypes.as_dtype(dtype).base_dtype
        if dtype not in (dtypes.uint8, dtypes.float32):
            raise TypeError(f"Invalid image dtype {dtype!r}, expected uint8 or float32")
        self.one_hot, self._is_fake = one_hot, fake_data
        self._num_examples = 10000 if fake_data else len(images)
        if not fake_data:
            if reshape:
                images = images.reshape(len(images), -1)
            if dtype == dtypes.float32:
                images = np.multiply(images.astype(np.float32), 1.0 / 255.0)
        self._images, self._labels = images, labels
        self._epochs_completed = self._index_in_epoch = 0

    @property
    def images(self) -> Any:
        return self._images

    @property
    def labels(self) -> Any:
        return self._labels

    @property
    def num_examples(self) -> int:
        return self._num_examples

    @property
    def epochs_completed(self) -> int:
        return self._epochs_completed

    def next_batch(self, batch_size: int, fake_data: bool = False, shuffle: bool = True) -> tuple[Any, Any]:
        """The next ``batch_size`` examples, in a new order each epoch."""
        if fake_data:
            label: Any = [1] + [0] * 9 if self.one_hot else 0
            return [[1] * 784 for _ in range(batch_size)], [label for _ in range(batch_size)]
        start = self._index_in_epoch
        if self._epochs_completed == 0 and start == 0 and shuffle:
            self._shuffle()
        rest = self._num_examples - start
        if batch_size <= rest:
            self._index_in_epoch += batch_size
            return self._images[start : self._index_in_epoch], self._labels[start : self._index_in_epoch]
        self._epochs_completed += 1
        left = self._images[start:], self._labels[start:]
        if shuffle:
            self._shuffle()
        end = self._index_in_epoch = batch_size - rest
        images, labels = self._images[:end], self._labels[:end]
        return np.concatenate((left[0], images)), np.concatenate((left[1], labels))

    def _shuffle(self) -> None:
        order = np.arange(self._num_examples)
        np.random.shuffle(order)
        self._images, self._labels = self._images[order], self._labels[order]


def read_data_sets(
    train_dir: str,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: Any = dtypes.float32,
    reshape: bool = True,
    validation_size: int = 5000,
    seed: int | None = None,
    source_url: str = DEFAULT_SOURCE_URL,
) -> Datasets:
    """Train, validation (the first ``validation_size`` of the training files) and test out of the IDX files of a folder.

    Raises: FileNotFoundError when one is missing; ValueError when validation_size exceeds the number of images.
    """
    if fake_data:
        return Datasets(*(DataSet([], [], fake_data=True, one_hot=one_hot, dtype=dtype, seed=seed) for _ in range(3)))
    images, labels = _read(train_dir, "train", one_hot)
    if not 0 <= validation_size <= len(images):
        raise ValueError(f"Validation size should be between 0 and {len(images)}. Received: {validation_size}.")
    parts = (
        (images[validation_size:], labels[validation_size:]),
        (images[:validation_size], labels[:validation_size]),
        _read(train_dir, "t10k", one_hot),
    )
    return Datasets(*(DataSet(*part, one_hot=one_hot, dtype=dtype, reshape=reshape, seed=seed) for part in parts))


def _read(folder: str, part: str, one_hot: bool) -> tuple[np.ndarray, np.ndarray]:
    images = extract_images(maybe_download(f"{part}-images-idx3-ubyte.gz", folder))
    return images, extract_labels(maybe_download(f"{part}-labels-idx1-ubyte.gz", folder), one_hot)


def load_mnist(train_dir: str = "MNIST-data") -> Datasets:
    """``read_data_sets`` with its defaults."""
    return read_data_sets(train_dir)
