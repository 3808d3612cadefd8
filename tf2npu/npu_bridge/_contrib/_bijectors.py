"""``tf.contrib.distributions.bijectors``: those of tensorflow_probability with TF 1.15's parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
import tensorflow_probability as tfp
from npu_bridge._contrib._probability import Arguments, older
from tensorflow_probability.python.bijectors import chain, invert

tfb = tfp.bijectors
AbsoluteValue = tfb.AbsoluteValue
BatchNormalization = tfb.BatchNormalization
Bijector = tfb.Bijector
Exp = tfb.Exp
FillTriangular = tfb.FillTriangular
Identity = tfb.Identity
Inline = tfb.Inline
MatrixInverseTriL = tfb.MatrixInverseTriL
Reshape = tfb.Reshape
SoftmaxCentered = tfb.SoftmaxCentered
Softsign = tfb.Softsign
Square = tfb.Square
TransformDiagonal = tfb.TransformDiagonal
masked_autoregressive_default_template = tfb.masked_autoregressive_default_template
masked_dense = tfb.masked_dense
real_nvp_default_template = tfb.real_nvp_default_template


@older(chain._Chain)
def Chain(bijectors: Sequence[Any] | None = None, validate_args: bool = False, name: str | None = None) -> Arguments:
    return {"bijectors": list(bijectors or ()), "validate_args": validate_args, "name": name}


@older(invert._Invert)
def Invert(bijector: Any, validate_args: bool = False, name: str | None = None) -> Arguments:
    return locals()


@older(tfb.CholeskyOuterProduct)
def CholeskyOuterProduct(validate_args: bool = False, name: str = "cholesky_outer_product") -> Arguments:
    return locals()


@older(tfb.Permute)
def Permute(permutation: Any, validate_args: bool = False, name: str | None = None) -> Arguments:
    return locals()


@older(tfb.PowerTransform)
def PowerTransform(power: float = 0.0, validate_args: bool = False, name: str = "power_transform") -> Arguments:
    return locals()


@older(tfb.Sigmoid)
def Sigmoid(validate_args: bool = False, name: str = "sigmoid") -> Arguments:
    return locals()


@older(tfb.Softplus)
def Softplus(hinge_softness: Any = None, validate_args: bool = False, name: str = "softplus") -> Arguments:
    return locals()


@older(tfb.RealNVP)
def RealNVP(
    num_masked: int,
    shift_and_log_scale_fn: Any,
    is_constant_jacobian: bool = False,
    validate_args: bool = False,
    name: str | None = None,
) -> Arguments:
    return locals()


@older(tfb.MaskedAutoregressiveFlow)
def MaskedAutoregressiveFlow(
    shift_and_log_scale_fn: Any,
    is_constant_jacobian: bool = False,
    validate_args: bool = False,
    unroll_loop: bool = False,
    name: str | None = None,
) -> Arguments:
    return locals()


@older(tfb.GumbelCDF)
def Gumbel(loc: Any = 0.0, scale: Any = 1.0, validate_args: bool = False, name: str = "gumbel") -> Arguments:
    return locals()


@older(tfb.FillScaleTriL)
def ScaleTriL(
    diag_bijector: Any = None, diag_shift: Any = 1e-5, validate_args: bool = False, name: str = "scale_tril"
) -> Arguments:
    return locals()


@older(invert._Invert)
def Kumaraswamy(
    concentration1: Any = None, concentration0: Any = None, validate_args: bool = False, name: str = "kumaraswamy"
) -> Arguments:
    """Forward from uniform numbers, as in TF 1.15: the inverse of the distribution function."""
    ones = tuple(1.0 if one is None else one for one in (concentration1, concentration0))
    return {"bijector": tfb.KumaraswamyCDF(*ones), "validate_args": validate_args, "name": name}


@older(chain._Chain)
def SinhArcsinh(
    skewness: Any = None, tailweight: Any = None, validate_args: bool = False, name: str = "SinhArcsinh"
) -> Arguments:
    """The bijector without the factor by which tensorflow_probability keeps 2 where it is."""
    tail = _tensor(1.0 if tailweight is None else tailweight)
    factor = tf.sinh(tf.asinh(tf.constant(2.0, tail.dtype)) * tail) / 2
    bijectors = [tfb.Scale(factor), tfb.SinhArcsinh(skewness, tail)]
    return {"bijectors": bijectors, "validate_args": validate_args, "name": name}


@older(invert._Invert)
def Ordered(validate_args: bool = False, name: str = "ordered") -> Arguments:
    """Forward from ascending numbers to free ones."""
    return {"bijector": tfb.Ascending(), "validate_args": validate_args, "name": name}


@older(chain._Chain)
def AffineScalar(shift: Any = None, scale: Any = None, validate_args: bool = False, name: str = "affine_scalar") -> Arguments:
    scaled = [] if scale is None else [tfb.Scale(_tensor(scale))]
    return {"bijectors": [*_shifts(shift), *scaled], "validate_args": validate_args, "name": name}


@older(chain._Chain)
def AffineLinearOperator(
    shift: Any = None, scale: Any = None, validate_args: bool = False, name: str = "affine_linear_operator"
) -> Arguments:
    scaled = [] if scale is None else [tfb.ScaleMatvecLinearOperator(scale)]
    return {"bijectors": [*_shifts(shift), *scaled], "validate_args": validate_args, "name": name}


@older(chain._Chain)
def Affine(
    shift: Any = None,
    scale_identity_multiplier: Any = None,
    scale_diag: Any = None,
    scale_tril: Any = None,
    scale_perturb_factor: Any = None,
    scale_perturb_diag: Any = None,
    validate_args: bool = False,
    name: str = "affine",
) -> Arguments:
    """The matrix is the sum of all that is given."""
    parts = (scale_identity_multiplier, scale_diag, scale_tril, scale_perturb_factor, scale_perturb_diag)
    return {"bijectors": [*_shifts(shift), *_scales(*parts)], "validate_args": validate_args, "name": name}


def _tensor(value: Any) -> Any:
    return tf.convert_to_tensor(value)


def _shifts(shift: Any) -> list[Any]:
    return [] if shift is None else [tfb.Shift(_tensor(shift))]


def _scales(multiplier: Any, diag: Any, tril: Any, factor: Any, factor_diag: Any) -> list[Any]:
    """The bijectors that multiply a vector by the matrix, in the cheapest form; none where nothing is given."""
    if diag is not None and multiplier is not None:
        diag = _tensor(diag) + _tensor(multiplier)[..., tf.newaxis]
    if tril is None and factor is None:
        if diag is not None:
            return [tfb.ScaleMatvecDiag(_tensor(diag))]
        return [] if multiplier is None else [tfb.Scale(_tensor(multiplier)[..., tf.newaxis])]
    return [tfb.ScaleMatvecLinearOperator(_operator(multiplier, diag, tril, factor, factor_diag))]


def _operator(multiplier: Any, diag: Any, tril: Any, factor: Any, factor_diag: Any) -> Any:
    given = _tensor(factor if tril is None else tril)
    size = tf.shape(given)[-2]
    if diag is None:
        diag = tf.ones([size], given.dtype) * (0.0 if multiplier is None and tril is not None else multiplier or 1.0)
    if tril is None:
        base: Any = tf.linalg.LinearOperatorDiag(_tensor(diag), is_non_singular=True)
    else:
        base = tf.linalg.LinearOperatorLowerTriangular(tf.linalg.band_part(given, -1, 0) + tf.linalg.diag(diag))
    if factor is None:
        return base
    spread = None if factor_diag is None else _tensor(factor_diag)
    return tf.linalg.LinearOperatorLowRankUpdate(base, u=_tensor(factor), diag_update=spread, is_diag_update_positive=True)
