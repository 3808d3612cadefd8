"""The pattern of a TensorFlow op on the chip."""

from __future__ import annotations

from npu_formats.device.chip import Chip
from npu_runtime.device.engines import AI_CPU as AI_CPU_ENGINE
from npu_runtime.device.engines import COLLECTIVE as COLLECTIVE_ENGINE
from npu_runtime.device.engines import LOCAL, engine_of
from npu_runtime.device.engines import RUNTIME as RUNTIME_ENGINE
from npu_runtime.graph.ir import Node
from npu_runtime.kernels.base import all_kernels
from npu_runtime.lowering.chip_graph import (
    AI_CPU,
    COLLECTIVE,
    CUBE,
    ELEMENTWISE,
    MOVEMENT,
    NORMALIZATION,
    REDUCTION,
    RUNTIME,
    UPDATE,
)

_ELEMENTWISE = frozenset((
    "Abs", "Acos", "Acosh", "Add", "AddN", "AddV2", "Asin", "Asinh", "Atan", "Atan2", "Atanh", "BiasAdd", "Cast", "Ceil",
    "ClipByValue", "Cos", "Cosh", "Div", "DivNoNan", "Elu", "EluGrad", "Equal", "Erf", "Erfc", "Exp", "Expm1", "Floor",
    "FloorDiv", "FloorMod", "Greater", "GreaterEqual", "Inv", "InvGrad", "IsFinite", "IsInf", "IsNan", "LeakyRelu",
    "LeakyReluGrad", "Less", "LessEqual", "Log", "Log1p", "LogicalAnd", "LogicalNot", "LogicalOr", "Maximum", "Minimum",
    "Mod", "Mul", "MulNoNan", "Neg", "NotEqual", "OnesLike", "Pow", "RealDiv", "Reciprocal", "ReciprocalGrad", "Relu",
    "Relu6", "Relu6Grad", "ReluGrad", "Rint", "Round", "Rsqrt", "RsqrtGrad", "Select", "SelectV2", "Selu", "SeluGrad",
    "Sigmoid", "SigmoidGrad", "Sign", "Sin", "Sinh", "Softplus", "SoftplusGrad", "Softsign", "SoftsignGrad", "Sqrt",
    "SqrtGrad", "Square", "SquaredDifference", "Sub", "Tan", "Tanh", "TanhGrad", "Tile", "BroadcastTo", "TruncateDiv",
    "Xdivy", "Xlogy", "ZerosLike", "_NpuGelu", "_NpuGeluGrad", "_NpuFastGelu", "_NpuFastGeluGrad", "_Round16",
))  # fmt: skip
"""Ops whose result has an element for each element of the largest input.  Source: the vendor's operator information gives them
the fusion pattern ElemWise or Broadcast."""
_REDUCTIONS = frozenset((
    "Sum", "Mean", "Max", "Min", "Prod", "All", "Any", "L2Loss", "BiasAddGrad", "ArgMax", "ArgMin", "EuclideanNorm",
))  # fmt: skip
_DEPTHWISE = "DepthwiseConv2dNative"
"""Beginning of the names of the depthwise convolution and its gradients: the simulated device's kernels do them element by
element, the chip on its cube units."""
_UPDATES = ("Apply", "ResourceApply", "Assign", "SparseApply", "ResourceSparseApply")
_NORMALIZATIONS = ("FusedBatchNorm", "LayerNorm")


def pattern_of(node: Node, chip: Chip) -> str:
    """The pattern of a node, "" for one that launches nothing."""
    made = all_kernels().get(node.op)
    engine = engine_of(node.op, node.attrs, made.unit if made else "scalar", chip)
    if engine in (AI_CPU_ENGINE, COLLECTIVE_ENGINE, RUNTIME_ENGINE):
        return {AI_CPU_ENGINE: AI_CPU, COLLECTIVE_ENGINE: COLLECTIVE, RUNTIME_ENGINE: RUNTIME}[engine]
    if engine == LOCAL:
        return ""
    if (made is not None and made.unit == "cube") or node.op.startswith(_DEPTHWISE):
        return CUBE
    if node.op in _ELEMENTWISE:
        return ELEMENTWISE
    if node.op in _REDUCTIONS:
        return REDUCTION
    if node.op.startswith(_UPDATES):
        return UPDATE
    return NORMALIZATION if node.op.startswith(_NORMALIZATIONS) else MOVEMENT
