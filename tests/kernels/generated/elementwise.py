"""Families of element-wise ops."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy import special

from tests.kernels.generated import numbers
from tests.kernels.generated.batch import Drawn
from tests.kernels.harness import case

FLOATS = ("float32", "float32", "float32", "float32", "float16", "bfloat16")
INTEGERS = ("int32", "int64", "int8", "uint8", "int16")
UNARY = numbers.names(
    """
    Abs Neg Sign Square Sqrt Rsqrt Reciprocal Inv Exp Expm1 Log Log1p Sin Cos Tan Asin Acos Atan Sinh Cosh
    Tanh Asinh Acosh Atanh Floor Ceil Rint Round Sigmoid Softplus Softsign Relu Relu6 Elu Selu LeakyRelu Erf
    Erfc Erfinv Ndtri Lgamma Digamma BesselI0 BesselI0e BesselI1 BesselI1e
    """
)
SELU_SCALE, SELU_ALPHA = 1.0507009873554805, 1.6732632423543772
ONLY_FLOAT32 = {"Rint", "Erfinv", "Ndtri", "Igamma", "Igammac", "Zeta", "Polygamma", "Betainc"}
NO_BFLOAT16 = {"Lgamma", "Digamma", "BesselI0", "BesselI0e", "BesselI1", "BesselI1e"}
TESTS = ("IsNan", "IsInf", "IsFinite")
UNARY_INTEGER = ("Abs", "Neg", "Sign", "Square", "Round", "Relu", "Relu6", "Invert")
BINARY = numbers.names(
    """
    Add AddV2 Sub Mul Div RealDiv DivNoNan MulNoNan Maximum Minimum Pow Atan2 SquaredDifference FloorDiv
    FloorMod Mod TruncateMod Xdivy Xlogy Xlog1py
    """
)
BINARY_INTEGER = numbers.names(
    """
    Add AddV2 Sub Mul Maximum Minimum SquaredDifference FloorDiv FloorMod TruncateDiv TruncateMod BitwiseAnd
    BitwiseOr BitwiseXor LeftShift RightShift
    """
)
GRADIENTS = numbers.names(
    """
    SigmoidGrad TanhGrad SqrtGrad RsqrtGrad ReciprocalGrad InvGrad SoftplusGrad SoftsignGrad ReluGrad
    Relu6Grad EluGrad SeluGrad LeakyReluGrad
    """
)
COMPARISONS = ("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual")
EXACT = {
    "Elu": lambda x: np.where(x < 0, np.expm1(x), x),
    "Selu": lambda x: SELU_SCALE * np.where(x < 0, SELU_ALPHA * np.expm1(x), x),
    "Erfinv": special.erfinv,
}
"""Functions of which TensorFlow's float64 kernel loses all digits near 0, as 1 + x does."""
Draw = Any


def float_type(draw: Draw, op: str) -> str:
    allowed = ("float32",) if op in ONLY_FLOAT32 else tuple(t for t in FLOATS if t != "bfloat16" or op not in NO_BFLOAT16)
    return draw(st.sampled_from(allowed))


SPECIAL_BINARY_OPS = numbers.names(
    """
    Igamma Igammac Betainc Zeta Polygamma NextAfter
    """
)


@st.composite
def unary(draw: Draw) -> Drawn:
    op = numbers.in_turn(UNARY)
    x = numbers.array(draw, numbers.shape(draw), float_type(draw, op))
    attrs = {"alpha": draw(st.sampled_from((0.2, 0.0, 1.0, 1.5, -0.3)))} if op == "LeakyRelu" else {}
    exact = EXACT[op](x.astype(np.float64)) if op in EXACT else None
    return Drawn(case(op, x, **attrs), "ulp", is_strided=draw(st.booleans()), exact=exact)


@st.composite
def unary_integer(draw: Draw) -> Drawn:
    op = numbers.in_turn((*UNARY_INTEGER, *TESTS, "LogicalNot"))
    if op in TESTS:
        x = numbers.array(draw, numbers.shape(draw), draw(st.sampled_from(FLOATS)))
    elif op == "LogicalNot":
        x = numbers.array(draw, numbers.shape(draw), "bool")
    else:
        types = INTEGERS if op in ("Relu", "Relu6", "Invert", "Square") else ("int32", "int64")
        x = numbers.array(draw, numbers.shape(draw), draw(st.sampled_from(types)))
    return Drawn(case(op, x), is_strided=draw(st.booleans()))


def pair(draw: Draw, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    of = numbers.shape(draw)
    shapes = [of, numbers.broadcasting(draw, of)]
    if draw(st.booleans()):
        shapes.reverse()
    return numbers.array(draw, shapes[0], dtype), numbers.array(draw, shapes[1], dtype)


@st.composite
def binary(draw: Draw) -> Drawn:
    op = numbers.in_turn(BINARY)
    return Drawn(case(op, *pair(draw, float_type(draw, op))), "ulp", is_strided=draw(st.booleans()))


@st.composite
def binary_integer(draw: Draw) -> Drawn:
    op = numbers.in_turn(BINARY_INTEGER)
    few = op in ("Maximum", "Minimum", "SquaredDifference", "TruncateMod", "FloorMod")
    a, b = pair(draw, draw(st.sampled_from(("int32", "int64") if few else INTEGERS)))
    if op in ("FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod"):
        b = np.where(b == 0, 1, np.where(b == -1, 2, b)).astype(b.dtype)
    if op in ("LeftShift", "RightShift"):
        b = (np.abs(b.astype(np.int64)) % (8 * b.itemsize)).astype(b.dtype)
    return Drawn(case(op, a, b), is_strided=draw(st.booleans()))


@st.composite
def comparison(draw: Draw) -> Drawn:
    op = numbers.in_turn((*COMPARISONS, "LogicalAnd", "LogicalOr", "SelectV2", "Select", "AddN", "ClipByValue"))
    if op.startswith("Logical"):
        return Drawn(case(op, *pair(draw, "bool")))
    dtype = draw(st.sampled_from((*FLOATS, "int32", "int64", "bool" if op in ("Equal", "NotEqual", "SelectV2") else "int32")))
    if op == "Select":
        of = numbers.shape(draw, least=1)
        condition = numbers.array(draw, draw(st.sampled_from((of, of[:1], ()))), "bool")
        return Drawn(case(op, condition, numbers.array(draw, of, dtype), numbers.array(draw, of, dtype)))
    if op == "AddN":
        of = numbers.shape(draw)
        return Drawn(case(op, [numbers.array(draw, of, dtype) for _ in range(draw(st.integers(1, 4)))]), "sum", 4)
    if op == "ClipByValue":
        x = numbers.without_denormals(numbers.array(draw, numbers.shape(draw), dtype))
        return Drawn(case(op, x, numbers.array(draw, (), dtype, "ties", -2, -1), numbers.array(draw, (), dtype, "ties", 1, 2)))
    a, b = pair(draw, dtype)
    if op == "SelectV2":
        return Drawn(case(op, numbers.array(draw, numbers.broadcasting(draw, a.shape), "bool"), a, b))
    a, b = numbers.without_denormals(a), numbers.without_denormals(b)  # TensorFlow compares them as zeros
    return Drawn(case(op, a, b), is_strided=draw(st.booleans()))


@st.composite
def gradient(draw: Draw) -> Drawn:
    op, of = numbers.in_turn(GRADIENTS), numbers.shape(draw)
    dtype = draw(st.sampled_from(FLOATS))
    if op in ("TanhGrad", "SigmoidGrad"):  # of results of the function: beyond them both overflow on the way
        y = numbers.array(draw, of, dtype, "usual", 0 if op == "SigmoidGrad" else -1, 1)
        return Drawn(case(op, y, numbers.array(draw, of, dtype)), "ulp", is_strided=draw(st.booleans()))
    attrs = {"alpha": draw(st.sampled_from((0.2, 0.0, 1.5)))} if op == "LeakyReluGrad" else {}
    return Drawn(
        case(op, numbers.array(draw, of, dtype), numbers.array(draw, of, dtype), **attrs), "ulp", is_strided=draw(st.booleans())
    )


@st.composite
def special_binary(draw: Draw) -> Drawn:
    op = numbers.in_turn(SPECIAL_BINARY_OPS)
    of = numbers.shape(draw)
    first = numbers.array(draw, of, "float32", "positive", 0, 5)
    if op == "Polygamma":
        first = np.round(first)
    if op == "Zeta":
        first = first + np.float32(1)
    inputs = [first, numbers.array(draw, of, "float32", "positive", 0, 5)]
    if op == "Betainc":
        inputs.append(numbers.array(draw, of, "float32", "usual", 0, 1))
    return Drawn(case(op, *inputs), "exact" if op == "NextAfter" else "ulp")


@st.composite
def cast(draw: Draw) -> Drawn:
    every = ("float32", "float16", "bfloat16", "int8", "uint8", "int16", "int32", "int64", "bool")
    source, target = draw(st.sampled_from(every)), draw(st.sampled_from(every))
    kind = draw(st.sampled_from(("usual", "ties", "positive")))  # beyond the range of an integer type the result is not defined
    low = 0 if target == "uint8" else -100
    x = numbers.array(draw, numbers.shape(draw), source, kind, low, 100)
    return Drawn(
        case("Cast", np.abs(x) if low == 0 and source != "bool" else x, SrcT=source, DstT=target), is_strided=draw(st.booleans())
    )


FAMILIES = {
    "unary": unary(),
    "unary of integers": unary_integer(),
    "binary": binary(),
    "binary of integers": binary_integer(),
    "comparisons": comparison(),
    "activation gradients": gradient(),
    "special functions": special_binary(),
    "casts": cast(),
}
