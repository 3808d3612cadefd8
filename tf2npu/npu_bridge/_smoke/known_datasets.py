"""Data sets that libraries would download: made-up arrays of their shapes."""

from __future__ import annotations

import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import numpy as np
from npu_bridge._smoke.contents import form_of
from npu_bridge._smoke.made_files import MadeFiles

N_EXAMPLES = 1_000
"""Examples of a part of a made-up data set."""


def install(files: MadeFiles) -> None:
    """Give the data sets of Keras and of TensorFlow's tutorials made-up arrays, and refuse downloads."""
    _install_keras(files)
    _install_mnist(files)
    _refuse_downloads(files)


def _install_keras(files: MadeFiles) -> None:
    for module in ("keras.src.datasets", "keras.datasets"):
        try:
            __import__(module)
        except ImportError:
            continue
        for name, make in _KERAS.items():
            found = sys.modules.get(f"{module}.{name}")
            if found is not None:
                found.load_data = _noted(files, f"keras.datasets.{name}", make)
    import importlib

    for name, make in _KERAS.items():
        try:
            importlib.import_module(f"keras.src.datasets.{name}").load_data = _noted(files, f"keras.datasets.{name}", make)
            importlib.import_module(f"keras.api._v1.keras.datasets.{name}").load_data = _noted(
                files, f"keras.datasets.{name}", make
            )
        except ImportError:
            continue


def _noted(files: MadeFiles, name: str, make: Callable[..., Any]) -> Callable[..., Any]:
    def load_data(*arguments: Any, **named: Any) -> Any:
        files.made[name] = f"{N_EXAMPLES} examples"
        return make(*arguments, **named)

    return load_data


def _images(rows: int, channels: tuple[int, ...], classes: int, *, is_column: bool) -> Callable[..., Any]:
    def part(seed: int) -> tuple[np.ndarray, np.ndarray]:
        draw = np.random.default_rng(seed)
        labels = draw.integers(0, classes, (N_EXAMPLES, 1) if is_column else N_EXAMPLES).astype(np.uint8)
        return draw.integers(0, 256, (N_EXAMPLES, rows, rows, *channels)).astype(np.uint8), labels

    return lambda *_, **__: (part(0), part(1))


def _words(classes: int) -> Callable[..., Any]:
    def made(path: str = "", num_words: int | None = None, *_: Any, **__: Any) -> Any:
        draw, most = np.random.default_rng(0), min(num_words or 5_000, 5_000)

        def part() -> tuple[np.ndarray, np.ndarray]:
            texts = np.empty(N_EXAMPLES, dtype=object)
            texts[:] = [draw.integers(1, most, draw.integers(20, 120)).tolist() for _ in range(N_EXAMPLES)]
            return texts, draw.integers(0, classes, N_EXAMPLES)

        return part(), part()

    return made


def _houses(*_: Any, **__: Any) -> Any:
    draw = np.random.default_rng(0)
    return tuple((draw.random((n, 13)), draw.random(n) * 50) for n in (404, 102))


_KERAS: dict[str, Callable[..., Any]] = {
    "mnist": _images(28, (), 10, is_column=False), "fashion_mnist": _images(28, (), 10, is_column=False),
    "cifar10": _images(32, (3,), 10, is_column=True), "cifar100": _images(32, (3,), 100, is_column=True),
    "imdb": _words(2), "reuters": _words(46), "boston_housing": _houses,
}  # fmt: skip


def _install_mnist(files: MadeFiles) -> None:
    """MNIST of TensorFlow's tutorials, where the folder has none of its files."""
    from npu_bridge._contrib import _mnist

    real = _mnist._read

    def read(folder: str, part: str, one_hot: bool) -> tuple[np.ndarray, np.ndarray]:
        try:
            return real(folder, part, one_hot)
        except FileNotFoundError:
            count = 6_000 if part == "train" else N_EXAMPLES
            files.made[f"{part}-images-idx3-ubyte.gz"] = f"{count} examples"
            draw = np.random.default_rng(0)
            labels = draw.integers(0, 10, count).astype(np.uint8)
            images = draw.integers(0, 256, (count, 28, 28, 1)).astype(np.uint8)
            return images, _mnist.dense_to_one_hot(labels, 10) if one_hot else labels

    _mnist._read = read


def _refuse_downloads(files: MadeFiles) -> None:
    """A smoke run is no reason to load gigabytes: the file is missing, as without a network."""

    def refused(url: Any, filename: Any = None, *_: Any, **__: Any) -> Any:
        name = str(getattr(url, "full_url", url))
        if filename and form_of(str(filename), ()) and (place := files.make(str(filename), ())) is not None:
            return place, {}
        files.ask(str(filename) if filename else name, "download")
        raise urllib.error.URLError(f"a smoke run downloads nothing: {name}")

    urllib.request.urlretrieve = refused
    urllib.request.urlopen = refused
