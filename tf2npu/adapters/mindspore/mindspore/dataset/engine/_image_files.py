"""Sources that read the files of MNIST, CIFAR-10 and CIFAR-100, and folders of images."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..vision.decoding import decoded
from ._source import SourceDataset, check_usage, existing_folder

MAGIC_OF_BYTES = 0x08
"""The type byte of IDX files that hold unsigned bytes."""
CIFAR_RECORDS = {"train.bin": 50_000, "test.bin": 10_000}
"""Records of the files of CIFAR-100; each file of CIFAR-10 has 10,000."""


class LabelledArrays(SourceDataset):
    """Images of one size with labels, held in memory."""

    def __init__(self, names, images: np.ndarray, labels: list[np.ndarray], sampling: tuple):
        row = lambda number: (images[number], *(np.asarray(each[number]) for each in labels))  # noqa: E731
        super().__init__(names, len(images), row, sampling, lambda: labels[0])


class MnistDataset(LabelledArrays):
    """MNIST and data in its format: image (28, 28, 1) of uint8, label of uint32.  usage: "train", "test" or "all"."""

    def __init__(
        self,
        dataset_dir,
        usage=None,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=None,
        sampler=None,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        folder = existing_folder(dataset_dir, "MnistDataset")
        prefix = {"train": "train", "test": "t10k", "all": ""}[check_usage("MnistDataset", usage, ("train", "test", "all"))]
        files = sorted(path for path in folder.iterdir() if path.name.startswith(prefix) and path.is_file())
        pictures = [path for path in files if "idx3-ubyte" in path.name and path.suffix != ".gz"]
        numbers = [path for path in files if "idx1-ubyte" in path.name and path.suffix != ".gz"]
        if not pictures or len(pictures) != len(numbers):
            raise RuntimeError(
                f"{folder}: {len(pictures)} files of images ({prefix or '*'}-images-idx3-ubyte) and {len(numbers)} of labels "
                f"({prefix or '*'}-labels-idx1-ubyte) were found: put MNIST's unpacked files there, as many of both"
            )
        images, labels = [read_idx(path, 3) for path in pictures], [read_idx(path, 1) for path in numbers]
        for path, image, label in zip(numbers, images, labels, strict=True):
            if len(image) != len(label):
                raise RuntimeError(f"{path}: {len(label)} labels for {len(image)} images: fetch both files again")
        super().__init__(
            ["image", "label"],
            np.concatenate(images)[..., None],
            [np.concatenate(labels).astype(np.uint32)],
            (num_samples, sampler, shuffle, num_shards, shard_id),
        )


def read_idx(path: Path, axes: int) -> np.ndarray:
    """The bytes of an IDX file in the shape that its head says."""
    content = path.read_bytes()
    head = 4 + 4 * axes
    if len(content) < head or content[:4] != bytes([0, 0, MAGIC_OF_BYTES, axes]):
        raise RuntimeError(f"{path}: the file does not begin as an IDX file of bytes with {axes} axes: fetch and unpack it again")
    shape = tuple(int(size) for size in np.frombuffer(content[4:head], ">u4"))
    if len(content) - head != int(np.prod(shape, dtype=np.int64)):
        raise RuntimeError(
            f"{path}: the head says {shape} and {len(content) - head} bytes follow: the file is cut off, fetch it again"
        )
    return np.frombuffer(content, np.uint8, offset=head).reshape(shape)


def read_records(path: Path, labels: int, records: int) -> np.ndarray:
    """Records of CIFAR's binary files: labels, then 3072 bytes of an image."""
    size = labels + 3 * 32 * 32
    if path.stat().st_size != records * size:
        raise RuntimeError(
            f"{path}: the file has {path.stat().st_size} bytes; {records} records of {size} make {records * size}: fetch it again"
        )
    return np.fromfile(path, np.uint8).reshape(records, size)


def cifar_files(folder: Path, who: str, wanted) -> list[Path]:
    files = sorted(path for path in folder.glob("*.bin") if wanted(path.name))
    if not files:
        raise RuntimeError(
            f"{folder}: {who} found none of its files (.bin) there: put the unpacked binary version of the data there"
        )
    return files


class Cifar10Dataset(LabelledArrays):
    """CIFAR-10's binary version: image (32, 32, 3) of uint8, label of uint32.  usage: "train", "test" or "all"."""

    def __init__(
        self,
        dataset_dir,
        usage=None,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=None,
        sampler=None,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        folder = existing_folder(dataset_dir, "Cifar10Dataset")
        usage = check_usage("Cifar10Dataset", usage, ("train", "test", "all"))
        wanted = {"train": lambda name: "data_batch" in name, "test": lambda name: "test_batch" in name}
        either = lambda name: "data_batch" in name or "test_batch" in name  # noqa: E731
        files = cifar_files(folder, "Cifar10Dataset", wanted.get(usage, either))
        records = np.concatenate([read_records(path, 1, 10_000) for path in files])
        super().__init__(
            ["image", "label"],
            records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1),
            [records[:, 0].astype(np.uint32)],
            (num_samples, sampler, shuffle, num_shards, shard_id),
        )


class Cifar100Dataset(LabelledArrays):
    """CIFAR-100's binary version: image (32, 32, 3) of uint8, coarse_label and fine_label of uint32."""

    def __init__(
        self,
        dataset_dir,
        usage=None,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=None,
        sampler=None,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        folder = existing_folder(dataset_dir, "Cifar100Dataset")
        usage = check_usage("Cifar100Dataset", usage, ("train", "test", "all"))
        names = [f"{usage}.bin"] if usage != "all" else list(CIFAR_RECORDS)
        files = cifar_files(folder, "Cifar100Dataset", lambda name: name in names)
        records = np.concatenate([read_records(path, 2, CIFAR_RECORDS[path.name]) for path in files])
        super().__init__(
            ["image", "coarse_label", "fine_label"],
            records[:, 2:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1),
            [records[:, 0].astype(np.uint32), records[:, 1].astype(np.uint32)],
            (num_samples, sampler, shuffle, num_shards, shard_id),
        )


class ImageFolderDataset(SourceDataset):
    """Images in a folder for each class: image, a file's bytes unless decode is set, and label of int32.

    Classes are numbered in the order of their folders' names, unless class_indexing says otherwise.  extensions: endings of the
    files to take; all files by default.
    """

    def __init__(
        self,
        dataset_dir,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=None,
        sampler=None,
        extensions=None,
        class_indexing=None,
        decode=False,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        folder = existing_folder(dataset_dir, "ImageFolderDataset")
        endings = tuple(extensions or [""])
        self._classes = classes_of(folder, class_indexing)
        found = [
            (path, label)
            for name, label in sorted(self._classes.items())
            for path in sorted((folder / name).iterdir())
            if path.name.endswith(endings) and path.is_file()
        ]
        if not found:
            raise RuntimeError(
                f"{folder}: no image was found: the folder has to hold a folder of images a class; extensions is {extensions!r}"
            )

        def row(number: int) -> tuple:
            path, label = found[number]
            content = np.fromfile(path, np.uint8)
            return (decoded(content, str(path)) if decode else content, np.array(label, np.int32))

        sampling = (num_samples, sampler, shuffle, num_shards, shard_id)
        super().__init__(["image", "label"], len(found), row, sampling, lambda: [label for _, label in found])

    def num_classes(self):
        return len(self._classes)

    def get_class_indexing(self):
        return dict(self._classes)


def classes_of(folder: Path, indexing) -> dict[str, int]:
    """Labels of the folders of a folder."""
    names = sorted(path.name for path in folder.iterdir() if path.is_dir())
    if indexing is None:
        return {name: label for label, name in enumerate(names)}
    if missing := [name for name in indexing if name not in names]:
        raise RuntimeError(f"{folder}: class_indexing names {missing[0]!r}, and there is no such folder")
    return {name: int(label) for name, label in indexing.items()}
