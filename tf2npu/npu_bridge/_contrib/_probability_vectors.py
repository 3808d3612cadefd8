"""Distributions of vectors and matrices of ``tf.contrib.distributions``, with TF 1.15's parameters."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
import tensorflow_probability as tfp
from npu_bridge._contrib._probability import Arguments, diagonal, older, tfd, without
from tensorflow_probability.python.distributions import transformed_distribution

MultivariateNormalFullCovariance = tfd.MultivariateNormalFullCovariance
VectorDeterministic = tfd.VectorDeterministic


def _with_diagonal(arguments: Arguments) -> Arguments:
    found = diagonal(arguments["scale_diag"], arguments["scale_identity_multiplier"], arguments["loc"])
    return {**without(arguments, "scale_identity_multiplier"), "scale_diag": found}


def _scale(loc: Any, scale_diag: Any, scale_identity_multiplier: Any) -> Any:
    found = diagonal(scale_diag, scale_identity_multiplier, loc)
    return tf.ones_like(loc) if found is None else tf.convert_to_tensor(found)


class _AffineVector(transformed_distribution._TransformedDistribution):
    """Independent numbers of a scalar distribution, each scaled and moved."""

    def __init__(self, standard: Any, loc: Any, scale: Any, name: str) -> None:
        scaled = tfp.bijectors.Scale(scale)
        bijector = scaled if loc is None else tfp.bijectors.Shift(tf.convert_to_tensor(loc))(scaled)
        super().__init__(tfd.Independent(standard, 1), bijector, name=name)
        self.loc, self.scale = loc, tf.linalg.LinearOperatorDiag(scale)


def _wishart(
    df: Any, scale: Any, cholesky_input_output_matrices: bool, validate_args: bool, allow_nan_stats: bool, name: str
) -> Arguments:
    return {
        "df": df, "scale_tril": scale, "input_output_cholesky": cholesky_input_output_matrices, "validate_args": validate_args,
        "allow_nan_stats": allow_nan_stats, "name": name,
    }  # fmt: skip


@older(tfd.MultivariateNormalDiag)
def MultivariateNormalDiag(
    loc: Any = None,
    scale_diag: Any = None,
    scale_identity_multiplier: Any = None,
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    name: str = "MultivariateNormalDiag",
) -> Arguments:
    return _with_diagonal(locals())


@older(tfd.MultivariateNormalDiag)
def MultivariateNormalDiagWithSoftplusScale(
    loc: Any,
    scale_diag: Any,
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    name: str = "MultivariateNormalDiagWithSoftplusScale",
) -> Arguments:
    return {**locals(), "scale_diag": tf.nn.softplus(scale_diag)}


@older(tfd.MultivariateNormalDiagPlusLowRank)
def MultivariateNormalDiagPlusLowRank(
    loc: Any = None,
    scale_diag: Any = None,
    scale_identity_multiplier: Any = None,
    scale_perturb_factor: Any = None,
    scale_perturb_diag: Any = None,
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    name: str = "MultivariateNormalDiagPlusLowRank",
) -> Arguments:
    return _with_diagonal(locals())


@older(tfd.MultivariateNormalTriL)
def MultivariateNormalTriL(
    loc: Any = None,
    scale_tril: Any = None,
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    name: str = "MultivariateNormalTriL",
) -> Arguments:
    return locals()


@older(_AffineVector)
def VectorExponentialDiag(
    loc: Any = None,
    scale_diag: Any = None,
    scale_identity_multiplier: Any = None,
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    name: str = "VectorExponentialDiag",
) -> Arguments:
    scale = _scale(loc, scale_diag, scale_identity_multiplier)
    return {"standard": tfd.Exponential(tf.ones_like(scale)), "loc": loc, "scale": scale, "name": name}


@older(_AffineVector)
def VectorLaplaceDiag(
    loc: Any = None,
    scale_diag: Any = None,
    scale_identity_multiplier: Any = None,
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    name: str = "VectorLaplaceDiag",
) -> Arguments:
    scale = _scale(loc, scale_diag, scale_identity_multiplier)
    return {"standard": tfd.Laplace(tf.zeros_like(scale), 1.0), "loc": loc, "scale": scale, "name": name}


@older(tfd.WishartTriL)
def WishartCholesky(
    df: Any,
    scale: Any,
    cholesky_input_output_matrices: bool = False,
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    name: str = "WishartCholesky",
) -> Arguments:
    return _wishart(**locals())


@older(tfd.WishartTriL)
def WishartFull(
    df: Any,
    scale: Any,
    cholesky_input_output_matrices: bool = False,
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    name: str = "WishartFull",
) -> Arguments:
    return _wishart(**{**locals(), "scale": scale if cholesky_input_output_matrices else tf.linalg.cholesky(scale)})
