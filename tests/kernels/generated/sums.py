"""Families of ops that add up: reductions, scans, products of matrices, convolutions, pools, normalisation, losses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.kernels.generated import numbers
from tests.kernels.generated.batch import Drawn
from tests.kernels.harness import call, case

Draw = Any
FLOATS = ("float32", "float32", "float32", "float16", "bfloat16")
REDUCTION_OPS = numbers.names(
    """
    Sum Mean Prod Max Min EuclideanNorm All Any ArgMax ArgMin L2Loss
    """
)
SCAN_OPS = numbers.names(
    """
    Cumsum Cumprod CumulativeLogsumexp Softmax LogSoftmax SoftmaxCrossEntropyWithLogits
    SparseSoftmaxCrossEntropyWithLogits
    """
)
PRODUCT_OPS = numbers.names(
    """
    MatMul MatMul BatchMatMulV2 BatchMatMulV2 Einsum BiasAdd BiasAddGrad
    """
)
CONVOLUTION_OPS = numbers.names(
    """
    Conv2D Conv2DBackpropInput Conv2DBackpropFilter DepthwiseConv2dNative Conv3D
    DepthwiseConv2dNativeBackpropInput DepthwiseConv2dNativeBackpropFilter
    """
)
POOL_OPS = numbers.names(
    """
    MaxPool AvgPool MaxPoolGrad MaxPoolGradGrad AvgPoolGrad MaxPool3D AvgPool3D MaxPoolWithArgmax Dilation2D
    ExtractImagePatches LRN SpaceToDepth DepthToSpace
    """
)
NORMALIZATION_OPS = numbers.names(
    """
    FusedBatchNormV3 FusedBatchNormGradV3
    """
)
RESIZED_OPS = numbers.names(
    """
    ResizeBilinear ResizeNearestNeighbor ResizeBicubic ResizeArea ResizeBilinearGrad ResizeNearestNeighborGrad
    CropAndResize
    """
)


@st.composite
def reduction(draw: Draw) -> Drawn:
    op = numbers.in_turn(REDUCTION_OPS)
    of = numbers.shape(draw)
    if op == "L2Loss":
        x = numbers.array(draw, of, draw(st.sampled_from(FLOATS)), draw(st.sampled_from(("usual", "ties"))))
        return Drawn(case(op, x), "sum", max(1, x.size))
    if op.startswith("Arg"):
        of = of or (3,)
        axis = draw(st.integers(-len(of), len(of) - 1))
        of = tuple(max(n, 1) if a == axis % len(of) else n for a, n in enumerate(of))
        x = numbers.array(
            draw, of, draw(st.sampled_from((*FLOATS, "int32", "int64", "uint8"))), draw(st.sampled_from(("usual", "ties")))
        )
        return Drawn(case(op, x, np.array(axis, "int32"), output_type=draw(st.sampled_from(("int32", "int64")))))
    if op in ("All", "Any"):
        x, check = numbers.array(draw, of, "bool"), "exact"
    else:
        dtypes = FLOATS if op == "EuclideanNorm" else (*FLOATS, "int32", "int64")
        x, check = (
            numbers.array(draw, of, draw(st.sampled_from(dtypes)), draw(st.sampled_from(("usual", "ties", "positive")))),
            "sum",
        )
    axes = numbers.axes(draw, len(of))
    terms = math.prod(of[int(a)] for a in np.atleast_1d(axes)) if axes.size else 1
    return Drawn(case(op, x, axes, keep_dims=draw(st.booleans())), "exact" if op in ("Max", "Min") else check, max(1, terms),
                 draw(st.booleans()))  # fmt: skip


@st.composite
def scan(draw: Draw) -> Drawn:
    op = numbers.in_turn(SCAN_OPS)
    dtype = draw(st.sampled_from(FLOATS))
    if op.startswith("Cum"):
        of = numbers.shape(draw, least=1)
        axis = np.array(draw(st.integers(-len(of), len(of) - 1)), "int32")
        x = numbers.array(draw, of, "float32" if op[-1] == "p" else draw(st.sampled_from((dtype, "int32", "int64"))), "usual")
        attrs = {"exclusive": draw(st.booleans()), "reverse": draw(st.booleans())}
        return Drawn(case(op, x, axis, **attrs), "close" if op[-1] == "p" else "sum", 17, draw(st.booleans()))
    kind = draw(st.sampled_from(("usual", "ties", "wide")))  # beside a NaN or infinity oneDNN leaves zeros, here the row is NaN
    if op.startswith("S") and "Cross" in op:
        return cross_entropy(draw, op, dtype)
    rank = draw(st.integers(1, 3))
    x = numbers.array(draw, numbers.shape(draw, rank, rank), dtype, kind, -20, 20)
    return Drawn(case(op, x), "close", is_strided=draw(st.booleans()))


def cross_entropy(draw: Draw, op: str, dtype: str) -> Drawn:
    rows, classes = draw(st.sampled_from((0, 1, 3, 8, 17))), draw(st.sampled_from((1, 2, 5, 33)))
    check = "close" if dtype == "float32" else "ulp"  # TensorFlow computes in 16 bits, the kernel in 32
    logits = numbers.array(draw, (rows, classes), dtype, draw(st.sampled_from(("usual", "ties"))), -20, 20)
    if op.startswith("Sparse"):
        return Drawn(case(op, logits, numbers.indices(draw, (rows,), classes)), check)
    labels = numbers.array(draw, (draw(st.sampled_from((rows, 1))), classes), dtype, "usual", 0, 1)
    return Drawn(case(op, logits, labels), check)


@st.composite
def product(draw: Draw) -> Drawn:
    op = numbers.in_turn(PRODUCT_OPS)
    m, k, n = (draw(st.sampled_from((0, 1, 2, 3, 7, 16, 33, 130))) for _ in range(3))
    dtype = draw(st.sampled_from((*FLOATS, "int32", "int64")))
    kind = draw(st.sampled_from(("usual", "ties", "usual", "special")))
    flags = [draw(st.booleans()) for _ in range(2)]
    if op == "BiasAdd":
        of = numbers.shape(draw, least=2)
        return Drawn(case(op, numbers.array(draw, of, dtype), numbers.array(draw, of[-1:], dtype)), "sum", 2, flags[0])
    if op == "BiasAddGrad":
        of = numbers.shape(draw, least=2)
        return Drawn(case(op, numbers.array(draw, of, dtype, "usual")), "sum", max(1, math.prod(of[:-1])), flags[0])
    if op == "Einsum":
        return einsum(draw, dtype)
    batches = [(), ()]
    if op == "BatchMatMulV2":
        of = numbers.shape(draw, most=2, extents=(0, 1, 2, 3, 5))
        batches = [of, numbers.broadcasting(draw, of)]
    x = numbers.array(draw, (*batches[0], *((k, m) if flags[0] else (m, k))), dtype, kind)
    y = numbers.array(draw, (*batches[1], *((n, k) if flags[1] else (k, n))), dtype, kind)
    x, y = numbers.moderate(x), numbers.moderate(y)
    names = ("transpose_a", "transpose_b") if op == "MatMul" else ("adj_x", "adj_y")
    return Drawn(case(op, x, y, **dict(zip(names, flags, strict=True))), "sum", max(1, k), draw(st.booleans()))


EQUATIONS = numbers.names(
    """
    ij,jk->ik bij,bjk->bik bij,bkj->bik bhqd,bhkd->bhqk bqhd,bkhd->bhqk abc,cd->abd ij->ji ij->i i,j->ij
    ij,ij-> ...ij,jk->...ik ...i->... ii->i
    """
)


def einsum(draw: Draw, dtype: str) -> Drawn:
    equation = draw(st.sampled_from(EQUATIONS))
    extents = {name: draw(st.sampled_from((1, 2, 3, 5, 8))) for name in "abcdefghijkq"}
    terms = equation.split("->")[0].split(",")
    shapes = [(*((2, 3) if "." in term else ()), *(extents[name] for name in term.replace(".", ""))) for term in terms]
    operands = [numbers.array(draw, s, dtype, draw(st.sampled_from(("usual", "ties")))) for s in shapes]
    return Drawn(case("Einsum", operands, equation=equation), "sum", 64, draw(st.booleans()))


def window(draw: Draw, extent: int, padding: str) -> tuple[int, int, int]:
    """(kernel, stride, dilation) that fit."""
    kernel, stride, dilation = draw(st.integers(1, 4)), draw(st.integers(1, 3)), draw(st.sampled_from((1, 1, 2)))
    if dilation > 1:
        stride = 1
    if padding == "VALID" and (kernel - 1) * dilation + 1 > extent:
        kernel, dilation = min(kernel, extent), 1
    return kernel, stride, dilation


def out_extent(extent: int, kernel: int, stride: int, dilation: int, padding: str) -> int:
    return -(-extent // stride) if padding == "SAME" else (extent - (kernel - 1) * dilation - 1) // stride + 1


@st.composite
def convolution(draw: Draw) -> Drawn:
    op = numbers.in_turn(CONVOLUTION_OPS)
    padding = draw(st.sampled_from(("SAME", "VALID")))
    n_spatial = 3 if "3D" in op else 2
    spatial = [draw(st.sampled_from((1, 4, 5, 8, 11))) for _ in range(n_spatial)]
    windows = [window(draw, e, padding) for e in spatial]
    dtype = draw(st.sampled_from(("float32", "float32", "float32", "float16", "bfloat16")))
    dilated = "Backprop" not in op and "3D" not in op and "Depthwise" not in op  # those TensorFlow does not do on the CPU
    windows = [(k, s, d if dilated else 1) for k, s, d in windows]
    if "Depthwise" in op:  # one stride and one dilation for both axes
        windows = [(k, windows[0][1], windows[0][2]) for k, _, _ in windows]
        if padding == "VALID":
            windows = [(k if (k - 1) * d < e else 1, s, d) for (k, s, d), e in zip(windows, spatial, strict=True)]
    batch, depth, filters = (
        draw(st.sampled_from((1, 2, 3))),
        draw(st.sampled_from((1, 2, 3, 8))),
        draw(st.sampled_from((1, 2, 4, 7))),
    )
    image, kernel = (batch, *spatial, depth), (*(k for k, _, _ in windows), depth, filters)
    out = [out_extent(e, k, s, d, padding) for e, (k, s, d) in zip(spatial, windows, strict=True)]
    result = (batch, *out, depth * filters if "Depthwise" in op else filters)
    attrs = {"strides": [1, *(s for _, s, _ in windows), 1], "padding": padding, "dilations": [1, *(d for _, _, d in windows), 1]}
    kinds = ("usual", "ties")
    x, w, dy = (numbers.array(draw, s, dtype, draw(st.sampled_from(kinds))) for s in (image, kernel, result))
    terms = math.prod(kernel[:-1]) if "Filter" not in op else batch * math.prod(out)
    inputs = {"Input": [np.array(image, "int32"), w, dy], "Filter": [x, np.array(kernel, "int32"), dy]}
    chosen = next((v for name, v in inputs.items() if op.endswith(name)), [x, w])
    return Drawn(case(op, *chosen, **attrs), "sum", max(terms, kernel[0] * kernel[1] * filters), draw(st.booleans()))


@st.composite
def pool(draw: Draw) -> Drawn:
    op = numbers.in_turn(POOL_OPS)
    padding = draw(st.sampled_from(("SAME", "VALID")))
    spatial = [draw(st.sampled_from((4, 5, 8, 11))) for _ in range(3 if "3D" in op else 2)]
    windows = [window(draw, e, padding)[:2] for e in spatial]
    batch, depth = draw(st.sampled_from((0, 1, 2, 3))), draw(st.sampled_from((1, 2, 3, 8)))
    dtype = draw(st.sampled_from(("float32", "float32", "float16", "bfloat16") if "3D" not in op else ("float32",)))
    x = numbers.array(draw, (batch, *spatial, depth), dtype, draw(st.sampled_from(("usual", "ties"))))
    attrs = {"ksize": [1, *(k for k, _ in windows), 1], "strides": [1, *(s for _, s in windows), 1], "padding": padding}
    out = [out_extent(e, k, s, 1, padding) for e, (k, s) in zip(spatial, windows, strict=True)]
    terms = math.prod(k for k, _ in windows)
    if op in ("SpaceToDepth", "DepthToSpace"):
        return Drawn(case(op, numbers.array(draw, (batch, 4, 6, 8), dtype, "usual"), block_size=2))
    if op == "LRN":
        return Drawn(
            case(op, x.astype("float32"), depth_radius=draw(st.integers(1, 4)), bias=1.0, alpha=0.5, beta=0.7),
            "close",
            relative=2e-5,
        )
    if op == "Dilation2D":
        del attrs["ksize"]
        w = numbers.array(draw, (*(k for k, _ in windows), depth), dtype, "ties")
        return Drawn(case(op, x, w, rates=[1] * 4, **attrs), "sum", 2)
    if op == "ExtractImagePatches":
        attrs["ksizes"] = attrs.pop("ksize")
        return Drawn(case(op, x, rates=[1] * 4, **attrs))
    if op in ("MaxPoolGrad", "MaxPoolGradGrad"):
        y = call(case("MaxPool", x, **attrs), [x])[0]
        of = y.shape if op == "MaxPoolGrad" else x.shape
        return Drawn(case(op, x, y, numbers.array(draw, of, dtype, "usual"), **attrs), "close")
    if op == "AvgPoolGrad":
        dy = numbers.array(draw, (batch, *out, depth), dtype, "usual")
        return Drawn(case(op, np.array(x.shape, "int32"), dy, **attrs), "sum", terms)
    check = "exact" if op.startswith("Max") else "close" if "3D" in op else "sum"
    return Drawn(case(op, x, **attrs), check, terms, draw(st.booleans()))


@st.composite
def normalization(draw: Draw) -> Drawn:
    op = numbers.in_turn(NORMALIZATION_OPS)
    channels = draw(st.sampled_from((1, 2, 3, 8, 17)))
    of = (draw(st.sampled_from((1, 2, 4))), draw(st.sampled_from((2, 3, 7))), draw(st.sampled_from((2, 5))), channels)
    x = numbers.array(draw, of, draw(st.sampled_from(("float32", "float32", "float16", "bfloat16"))), "usual")
    scale, offset = (numbers.array(draw, (channels,), "float32", "usual", 0.5, 2) for _ in range(2))
    is_training = draw(st.booleans())
    attrs = {"epsilon": draw(st.sampled_from((1e-3, 0.1))), "is_training": is_training}
    mean, variance = (
        numbers.array(draw, (channels,), "float32", "usual", -1, 1),
        numbers.array(draw, (channels,), "float32", "usual", 0.5, 2),
    )
    if op == "FusedBatchNormV3":
        nothing = np.zeros(0, "float32")
        old = [nothing, nothing] if is_training else [mean, variance]
        return Drawn(
            case(op, x, scale, offset, *old, **attrs), "close", relative=None if x.dtype != np.float32 else 2e-5, n_outputs=3
        )
    if is_training:  # of the batch itself, as the forward op gives them
        wide = x.astype(np.float64)
        mean = wide.mean(axis=(0, 1, 2)).astype("float32")
        variance = wide.var(axis=(0, 1, 2)).astype("float32")
    dy = numbers.array(draw, of, x.dtype.name, "usual")
    return Drawn(case(op, dy, x, scale, mean, variance, variance, **attrs), "close",
                 relative=1e-4 if x.dtype == np.float32 else None, absolute=1e-6 * x.size, n_outputs=3)  # fmt: skip


@st.composite
def resized(draw: Draw) -> Drawn:
    op = numbers.in_turn(RESIZED_OPS)
    of = (draw(st.integers(1, 2)), draw(st.integers(1, 9)), draw(st.integers(1, 9)), draw(st.integers(1, 3)))
    size = np.array([draw(st.integers(1, 12)), draw(st.integers(1, 12))], "int32")
    x = numbers.array(draw, of, "float32", draw(st.sampled_from(("usual", "ties"))))
    if op == "CropAndResize":
        boxes = numbers.array(draw, (3, 4), "float32", "usual", -0.2, 1.2)
        attrs = {"method": draw(st.sampled_from(("bilinear", "nearest"))), "extrapolation_value": 0.5}
        return Drawn(case(op, x, boxes, numbers.indices(draw, (3,), of[0], "int32"), size, **attrs), "close", relative=2e-5)
    mode = draw(st.sampled_from(({}, {"align_corners": True}, {"half_pixel_centers": True})))
    if op == "ResizeArea":
        mode = {k: v for k, v in mode.items() if k == "align_corners"}
    if op == "ResizeBilinearGrad":
        grads = numbers.array(draw, (of[0], *map(int, size), of[3]), "float32", "usual")
        return Drawn(case(op, grads, x, **mode), "close", relative=2e-5)
    return Drawn(case(op, x, size, **mode), "exact" if op == "ResizeNearestNeighbor" else "close", relative=2e-5)


FAMILIES = {
    "reductions": reduction(),
    "scans and softmax": scan(),
    "products": product(),
    "convolutions": convolution(),
    "windows": pool(),
    "normalisation": normalization(),
    "resized": resized(),
}
