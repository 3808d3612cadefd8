"""``tf.contrib.distributions``: those that TensorFlow 2.15 has itself, and percentiles.

The others are in ``_probability_distributions``, which needs tensorflow_probability and is loaded when one of them is asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.distributions import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    DirichletMultinomial,
    Distribution,
    Exponential,
    Gamma,
    Laplace,
    Multinomial,
    Normal,
    RegisterKL,
    ReparameterizationType,
    StudentT,
    Uniform,
    kl_divergence,
)
from tensorflow.python.ops.distributions.beta import BetaWithSoftplusConcentration
from tensorflow.python.ops.distributions.exponential import ExponentialWithSoftplusRate
from tensorflow.python.ops.distributions.gamma import GammaWithSoftplusConcentrationRate
from tensorflow.python.ops.distributions.laplace import LaplaceWithSoftplusScale
from tensorflow.python.ops.distributions.normal import NormalWithSoftplusScale
from tensorflow.python.ops.distributions.student_t import StudentTWithAbsDfSoftplusScale
from tensorflow.python.ops.distributions.util import (
    fill_triangular,
    fill_triangular_inverse,
    matrix_diag_transform,
    reduce_weighted_logsumexp,
    softplus_inverse,
    tridiag,
)

__all__ = [
    "FULLY_REPARAMETERIZED",
    "NOT_REPARAMETERIZED",
    "Bernoulli",
    "Beta",
    "BetaWithSoftplusConcentration",
    "Categorical",
    "Dirichlet",
    "DirichletMultinomial",
    "Distribution",
    "Exponential",
    "ExponentialWithSoftplusRate",
    "Gamma",
    "GammaWithSoftplusConcentrationRate",
    "Laplace",
    "LaplaceWithSoftplusScale",
    "Multinomial",
    "Normal",
    "NormalWithSoftplusScale",
    "RegisterKL",
    "ReparameterizationType",
    "StudentT",
    "StudentTWithAbsDfSoftplusScale",
    "Uniform",
    "fill_triangular",
    "fill_triangular_inverse",
    "kl_divergence",
    "matrix_diag_transform",
    "percentile",
    "reduce_weighted_logsumexp",
    "softplus_inverse",
    "tridiag",
]  # fmt: skip
_ROUNDINGS = {"lower": tf.floor, "higher": tf.math.ceil, "nearest": tf.round}


def percentile(
    x: Any,
    q: Any,
    axis: Any = None,
    interpolation: str | None = None,
    keep_dims: bool = False,
    validate_args: bool = False,
    name: str | None = None,
) -> tf.Tensor:
    """The element below which q percent of those along the axes lie; no values between elements are formed.

    q: a scalar, 0 to 100.  axis: None for all.  interpolation: "lower", "higher" or "nearest" (the default).
    Raises: ValueError for another interpolation.  Source: contrib/distributions/python/ops/sample_stats.py of TF 1.15.
    """
    rounding = "nearest" if interpolation is None else interpolation
    if rounding not in _ROUNDINGS:
        raise ValueError(f"Argument 'interpolation' must be in {set(_ROUNDINGS)}.  Found {interpolation}")
    with tf.name_scope(name or "percentile", values=[x, q]):
        x = tf.convert_to_tensor(x, name="x")
        rank = x.shape.rank
        axes = sorted(int(one) % rank for one in np.atleast_1d(range(rank) if axis is None else axis))
        rest = [one for one in range(rank) if one not in axes]
        moved = tf.transpose(x, rest + axes)
        lines = tf.reshape(moved, tf.concat([tf.shape(moved)[: len(rest)], [-1]], 0))
        count = tf.shape(lines)[-1]
        # Counted from the greatest element, as TF 1.15 sorts; it decides which of two equally near ones is taken.
        share = 1.0 - tf.cast(q, tf.float64) / 100.0
        place = tf.cast(count - 1, tf.float64) * share
        downward = {"lower": "higher", "higher": "lower"}.get(rounding, rounding)
        index = tf.clip_by_value(tf.cast(_ROUNDINGS[downward](place), tf.int32), 0, count - 1)
        found = tf.gather(tf.nn.top_k(lines, k=count, sorted=True).values, index, axis=-1)
        if keep_dims:
            sizes = [1 if one in axes else tf.shape(x)[one] for one in range(rank)]
            found = tf.reshape(found, sizes)
        return found
