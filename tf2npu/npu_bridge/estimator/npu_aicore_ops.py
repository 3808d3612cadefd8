"""Operators of the compute cores: dropout variants, normalisation, learned leaks, coordinates."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf
from npu_bridge._ops.activations import fast_gelu
from npu_bridge._ops.dropout import masked
from npu_bridge._ops.selection import centralization, layer_norm, nonzero, nonzerowithvalue, prelu
from npu_bridge._unsupported import refused
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


lru_cache_v2 = refused(
    "npu_aicore_ops.lru_cache_v2",
    "index_list data cache tag is_last_call pre_route_count name=None",
    "no embedding cache is simulated; look the rows up with tf.gather",
)

_MOLECULAR = "molecular dynamics kernels are not simulated; use the CPU operator of your package"
_TABULATED = "table table_info em_x em last_layer_size=128 name=None"
_TABULATED_GRADIENT = "table table_info em_x em dy_dem_x dy_dem name=None"
prod_env_mat_a = refused(
    "npu_aicore_ops.prod_env_mat_a",
    "coord types natoms box mesh davg dstd rcut_a=0.0 rcut_r=0.0 rcut_r_smth=0.0 sel_a=None sel_r=None name=None",
    _MOLECULAR,
)
prodvirialsea = refused(
    "npu_aicore_ops.prodvirialsea", "net_deriv in_deriv rij nlist natoms n_a_sel=0 n_r_sel=0 name=None", _MOLECULAR
)
prodforcesea = refused("npu_aicore_ops.prodforcesea", "net_deriv in_deriv nlist natoms n_a_sel=0 n_r_sel=0 name=None", _MOLECULAR)
tabulatefusion = refused("npu_aicore_ops.tabulatefusion", _TABULATED, _MOLECULAR)
tabulatefusiongrad = refused("npu_aicore_ops.tabulatefusiongrad", _TABULATED_GRADIENT, _MOLECULAR)
tabulatefusionsea = refused("npu_aicore_ops.tabulatefusionsea", _TABULATED, _MOLECULAR)
tabulatefusionseagrad = refused("npu_aicore_ops.tabulatefusionseagrad", _TABULATED_GRADIENT, _MOLECULAR)
