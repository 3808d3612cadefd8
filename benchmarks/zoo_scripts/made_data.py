"""Synthetic data in the files that the scripts read: small, learnable, the same in every run."""

from __future__ import annotations

import pickle
import struct
import zlib
from pathlib import Path

import numpy as np

N_TRAINED, N_TESTED = 512, 128


def write(folder: Path) -> None:
    """All files, below a folder."""
    random = np.random.default_rng(11)
    digits = [_digits(random, n) for n in (N_TRAINED, N_TESTED)]
    _mnist(folder, digits)
    _imdb(folder, random)
    _cifar(folder / "cifar-10-batches-py", random)
    _ratings(folder / "ratings.dat", random)
    _criteo(folder / "train.txt", random)
    _sessions(folder / "train-item-views.csv", random)
    _reviews(folder, random)
    _dark_images(folder / "our485" / "low", random)


def _digits(random: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Images of 28 x 28 bytes in which a bar stands where the label says."""
    labels = np.arange(n) % 10
    images = random.integers(0, 60, (n, 28, 28))
    for image, label in zip(images, labels, strict=True):
        image[4:24, 2 * label + 3 : 2 * label + 6] += 180
    return images.astype(np.uint8), labels.astype(np.uint8)


def _mnist(folder: Path, digits: list[tuple[np.ndarray, np.ndarray]]) -> None:
    (xs, ys), (test_xs, test_ys) = digits
    np.savez(folder / "mnist.npz", x_train=xs, y_train=ys, x_test=test_xs, y_test=test_ys)
    for name in ("few", "arrays"):
        (folder / name).mkdir()
    np.savez(folder / "few" / "mnist.npz", x_train=xs[:64], y_train=ys[:64], x_test=test_xs[:16], y_test=test_ys[:16])
    np.savez(folder / "arrays" / "mnist.npz", k1=xs, k2=ys, k3=test_xs, k4=test_ys)
    (folder / ".keras" / "datasets").mkdir(
        parents=True
    )  # here Keras looks, where this is the home; a script halves the 60,000 of the real file
    many = np.resize(np.arange(len(xs)), 60000)
    np.savez_compressed(
        folder / ".keras" / "datasets" / "mnist.npz", x_train=xs[many], y_train=ys[many], x_test=test_xs, y_test=test_ys
    )
    (folder / "MNIST").mkdir()
    for name, (images, labels) in zip(("train", "t10k"), digits, strict=True):
        head = struct.pack(">iiii", 2051, len(images), 28, 28)
        (folder / "MNIST" / f"{name}-images.idx3-ubyte").write_bytes(head + images.tobytes())
        (folder / "MNIST" / f"{name}-labels.idx1-ubyte").write_bytes(struct.pack(">ii", 2049, len(labels)) + labels.tobytes())


def _imdb(folder: Path, random: np.random.Generator) -> None:
    """Reviews as lists of words' numbers: those of one kind have more of the even ones."""
    arrays = {}
    for name, n in (("train", 200), ("test", 100)):
        labels = np.arange(n) % 2
        reviews = np.empty(n, dtype=object)
        for place, label in enumerate(labels):
            words = random.integers(4, 2000, random.integers(30, 260))
            reviews[place] = np.where(random.random(len(words)) < 0.3, words // 2 * 2 + label, words).tolist()
        arrays |= {f"x_{name}": reviews, f"y_{name}": labels}
    np.savez(folder / "imdb.npz", **arrays)


def _cifar(folder: Path, random: np.random.Generator) -> None:
    """Batches of 10,000 images, a number that the scripts count on: one a label, and noise."""
    folder.mkdir()
    where_keras_looks = folder.parent / ".keras" / "datasets" / folder.name
    where_keras_looks.symlink_to(folder)
    for place in (folder, where_keras_looks):
        place.with_name(f"{place.name}.tar.gz").touch()  # it looks for this before it takes the folder
    of_label = random.integers(0, 176, (10, 3072), dtype=np.uint8)
    for name in (*(f"data_batch_{place}" for place in range(1, 6)), "test_batch"):
        labels = random.integers(0, 10, 10000)
        images = of_label[labels] + random.integers(0, 80, (len(labels), 3072), dtype=np.uint8)
        (folder / name).write_bytes(pickle.dumps({b"data": images, b"labels": labels.tolist()}, protocol=2))


def _ratings(file: Path, random: np.random.Generator) -> None:
    rows = []
    for user in range(1, 41):
        for when, item in enumerate(random.permutation(np.arange(1, 121))[:24]):
            rows.append(f"{user}::{item}::{1 + (user + item) % 5}::{978300000 + when}")
    file.write_text("\n".join(rows) + "\n")


def _criteo(file: Path, random: np.random.Generator) -> None:
    rows = []
    for place in range(640):
        counts = random.integers(0, 200, 13)
        hashes = [f"{value:08x}" for value in random.integers(0, 12, 26)]
        rows.append("\t".join([str(int(counts[0] + 10 * (place % 3) > 110)), *map(str, counts), *hashes]))
    file.write_text("\n".join(rows) + "\n")


def _sessions(file: Path, random: np.random.Generator) -> None:
    rows = ["sessionId;userId;itemId;timeframe;eventdate"]
    for session in range(160):
        date = ("2016-05-20", "2016-05-20", "2016-05-20", "2016-05-25", "2016-05-28")[session % 5]
        first = int(random.integers(0, 30))
        rows += [f"{session};NA;{100 + (first + step) % 30};{step * 1000};{date}" for step in range(6)]
    file.write_text("\n".join(rows) + "\n")


def _reviews(folder: Path, random: np.random.Generator) -> None:
    """Three pickles in a file: articles that people reviewed.  Without pandas no script can read it either."""
    try:
        import pandas
    except ImportError:
        return
    users = np.repeat(np.arange(60), 8)
    items = np.concatenate([random.permutation(50)[:8] for _ in range(60)])
    frame = pandas.DataFrame({"reviewerID": users, "asin": items, "unixReviewTime": np.arange(len(users))})
    with (folder / "remap.pkl").open("wb") as file:
        for one in (frame, [item % 7 for item in range(50)], (60, 50, 7, len(users))):
            pickle.dump(one, file)


def _dark_images(folder: Path, random: np.random.Generator) -> None:
    """Images of 12 x 12: a script trains with the first 400 by name."""
    folder.mkdir(parents=True)
    for place in range(410):
        (folder / f"{place:03}.png").write_bytes(_png(random.integers(0, 90, (12, 12, 3), dtype=np.uint8)))


def _png(image: np.ndarray) -> bytes:
    """A file of an image [height, width, 3]: no line is filtered.  Source: the PNG specification, section 11."""
    height, width, _ = image.shape
    lines = b"".join(b"\0" + line.tobytes() for line in image)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(lines)), (b"IEND", b""))
    chunks = [struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
