"""Small made-up data in the place of what keras.datasets downloads, and stand-ins of libraries that draw."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

_ABSENT = ("matplotlib", "IPython", "seaborn", "PIL", "tqdm", "pydot", "skimage", "cv2")
"""Libraries that draw: scripts import them, and nothing of a training depends on them."""
N_TRAIN, N_TEST = 640, 160


def put_in_place() -> None:
    """Replace the downloads of keras.datasets, and offer stand-ins of libraries that are not installed."""
    from keras.src import datasets

    images = {
        "mnist": ((28, 28), 10),
        "fashion_mnist": ((28, 28), 10),
        "cifar10": ((32, 32, 3), 10),
        "cifar100": ((32, 32, 3), 100),
    }
    for name, (shape, n_classes) in images.items():
        _replace(datasets, name, _pictures(shape, n_classes))
    _replace(datasets, "imdb", _reviews(2))
    _replace(datasets, "reuters", _reviews(46))
    _replace(datasets, "boston_housing", _houses)
    sys.meta_path.append(_StandIns())


def _replace(datasets: Any, name: str, load: Any) -> None:
    """Put a loader where each public module of Keras and of TensorFlow has its own."""
    import keras
    import tensorflow as tf

    for module in (getattr(datasets, name), getattr(keras.datasets, name), getattr(tf.keras.datasets, name)):
        module.load_data = load


def _pictures(shape: tuple[int, ...], n_classes: int) -> Any:
    def load_data(*arguments: Any, **named: Any) -> Any:
        random = np.random.default_rng(1)
        column = (1,) if len(shape) == 3 else ()
        return tuple(
            (
                random.integers(0, 256, (n, *shape)).astype(np.uint8),
                np.resize(np.arange(n_classes), (n, *column)).astype(np.int64 if column else np.uint8),
            )
            for n in (N_TRAIN, N_TEST)
        )

    return load_data


def _reviews(n_classes: int) -> Any:
    def load_data(*arguments: Any, num_words: int | None = None, **named: Any) -> Any:
        random = np.random.default_rng(2)
        top = min(num_words or 1000, 1000)
        parts = []
        for n in (N_TRAIN, N_TEST):
            texts = np.empty(n, dtype=object)
            texts[:] = [random.integers(4, top, random.integers(5, 60)).tolist() for _ in range(n)]
            parts.append((texts, np.arange(n) % n_classes))
        return tuple(parts)

    return load_data


def _houses(*arguments: Any, **named: Any) -> Any:
    random = np.random.default_rng(3)
    return tuple((random.normal(size=(n, 13)), random.uniform(5, 50, n)) for n in (404, 102))


class _Anything(types.ModuleType):
    """Whatever a drawing library has: each attribute, result and element is such a thing again."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Anything(name)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return _Anything("result")

    def __getitem__(self, key: Any) -> Any:
        return _Anything("element")

    def __setitem__(self, key: Any, value: Any) -> None:
        pass

    def __iter__(self) -> Iterator[Any]:
        return iter((_Anything("first"), _Anything("second")))

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *arguments: Any) -> None:
        pass


class _StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname.partition(".")[0] in _ABSENT:
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> Any:
        return _Anything(spec.name)

    def exec_module(self, module: Any) -> None:
        pass
