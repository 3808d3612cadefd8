"""Transforms and pipelines that draw no numbers, which real MindSpore and the project's package run alike.

`tools/record_mindspore_datasets.py` records them with real MindSpore; `test_dataset_recordings.py` compares. A case gets a `Kit`,
in which both have the same names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Kit:
    """The modules that a case reads.

    picture: makes an array the image of the Python transforms; array: the reverse.  normalize_tensor: `Normalize` for channels
    first.  padded: a batch of so many rows, filled up to one shape.
    """

    ds: Any
    vision: Any
    python_vision: Any
    transforms: Any
    dtype: Any
    picture: Callable[[np.ndarray], Any]
    array: Callable[[Any], np.ndarray]
    normalize_tensor: Callable[[list, list], Any]
    padded: Callable[[Any, int], Any]

    @property
    def inter(self):
        return self.vision.Inter

    @property
    def border(self):
        return self.vision.Border


def images() -> dict[str, np.ndarray]:
    """Inputs by name: noise over a slope, so that errors of a place or of a rounding show."""
    random = np.random.RandomState(7)
    slope = np.add.outer(np.arange(12) * 9, np.arange(18) * 5)[:, :, None]
    colour = (slope + random.randint(0, 80, (12, 18, 3))).clip(0, 255).astype(np.uint8)
    square = random.randint(0, 256, (10, 10, 3)).astype(np.uint8)
    digit = random.randint(0, 256, (14, 14, 1)).astype(np.uint8)
    return {
        "colour": colour,
        "square": square,
        "digit": digit,
        "flat": np.ascontiguousarray(colour[:, :, 0]),
        "float": (colour / np.float32(255)).astype(np.float32),
        "channels_first": np.ascontiguousarray((colour / np.float32(255)).astype(np.float32).transpose(2, 0, 1)),
        "whole": colour.astype(np.int32),
        "label": np.array(2, np.uint32),
        "vector": np.arange(6, dtype=np.int64),
        "table": random.randint(0, 5, (3, 4)).astype(np.int32),
        "fraction": np.array([1.7, -1.7, 300.5], np.float32),
    }


def c_transforms(kit: Kit) -> dict[str, tuple[str, Any]]:
    """Transforms by name, each with the name of its input."""
    v, inter, border = kit.vision, kit.inter, kit.border
    resizes = {
        f"resize {image} {size} {way.name}": (image, v.Resize(size, way))
        for way in (inter.NEAREST, inter.LINEAR, inter.CUBIC)
        for image, size in (
            ("colour", (19, 27)),
            ("colour", (6, 9)),
            ("colour", 5),
            ("digit", (16, 16)),
            ("square", (31, 3)),
            ("square", (5, 5)),
            ("flat", (15, 15)),
            ("float", (7, 23)),
        )
    }
    borders = {f"pad {mode.name}": ("colour", v.Pad((1, 2, 3, 4), 9, mode)) for mode in border}
    adjusts = {
        f"adjust {name} {value}": ("colour", v.RandomColorAdjust(**{name: (value, value)}))
        for name, values in {
            "brightness": (0.6, 1.7),
            "contrast": (0.6, 1.7),
            "saturation": (0.4, 1.7),
            "hue": (-0.4, 0.1),
        }.items()
        for value in values
    }
    return resizes | borders | adjusts | other_c_transforms(v)


def other_c_transforms(v: Any) -> dict[str, tuple[str, Any]]:
    return {
        "pad two": ("flat", v.Pad((1, 2))),
        "pad colours": ("colour", v.Pad(2, (1, 2, 3))),
        "crop middle": ("colour", v.CenterCrop((7, 8))),
        "crop middle odd": ("colour", v.CenterCrop((8, 9))),
        "crop larger": ("colour", v.CenterCrop((15, 7))),
        "crop larger square": ("flat", v.CenterCrop(21)),
        "crop all": ("colour", v.RandomCrop((18, 24), (2, 1, 4, 5), fill_value=7)),
        "crop resized": ("colour", v.RandomResizedCrop((9, 8), (1.0, 1.0), (1.5, 1.5))),
        "mirror": ("colour", v.RandomHorizontalFlip(1.0)),
        "upside down": ("flat", v.RandomVerticalFlip(1.0)),
        "stay": ("colour", v.RandomVerticalFlip(0.0)),
        "rescale": ("colour", v.Rescale(1 / 255, 0.0)),
        "rescale mnist": ("float", v.Rescale(1 / 0.3081, -1 * 0.1307 / 0.3081)),
        "rescale whole": ("whole", v.Rescale(0.5, -3.0)),
        "normalize": ("colour", v.Normalize([123.7, 116.3, 103.5], [58.4, 57.1, 57.4])),
        "normalize float": ("float", v.Normalize([0.4914, 0.4822, 0.4465], [0.2023, 0.1994, 0.2010])),
        "normalize one": ("digit", v.Normalize([33.3], [78.6])),
        "normalize flat": ("flat", v.Normalize([33.3], [78.6])),
        "channels": ("colour", v.HWC2CHW()),
        "channels flat": ("flat", v.HWC2CHW()),
        "invert": ("colour", v.Invert()),
    }


def data_transforms(kit: Kit) -> dict[str, tuple[str, Any]]:
    t, dtype = kit.transforms, kit.dtype
    return {
        "one hot": ("label", t.OneHot(4)),
        "one hot several": ("table", t.Compose([t.Slice(0), t.Fill(3), t.Slice([0])])),
        "cast": ("fraction", t.TypeCast(dtype.int32)),
        "cast wide": ("table", t.TypeCast(dtype.float16)),
        "fill": ("fraction", t.Fill(4)),
        "pad end": ("vector", t.PadEnd([9], 5)),
        "cut end": ("vector", t.PadEnd([4])),
        "slice": ("vector", t.Slice(slice(1, 5, 2))),
        "slice two": ("table", t.Slice(slice(0, 2), [0, 3])),
        "join": ("vector", t.Concatenate(0, np.array([7, 7]), np.array([8]))),
        "duplicate": ("vector", t.Duplicate()),
        **{f"mask {one.name}": ("table", t.Mask(one, 2)) for one in t.Relational},
    }


def python_transforms(kit: Kit) -> dict[str, tuple[str, Any]]:
    """Transforms of Pillow's images."""
    p, inter, border = kit.python_vision, kit.inter, kit.border
    resizes = {
        f"resize {image} {size} {way.name}": (image, p.Resize(size, way))
        for way in (inter.NEAREST, inter.ANTIALIAS, inter.LINEAR, inter.CUBIC)
        for image, size in (("colour", (19, 27)), ("colour", (4, 7)), ("square", 7), ("flat", (15, 5)))
    }
    borders = {f"pad {mode.name}": ("colour", p.Pad((1, 2, 3, 4), 9, mode)) for mode in border}
    return {
        **resizes,
        **borders,
        "adjust nothing": ("colour", p.RandomColorAdjust()),
        "adjust hue": ("colour", p.RandomColorAdjust(hue=(0.3, 0.3))),
        "adjust hue back": ("colour", p.RandomColorAdjust(hue=(-0.2, -0.2))),
        "crop middle": ("colour", p.CenterCrop((7, 9))),
        "crop middle odd": ("colour", p.CenterCrop((8, 11))),
        "crop all": ("colour", p.RandomCrop((16, 24), (2, 1, 4, 3))),
        "crop resized": ("colour", p.RandomResizedCrop((9, 8), (1.0, 1.0), (1.5, 1.5))),
        "mirror": ("colour", p.RandomHorizontalFlip(1.0)),
        "upside down": ("flat", p.RandomVerticalFlip(1.0)),
        "grey": ("colour", p.Grayscale()),
        "grey in three": ("colour", p.Grayscale(3)),
        "tensor": ("colour", p.ToTensor()),
        "tensor flat": ("flat", p.ToTensor()),
        "invert": ("colour", p.Invert()),
    }


def as_outputs(result: Any) -> dict[str, np.ndarray]:
    """Results by number."""
    return {str(number): np.asarray(one) for number, one in enumerate(result if isinstance(result, tuple) else (result,))}


def run_transforms(kit: Kit) -> dict[str, dict[str, np.ndarray]]:
    """The results of all transforms, by kind and name."""
    inputs, found = images(), {}
    for kind, cases in (("c", c_transforms(kit)), ("data", data_transforms(kit))):
        for name, (image, operation) in cases.items():
            found[f"{kind} {name}"] = as_outputs(operation(inputs[image].copy()))
    for name, (image, operation) in python_transforms(kit).items():
        found[f"python {name}"] = {"0": kit.array(operation(kit.picture(inputs[image].copy())))}
    normalize = kit.normalize_tensor([0.4914, 0.4822, 0.4465], [0.2023, 0.1994, 0.2010])
    found["python normalize"] = {"0": normalize(inputs["channels_first"])}
    return found


def write_mnist(folder: Path) -> None:
    """Files in the format of MNIST with 4 images for training and 7 for tests, which are black but for a square of noise."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.RandomState(3)
    for prefix, count in (("train", 4), ("t10k", 7)):
        pixels = np.zeros((count, 28, 28), np.uint8)
        pixels[:, 9:17, 9:17] = random.randint(0, 256, (count, 8, 8))
        labels = random.randint(0, 10, count).astype(np.uint8)
        head = np.array([0x803, count, 28, 28], ">u4").tobytes()
        (folder / f"{prefix}-images-idx3-ubyte").write_bytes(head + pixels.tobytes())
        (folder / f"{prefix}-labels-idx1-ubyte").write_bytes(np.array([0x801, count], ">u4").tobytes() + labels.tobytes())


def write_cifar10(folder: Path) -> None:
    """Files in the format of CIFAR-10: two of training and one of tests, whose first records are noise and the rest 0."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.RandomState(4)
    for name in ("data_batch_1.bin", "data_batch_2.bin", "test_batch.bin"):
        records = np.zeros((10_000, 3073), np.uint8)
        records[:2, ::7] = random.randint(0, 10, (2, 439)) * 25
        records[:, 0] = random.randint(0, 10, 10_000)
        (folder / name).write_bytes(records.tobytes())


def write_image_folder(folder: Path, files: dict[str, np.ndarray]) -> None:
    """A folder a class with the encoded images."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.tobytes())


def pipelines(kit: Kit, mnist: str, cifar: str, folder: str) -> dict[str, Any]:
    """Pipelines by name; each is a small program with an order that is not drawn."""
    ds, v, t = kit.ds, kit.vision, kit.transforms
    lenet = ds.MnistDataset(mnist, shuffle=False)
    lenet = lenet.map(t.TypeCast(kit.dtype.int32), "label")
    for operation in (v.Resize((32, 32)), v.Rescale(1 / 255, 0.0), v.Rescale(1 / 0.3081, -0.1307 / 0.3081), v.HWC2CHW()):
        lenet = lenet.map(operation, "image")
    decoded = ds.ImageFolderDataset(folder, shuffle=False, decode=True)
    table = {"a": np.arange(10, dtype=np.int32), "b": np.arange(20, dtype=np.float32).reshape(10, 2)}
    slices = lambda **more: ds.NumpySlicesDataset(table, shuffle=False, **more)  # noqa: E731
    return {
        "lenet": lenet.batch(3, drop_remainder=True).repeat(2).take(1),
        "mnist test": ds.MnistDataset(mnist, "test", shuffle=False).batch(4).skip(1),
        "mnist shard": ds.MnistDataset(mnist, "test", shuffle=False, num_shards=3, shard_id=2),
        "cifar": ds.Cifar10Dataset(cifar, "test", shuffle=False, num_samples=2),
        "cifar train": ds.Cifar10Dataset(cifar, "train", shuffle=False)
        .project(["label"])
        .batch(4000)
        .map(t.Slice(slice(0, 3)), "label"),
        "folder": decoded.map([v.Resize(12), v.CenterCrop(9)], "image").batch(3),
        "folder bytes": ds.ImageFolderDataset(folder, shuffle=False).project(["label"]),
        "drop": slices().batch(4, True),
        "keep": slices().batch(4),
        "repeat before batch": slices().repeat(2).batch(8),
        "rename": slices().rename(["b"], ["c"]).project(["c", "a"]).take(2),
        "zip": ds.zip((slices().skip(7), ds.NumpySlicesDataset([1.5, 2.5], ["z"], shuffle=False))),
        "concat": slices().take(2).concat(slices().skip(8)),
        "filter": slices().filter(lambda a: a % 3 == 0, ["a"]),
        "two columns": slices().map(lambda a, b: (b + a, a * 2), ["a", "b"]),
        "three of one": slices().take(2).map(lambda a: (a, a + 1, a + 2), ["a"], ["p", "q", "r"]).project(["r", "b", "p"]),
        "batch map": slices().batch(
            5, per_batch_map=lambda a, info: ([one + info.get_batch_num() for one in a],), input_columns=["a"]
        ),
        "pad": kit.padded(ds.GeneratorDataset(lambda: ((np.arange(n), np.int32(n)) for n in (1, 3, 2)), ["x", "n"]), 3),
        "sequential": ds.NumpySlicesDataset(table, sampler=ds.SequentialSampler(3, 4)),
        "distributed": ds.NumpySlicesDataset(table, sampler=ds.DistributedSampler(4, 3, shuffle=False)),
    }


def run_pipelines(kit: Kit, folder: Path, files: dict[str, np.ndarray]) -> dict[str, dict[str, np.ndarray]]:
    """The rows of all pipelines, and their sizes, by name."""
    write_mnist(folder / "mnist")
    write_cifar10(folder / "cifar")
    write_image_folder(folder / "images", files)
    found = {}
    for name, pipeline in pipelines(kit, *(str(folder / one) for one in ("mnist", "cifar", "images"))).items():
        size = np.array([pipeline.get_dataset_size(), pipeline.get_batch_size(), pipeline.get_repeat_count()])
        rows = list(pipeline.create_dict_iterator(num_epochs=1, output_numpy=True))
        found[name] = {"size": size} | {f"{number} {key}": value for number, row in enumerate(rows) for key, value in row.items()}
    return found
