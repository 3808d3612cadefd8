"""Distributions of ``tf.contrib.distributions`` that tensorflow_probability carries on, with TF 1.15's parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf
import tensorflow_probability as tfp
from npu_bridge._contrib import _probability_vectors as vectors
from npu_bridge._contrib._probability import Arguments, Probabilities, of_probability, older, tfd, without
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
MultivariateNormalDiag = vectors.MultivariateNormalDiag
MultivariateNormalDiagPlusLowRank = vectors.MultivariateNormalDiagPlusLowRank
MultivariateNormalDiagWithSoftplusScale = vectors.MultivariateNormalDiagWithSoftplusScale
MultivariateNormalFullCovariance = vectors.MultivariateNormalFullCovariance
MultivariateNormalTriL = vectors.MultivariateNormalTriL
VectorDeterministic = vectors.VectorDeterministic
VectorExponentialDiag = vectors.VectorExponentialDiag
VectorLaplaceDiag = vectors.VectorLaplaceDiag
WishartCholesky = vectors.WishartCholesky
WishartFull = vectors.WishartFull
PoissonLogNormalQuadratureCompound = tfd.PoissonLogNormalQuadratureCompound
auto_correlation = tfp.stats.auto_correlation
quadrature_scheme_lognormal_gauss_hermite = tfd.quadrature_scheme_lognormal_gauss_hermite
quadrature_scheme_lognormal_quantiles = tfd.quadrature_scheme_lognormal_quantiles


def normal_conjugates_known_scale_posterior(prior: Any, scale: Any, s: Any, n: Any) -> Any:
    """The normal distribution of a mean after n numbers with the sum s; scale: the known deviation of one."""
    return tfd.normal_conjugates_known_scale_posterior(of_probability(prior), scale, s, n)


def normal_conjugates_known_scale_predictive(prior: Any, scale: Any, s: Any, n: Any) -> Any:
    """The same of the next number."""
    return tfd.normal_conjugates_known_scale_predictive(of_probability(prior), scale, s, n)


class SeedStream(tfp.util.SeedStream):
    """Seeds that follow from one and a name."""

    def __init__(self, seed: Any, salt: str) -> None:
        super().__init__(seed, salt)


def _of_parts(arguments: Arguments) -> Arguments:
    """Arguments with distributions of tensorflow_probability in the place of those of ``tf.distributions``."""
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
