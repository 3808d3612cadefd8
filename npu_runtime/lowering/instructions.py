"""Vector instructions of an op for a block of elements."""

from __future__ import annotations

_INSTRUCTIONS = {
    "RealDiv": 4, "Div": 4, "Exp": 4, "Log": 6, "Tanh": 12, "TanhGrad": 3, "Sigmoid": 8, "SigmoidGrad": 3, "Pow": 12, "Sqrt": 4,
    "Rsqrt": 6, "RsqrtGrad": 4, "Erf": 20, "_NpuGelu": 16, "_NpuGeluGrad": 24, "Softmax": 10, "LogSoftmax": 14, "ApplyAdam": 16,
    "ResourceApplyAdam": 16, "ApplyMomentum": 4, "ResourceApplyMomentum": 4, "ApplyRMSProp": 12, "ResourceApplyRMSProp": 12,
    "MaxPool": 9, "MaxPoolGrad": 18, "AvgPool": 9, "AvgPoolGrad": 9,
    "SoftmaxGrad": 4, "LogSoftmaxGrad": 7, "LayerNorm": 9, "LayerNormGrad": 16, "Silu": 9, "SiluGrad": 12, "HardSwish": 5,
    "HardSwishGrad": 5, "HardSigmoid": 3, "Mish": 20, "MishGrad": 24, "LstmGates": 32, "LstmGatesGrad": 32, "GruGates": 32,
    "GruGatesGrad": 32, "FusedMulAddNL2loss": 4,
}  # fmt: skip
"""Vector instructions for a block of elements, where it is not one.  Counted from the formulas: a division is a reciprocal with a
Newton step and a product, a hyperbolic tangent an exponential and a division, an update its terms, the gates of a
recurrent layer three sigmoids and two hyperbolic tangents for each number of its state, of four that the product makes."""


def instructions(op: str) -> float:
    """Vector instructions for each block of elements that the op makes."""
    return float(_INSTRUCTIONS.get(op, 1))
