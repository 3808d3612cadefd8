"""Pictures whose class can be learned: MNIST's files, CIFAR-100's records, ImageNet's records, and Iris beside them."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np

from benchmarks.migrated.records import write_records


def strokes(labels: np.ndarray, size: int, seed: int) -> np.ndarray:
    """One bright blob a class at its own place, with noise: uint8 (n, size, size)."""
    random = np.random.default_rng(seed)
    rows, columns = np.mgrid[0:size, 0:size] / size
    angle = 2 * np.pi * labels[:, None, None] / 10
    distance = (rows - 0.5 - 0.3 * np.sin(angle)) ** 2 + (columns - 0.5 - 0.3 * np.cos(angle)) ** 2
    values = 220 * np.exp(-distance / 0.02) + random.uniform(0, 35, (len(labels), size, size))
    return np.clip(values, 0, 255).astype(np.uint8)


def make_mnist(folder: Path, n_train: int, n_test: int) -> None:
    """MNIST's four gzipped IDX files."""
    folder.mkdir(parents=True, exist_ok=True)
    for part, n, seed in (("train", n_train, 1), ("t10k", n_test, 2)):
        labels = np.random.default_rng(seed).integers(0, 10, n).astype(np.uint8)
        files = {
            f"{part}-images-idx3-ubyte.gz": struct.pack(">4I", 2051, n, 28, 28) + strokes(labels, 28, seed).tobytes(),
            f"{part}-labels-idx1-ubyte.gz": struct.pack(">2I", 2049, n) + labels.tobytes(),
        }
        for name, data in files.items():
            (folder / name).write_bytes(gzip.compress(data, mtime=0))


def make_iris(folder: Path) -> None:
    """``iris.train`` and ``iris.test``: four measures and the name, a line a flower."""
    names = ("Iris-setosa", "Iris-versicolor", "Iris-virginica")
    middles = np.array([[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.6, 2.0]])
    for part, n, seed in (("train", 120, 1), ("test", 30, 2)):
        random = np.random.default_rng(seed)
        kinds = np.arange(n) % 3
        measures = middles[kinds] + random.normal(0, 0.3, (n, 4))
        lines = [",".join([*(f"{m:.1f}" for m in row), names[kind]]) for row, kind in zip(measures, kinds, strict=True)]
        (folder / f"iris.{part}").write_text("\n".join(lines) + "\n")


def make_cifar_records(path: Path, n: int) -> None:
    """CIFAR-100 records: ``image`` raw 32x32x3, ``fine_label``, ``coarse_label``."""
    labels = np.arange(n) % 10
    images = np.repeat(strokes(labels, 32, 3)[..., None], 3, axis=3)
    write_records(
        path,
        (
            {"image": image.tobytes(), "fine_label": int(label), "coarse_label": int(label) // 5}
            for image, label in zip(images, labels, strict=True)
        ),
    )


def make_imagenet_records(folder: Path, n: int, size: int = 256) -> None:
    """ImageNet records ``train-*`` and ``validation-*`` with JPEG images, class, text and one bounding box."""
    labels = np.arange(n) % 10
    jpegs = _jpegs(np.repeat(strokes(labels, size, 4)[..., None], 3, axis=3))
    examples = [
        {
            "image/encoded": jpeg, "image/format": "JPEG", "image/colorspace": "RGB", "image/channels": 3,
            "image/height": size, "image/width": size, "image/filename": f"picture{i}.JPEG",
            "image/class/label": int(label) + 1, "image/class/text": f"class {label}", "image/class/synset": f"n{label:08d}",
            "image/object/bbox/xmin": [0.1], "image/object/bbox/xmax": [0.9], "image/object/bbox/ymin": [0.1],
            "image/object/bbox/ymax": [0.9], "image/object/bbox/label": [int(label) + 1],
        }
        for i, (jpeg, label) in enumerate(zip(jpegs, labels, strict=True))
    ]  # fmt: skip
    for part in ("train", "validation"):
        for shard in range(2):
            write_records(folder / f"{part}-{shard:05d}-of-00002", examples[shard::2])


def _jpegs(images: np.ndarray) -> list[bytes]:
    import tensorflow as tf

    return [tf.io.encode_jpeg(image, quality=90).numpy() for image in images]
