"""Claims on TensorFlow 2's names are true: those that are reported exist, and none tells a script for 1."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import tensorflow as tf

from tests.one_item import together
from tf2npu.frameworks.tensorflow1.dialect_names import ONLY_1
from tf2npu.frameworks.tensorflow1.tensorflow2_names import TENSORFLOW_2_NAMES
from tf2npu.rules import rule_parts
from tf2npu.rules.outdated.newer_tensorflow import _INSTEAD
from tf2npu.scanner.names import canonical


@together("name", TENSORFLOW_2_NAMES)
def test_the_name_exists(name: str) -> None:
    found = tf
    for part in name.removeprefix("tensorflow.").split("."):
        found = getattr(found, part.removesuffix("()"))
    assert found is not None


GONE = {"tensorflow.keras.mixed_precision.experimental"}
"""In TensorFlow up to 2.10, whose scripts are converted as well."""


OF_COMPAT = "NPU819"
"""The rule about names that TensorFlow 2 has as tf.compat.v1, which rules know without that prefix."""


def _names_of_rules() -> list[str]:
    parts = [part for part in rule_parts() if part.id.startswith("NPU8") and part.on in ("call", "reference")]
    names = {name for part in parts if part.id != OF_COMPAT for name in part.matches if name.startswith("tensorflow.")}
    return sorted(name for name in names if name.rpartition(".")[0] not in GONE)


@together("name", _names_of_rules())
def test_a_name_that_rules_for_tensorflow_2_look_for_exists(name: str) -> None:
    found = tf
    for part in name.removeprefix("tensorflow.").removeprefix("compat.v2.").split("."):
        found = getattr(found, part.removesuffix("()"))
    assert found is not None


def test_a_name_that_is_looked_for_under_compat_exists_there() -> None:
    names = [name for part in rule_parts() if part.id == OF_COMPAT for name in part.matches]
    assert names
    for name in names:
        found = tf.compat.v1
        for part in name.removeprefix("tensorflow.").split("."):
            found = getattr(found, part)


def test_every_advice_is_for_a_name_that_is_reported() -> None:
    assert {f"tensorflow.{name}" for name in _INSTEAD} <= set(TENSORFLOW_2_NAMES)


def _public(module: ModuleType, name: str) -> Iterator[str]:
    """Every public name below a module; what stands below tf.compat is another version's."""
    for key in dir(module):
        if key.startswith("_") or f"{name}.{key}" == "tensorflow.compat":
            continue
        yield f"{name}.{key}"
        below = getattr(module, key, None)
        if isinstance(below, ModuleType) and below.__name__.startswith(("tensorflow._api", "keras.api")):
            yield from _public(below, f"{name}.{key}")


def test_no_name_of_tensorflow_2_tells_a_script_for_1() -> None:
    """But tf.estimator, which stands in both and is TensorFlow 1's way to train."""
    names = set(_public(tf, "tensorflow"))
    assert {"tensorflow.random.normal", "tensorflow.keras.layers.Dense"} <= names
    told = {name for name in names if ONLY_1.match(canonical(name))}
    assert {name for name in told if not name.startswith("tensorflow.estimator")} == set()
