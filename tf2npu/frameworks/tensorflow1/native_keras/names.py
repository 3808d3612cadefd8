"""The names of the keras package that tf.keras of TensorFlow 1.15 has, and where it has them.

names.csv and keras1.csv are facts about Keras 2.2 and 2.3 beside TensorFlow 1.15, which tools/record_native_keras.py recorded.
"""

from __future__ import annotations

import csv
from collections import Counter
from functools import lru_cache
from pathlib import Path

DATA: dict[str, frozenset[str]] = {
    "keras.datasets": frozenset({"boston_housing", "cifar10", "cifar100", "fashion_mnist", "imdb", "mnist", "reuters"}),
    **{f"keras.datasets.{name}": frozenset({"load_data"}) for name in ("cifar10", "cifar100", "fashion_mnist", "imdb", "mnist")},
    "keras.preprocessing": frozenset({"sequence", "text", "image"}),
    "keras.preprocessing.sequence": frozenset({"pad_sequences"}),
    "keras.preprocessing.text": frozenset({"Tokenizer", "text_to_word_sequence"}),
    "keras.utils": frozenset({"to_categorical"}),
}
"""Parts of Keras that work on arrays alone -> what of them tf.keras has under the same name.  Source: tf.keras of 1.15."""

_OLDER = {"utils.training_utils.multi_gpu_model": "utils.multi_gpu_model"}
"""Objects by the modules that releases before Keras 2.2 have them in."""
_OF_BACKEND = {"tf": "", **{f"control_flow_ops.{name}": name for name in ("while_loop", "cond", "case", "group", "tuple")}}
"""Names that the backend of native Keras imports for itself, and scripts reach through it -> their names in TensorFlow."""
_HERE = Path(__file__).parent


@lru_cache(maxsize=1)
def objects() -> dict[str, str]:
    """Objects of the keras package -> the same of tf.keras, both without the package: `layers.core.Dense` -> `layers.Dense`."""
    found = dict(_OLDER)
    for row in _rows("names.csv"):
        for token in row["names"].split():
            name, _, where = token.partition("=")
            own = _joined(row["module"], name)
            found[own] = where or own
    return found


@lru_cache(maxsize=1)
def modules() -> dict[str, str]:
    """Modules of the keras package -> the one of tf.keras that has most of their names; both without the package."""
    found: dict[str, str] = {}
    for module in {_parent(name) for name in objects()}:
        homes = Counter(_parent(where) for name, where in objects().items() if _parent(name) == module)
        found[module] = max(sorted(homes), key=lambda home: homes[home])
        for end in range(1, len(parts := module.split("."))):
            found.setdefault(".".join(parts[:end]), ".".join(parts[:end]))
    return found


@lru_cache(maxsize=1)
def keras1_keywords() -> dict[str, dict[str, str]]:
    """Classes -> keywords of Keras 1 that Keras 2 takes -> what Keras 2 calls them."""
    return {row["name"]: dict(pair.split("=") for pair in row["renamed"].split()) for row in _rows("keras1.csv")}


def tensorflow_name(target: str) -> str | None:
    """The name in TensorFlow of what a script reaches through the backend of native Keras; None for another."""
    for backend in ("backend.tensorflow_backend.", "backend."):
        inner = target.removeprefix(backend)
        if inner != target:
            return _OF_BACKEND.get(inner)
    return None


def names_of(module: str) -> dict[str, str]:
    """The names that a star import of a module of the keras package gives -> where tf.keras has them."""
    return {name.rpartition(".")[2]: where for name, where in objects().items() if _parent(name) == module}


def _rows(file: str) -> list[dict[str, str]]:
    with (_HERE / file).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def _parent(name: str) -> str:
    return name.rpartition(".")[0]


def _joined(module: str, name: str) -> str:
    return f"{module}.{name}" if module else name
