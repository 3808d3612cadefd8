"""The record of TensorFlow 2 and of its adapter. Its names are resolved, and its files known, as those of TensorFlow 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tf2npu.frameworks.base import Adapter, Framework
from tf2npu.frameworks.tensorflow1.framework import FRAMEWORK as TENSORFLOW_1
from tf2npu.frameworks.tensorflow2.apis import apis

if TYPE_CHECKING:  # facts of files and projects need no syntax tree, which takes long to import
    from tf2npu.scanner.script import Script

NAME = "tensorflow2"
ALIAS = "npu"
"""The name under which the vendor's guide imports npu_device."""


def _is_for_2(script: Script) -> bool:
    from tf2npu.frameworks.tensorflow1.dialect import is_for_2

    return is_for_2(script)


ADAPTER = Adapter(
    module="npu_device",
    names=frozenset({ALIAS}),
    alias=ALIAS,
    comes_behind=True,
    rule="NPU800",
    message=(
        "An import was added above: npu_device is the vendor's package for TensorFlow 2 on NPUs. The other imports stay. "
        "Nothing is left to do."
    ),
)

FRAMEWORK = Framework(
    name=NAME,
    family="tensorflow",
    title="TensorFlow 2",
    roots=frozenset({"npu_device"}),
    bound_by=TENSORFLOW_1.bound_by,
    is_for=_is_for_2,
    mention=TENSORFLOW_1.mention,
    # Beside its own rules those about what surrounds a model: questions for GPUs, TPUs, libraries and settings for GPUs.
    rule_ids=("NPU8", "NPU919", "NPU943", "NPU945", "NPU947", "NPU955"),
    adapter=ADAPTER,
    api_roots=TENSORFLOW_1.api_roots,
    canonical=TENSORFLOW_1.canonical,  # for npu_device.compat.v1, which is the adapter of TensorFlow 1
    apis=apis,
    no_api="no public name of TensorFlow 1.15, whose table this is",
)
