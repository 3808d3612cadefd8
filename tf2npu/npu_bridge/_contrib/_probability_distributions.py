"""Distributions of ``tf.contrib.distributions`` that tensorflow_probability carries on, with TF 1.15's parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf
import tensorflow_probability as tfp
from npu_bridge._contrib._probability import Arguments, Probabilities, diagonal, of_probability, older, tfd
from tensorflow_probability.python.distributions import (
    batch_reshape,
    independent,
    mixture,
    mixture_same_family,
    quantized_distribution,
    transformed_distribution,
)

Autoregressive = tfd.Autoregressive
Cauchy = tfd.Cauchy
Chi2 = tfd.Chi2
Deterministic = tfd.Deterministic
HalfNormal = tfd.HalfNormal
Kumaraswamy = tfd.Kumaraswamy
Logistic = tfd.Logistic
MultivariateNormalFullCovariance = tfd.MultivariateNormalFullCovariance
PoissonLogNormalQuadratureCompound = tfd.PoissonLogNormalQuadratureCompound
VectorDeterministic = tfd.VectorDeterministic
auto_correlation = tfp.stats.auto_correlation
quadrature_scheme_lognormal_gauss_hermite = tfd.quadrature_scheme_lognormal_gauss_hermite
quadrature_scheme_lognormal_quantiles = tfd.quadrature_scheme_lognormal_quantiles


def normal_conjugates_known_scale_posterior(prior: Any, scale: Any, s: Any, n: Any) -> Any:
    """The normal distribution of a mean after n numbers with the sum s; scale: the known deviation of one."""
    return tfd.normal_conjugates_known_scale_posterior(of_probability(prior), scale, s, n)


def normal_conjugates_known_scale_predictive(prior: Any, scale: Any, s: Any, n: Any) -> Any:
    """As above, of the next number."""
    return tfd.normal_conjugates_known_scale_predictive(of_probability(prior), scale, s, n)


class SeedStream(tfp.util.SeedStream):
    """Seeds that follow from one and a name."""

    def __init__(self, seed: Any, salt: str) -> None:
        super().__init__(seed, salt)


def without(arguments: Arguments, name: str) -> Arguments:
    """Arguments but for one that tensorflow_probability does not have."""
    return {one: value for one, value in arguments.items() if one != name}


def _with_diagonal(arguments: Arguments) -> Arguments:
    found = diagonal(arguments["scale_diag"], arguments["scale_identity_multiplier"], arguments["loc"])
    return {**without(arguments, "scale_identity_multiplier"), "scale_diag": found}


def _of_parts(arguments: Arguments) -> Arguments:
    """With distributions of tensorflow_probability in the place of those of ``tf.distributions``."""
    return {name: _part(value) for name, value in arguments.items()}


def _part(value: Any) -> Any:
    return [of_probability(one) for one in value] if isinstance(value, (list, tuple)) else of_probability(value)


def _transformed(
    distribution: Any, bijector: Any, batch_shape: Any, event_shape: Any, validate_args: bool, name: str | None
) -> Arguments:
    """batch_shape and event_shape draw a scalar distribution that often, independently."""
    inner = of_probability(distribution)
    if batch_shape is not None:
        inner = tfd.BatchBroadcast(inner, batch_shape)
    if event_shape is not None:
        inner = tfd.Sample(inner, event_shape)
    bijector = tfp.bijectors.Identity() if bijector is None else bijector
    return {"distribution": inner, "bijector": bijector, "validate_args": validate_args, "name": name}


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


@older(tfd.Binomial, Probabilities)
def Binomial(
    total_count: Any,
    logits: Any = None,
    probs: Any = None,
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    name: str = "Binomial",
) -> Arguments:
    return locals()


@older(tfd.Geometric, Probabilities)
def Geometric(
    logits: Any = None,
    probs: Any = None,
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    name: str = "Geometric",
) -> Arguments:
    return locals()


@older(tfd.NegativeBinomial, Probabilities)
def NegativeBinomial(
    total_count: Any,
    logits: Any = None,
    probs: Any = None,
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    name: str = "NegativeBinomial",
) -> Arguments:
    return {**locals(), "require_integer_total_count": False}


@older(tfd.OneHotCategorical, Probabilities)
def OneHotCategorical(
    logits: Any = None,
    probs: Any = None,
    dtype: Any = tf.int32,
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    name: str = "OneHotCategorical",
) -> Arguments:
    return locals()


@older(tfd.RelaxedBernoulli, Probabilities)
def RelaxedBernoulli(
    temperature: Any,
    logits: Any = None,
    probs: Any = None,
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    name: str = "RelaxedBernoulli",
) -> Arguments:
    return locals()


@older(tfd.RelaxedOneHotCategorical, Probabilities)
def RelaxedOneHotCategorical(
    temperature: Any,
    logits: Any = None,
    probs: Any = None,
    dtype: Any = None,
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    name: str = "RelaxedOneHotCategorical",
) -> Arguments:
    return without(locals(), "dtype")


@older(tfd.ExpRelaxedOneHotCategorical, Probabilities)
def ExpRelaxedOneHotCategorical(
    temperature: Any,
    logits: Any = None,
    probs: Any = None,
    dtype: Any = None,
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    name: str = "ExpRelaxedOneHotCategorical",
) -> Arguments:
    return without(locals(), "dtype")


class _Rates:
    """As Probabilities, of ``rate`` and ``log_rate``."""

    rate_parameter: Callable[[], Any]
    log_rate_parameter: Callable[[], Any]

    @property
    def rate(self) -> Any:
        return self.rate_parameter()

    @property
    def log_rate(self) -> Any:
        return self.log_rate_parameter()


@older(tfd.Poisson, _Rates)
def Poisson(
    rate: Any = None,
    log_rate: Any = None,
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    name: str = "Poisson",
) -> Arguments:
    return locals()


class _OfRate:
    """The name that TF 1.15 had for the second parameter."""

    scale: Any

    @property
    def rate(self) -> Any:
        return self.scale


@older(tfd.InverseGamma, _OfRate)
def InverseGamma(
    concentration: Any,
    rate: Any,
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    name: str = "InverseGamma",
) -> Arguments:
    return {**without(locals(), "rate"), "scale": rate}


@older(tfd.InverseGamma, _OfRate)
def InverseGammaWithSoftplusConcentrationRate(
    concentration: Any,
    rate: Any,
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    name: str = "InverseGammaWithSoftplusConcentrationRate",
) -> Arguments:
    return {**without(locals(), "rate"), "concentration": tf.nn.softplus(concentration), "scale": tf.nn.softplus(rate)}


@older(tfd.Chi2)
def Chi2WithAbsDf(
    df: Any,
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    name: str = "Chi2WithAbsDf",
) -> Arguments:
    return {**locals(), "df": tf.floor(tf.abs(df))}


@older(tfd.SinhArcsinh)
def SinhArcsinh(
    loc: Any,
    scale: Any,
    skewness: Any = None,
    tailweight: Any = None,
    distribution: Any = None,
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    name: str = "SinhArcsinh",
) -> Arguments:
    return {**locals(), "distribution": of_probability(distribution)}


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


@older(batch_reshape._BatchReshape)
def BatchReshape(
    distribution: Any,
    batch_shape: Any,
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    name: str | None = None,
) -> Arguments:
    return _of_parts(locals())


@older(independent._Independent)
def Independent(
    distribution: Any,
    reinterpreted_batch_ndims: int | None = None,
    validate_args: bool = False,
    name: str | None = None,
) -> Arguments:
    return _of_parts(locals())


@older(mixture._Mixture)
def Mixture(
    cat: Any,
    components: Any,
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    use_static_graph: bool = False,
    name: str = "Mixture",
) -> Arguments:
    return _of_parts(without(locals(), "use_static_graph"))


@older(mixture_same_family._MixtureSameFamily)
def MixtureSameFamily(
    mixture_distribution: Any,
    components_distribution: Any,
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    name: str = "MixtureSameFamily",
) -> Arguments:
    return _of_parts(locals())


@older(quantized_distribution._QuantizedDistribution)
def QuantizedDistribution(
    distribution: Any,
    low: Any = None,
    high: Any = None,
    validate_args: bool = False,
    name: str = "QuantizedDistribution",
) -> Arguments:
    return _of_parts(locals())


@older(transformed_distribution._TransformedDistribution)
def TransformedDistribution(
    distribution: Any,
    bijector: Any = None,
    batch_shape: Any = None,
    event_shape: Any = None,
    validate_args: bool = False,
    name: str | None = None,
) -> Arguments:
    return _transformed(**locals())


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
