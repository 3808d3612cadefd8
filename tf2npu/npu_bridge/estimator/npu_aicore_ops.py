"""Operators of the compute cores: dropout variants, normalisation, learned leaks, coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import tensorflow as tf
from npu_bridge._ops.activations import fast_gelu
from npu_bridge._ops.dropout import masked
from npu_bridge._ops.selection import centralization, layer_norm, nonzero, nonzerowithvalue, prelu
from npu_bridge._refuse import refuse
from npu_bridge.helper import helper

npu_aicore_ops = helper.get_gen_ops()

__all__ = [
    "centralization",
    "dropout_v3",
    "dropout_v4",
    "fast_gelu_v2",
    "layer_norm",
    "lru_cache_v2",
    "nonzero",
    "nonzerowithvalue",
    "npu_aicore_ops",
    "prelu",
    "prod_env_mat_a",
    "prodforcesea",
    "prodvirialsea",
    "tabulatefusion",
    "tabulatefusiongrad",
    "tabulatefusionsea",
    "tabulatefusionseagrad",
]


def dropout_v3(
    x: tf.Tensor,
    keep_prob: float | tf.Tensor,
    noise_shape: tf.Tensor | Sequence[int] | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """``npu_ops.dropout``, allowed in eager execution too."""
    return masked(x, keep_prob, noise_shape, seed, name)


def dropout_v4(
    x: tf.Tensor,
    keep_prob: float | tf.Tensor,
    noise_shape: tf.Tensor | Sequence[int] | None = None,
    seed: int | None = None,
    output_dtype: tf.DType = tf.bool,
    name: str | None = None,
) -> tf.Tensor:
    """``npu_ops.dropout`` with a mask of one ``output_dtype`` an element; the result is the same."""
    return masked(x, keep_prob, noise_shape, seed, name)


def fast_gelu_v2(x: tf.Tensor, name: str | None = None) -> tf.Tensor:
    """x sigmoid(1.702 x)."""
    return fast_gelu(x, name)


def lru_cache_v2(index_list: Any, data: Any, cache: Any, tag: Any, is_last_call: Any, pre_route_count: int) -> NoReturn:
    """Refused: no device cache is simulated."""
    refuse("npu_aicore_ops.lru_cache_v2", "the simulated device has no embedding cache; look the rows up with tf.gather")


def _molecular(name: str) -> Any:
    def call(*args: Any, **kwargs: Any) -> NoReturn:
        refuse(f"npu_aicore_ops.{name}", "molecular dynamics kernels are not simulated; use the CPU operator of your package")

    call.__name__ = call.__qualname__ = name
    call.__doc__ = "Refused: molecular dynamics kernels are not simulated."
    return call


prod_env_mat_a = _molecular("prod_env_mat_a")
prodvirialsea = _molecular("prodvirialsea")
prodforcesea = _molecular("prodforcesea")
tabulatefusion = _molecular("tabulatefusion")
tabulatefusiongrad = _molecular("tabulatefusiongrad")
tabulatefusionsea = _molecular("tabulatefusionsea")
tabulatefusionseagrad = _molecular("tabulatefusionseagrad")
