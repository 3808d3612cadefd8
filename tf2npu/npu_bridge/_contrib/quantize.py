"""``tf.contrib.quantize``: the names, so that scripts with a switch for it run with it off."""

from __future__ import annotations

from typing import Any, NoReturn

from npu_bridge._unsupported import refuse

__all__ = [
    "create_eval_graph", "create_training_graph", "experimental_create_eval_graph", "experimental_create_training_graph",
]  # fmt: skip
_WHY = "TensorFlow 2 dropped the rewriting of a graph for quantized training; train without it, or with the AMCT tools on a host"


def create_training_graph(input_graph: Any = None, quant_delay: int = 0) -> NoReturn:
    """Refused."""
    refuse("tf.contrib.quantize.create_training_graph", _WHY)


def create_eval_graph(input_graph: Any = None) -> NoReturn:
    """Refused."""
    refuse("tf.contrib.quantize.create_eval_graph", _WHY)


def experimental_create_training_graph(
    input_graph: Any = None,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int = 0,
    freeze_bn_delay: Any = None,
    scope: str | None = None,
) -> NoReturn:
    """Refused."""
    refuse("tf.contrib.quantize.experimental_create_training_graph", _WHY)


def experimental_create_eval_graph(
    input_graph: Any = None,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int | None = None,
    scope: str | None = None,
) -> NoReturn:
    """Refused."""
    refuse("tf.contrib.quantize.experimental_create_eval_graph", _WHY)
