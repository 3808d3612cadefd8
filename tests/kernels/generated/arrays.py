"""Families of ops that move, pick and order data."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.kernels.generated import numbers
from tests.kernels.generated.batch import Drawn
from tests.kernels.harness import call, case

Draw = Any
EVERY = ("float32", "float32", "int32", "int64", "float16", "bfloat16", "int8", "uint8", "int16", "bool")
NUMBERS = EVERY[:-1]
FULL = (1, 2, 3, 5, 8)
"""Extents of arrays that must not be empty."""
JOINED_OPS = numbers.names(
    """
    ConcatV2 Pack Split SplitV Unpack
    """
)
RESHAPED_OPS = numbers.names(
    """
    Transpose Tile ExpandDims Squeeze BroadcastTo ReverseV2 Reshape Roll Shape Size Rank ZerosLike OnesLike
    Fill ConjugateTranspose InvertPermutation
    """
)
SLICED_OPS = numbers.names(
    """
    Slice StridedSlice StridedSlice StridedSliceGrad Pad PadV2 MirrorPad
    """
)
GATHERED_OPS = numbers.names(
    """
    GatherV2 GatherNd OneHot Where Unique UniqueWithCounts TopKV2 ReverseSequence MatrixBandPart MatrixDiag
    MatrixDiagPart MatrixSetDiag ListDiff InTopKV2
    """
)
SCATTERED_OPS = numbers.names(
    """
    ScatterNd TensorScatterUpdate TensorScatterAdd TensorScatterSub TensorScatterMax TensorScatterMin
    UnsortedSegmentSum UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd SegmentSum SegmentMean
    SegmentMax SegmentMin SegmentProd DynamicPartition SparseSegmentSum SparseSegmentMean SparseSegmentSqrtN
    """
)


def some(draw: Draw, of: tuple[int, ...], dtypes: tuple[str, ...] = EVERY) -> np.ndarray:
    return numbers.array(draw, of, draw(st.sampled_from(dtypes)), draw(st.sampled_from(("usual", "ties", "special"))))


def integer(value: int, dtype: str = "int32") -> np.ndarray:
    return np.array(value, dtype)


@st.composite
def joined(draw: Draw) -> Drawn:
    op = numbers.in_turn(JOINED_OPS)
    of = numbers.shape(draw, least=1, most=4)
    axis = draw(st.integers(-len(of), len(of) - 1))
    dtype, n = draw(st.sampled_from(EVERY)), draw(st.integers(2, 4))
    if op == "ConcatV2":
        shapes = [
            tuple(draw(st.sampled_from(numbers.EXTENTS)) if a == axis % len(of) else e for a, e in enumerate(of))
            for _ in range(n)
        ]
        return Drawn(
            case(op, [numbers.array(draw, s, dtype, "usual") for s in shapes], integer(axis)), is_strided=draw(st.booleans())
        )
    if op == "Pack":
        return Drawn(case(op, [numbers.array(draw, of, dtype, "usual") for _ in range(n)], axis=axis))
    if op == "Unpack":
        return Drawn(case(op, numbers.array(draw, of, dtype), num=of[axis], axis=axis), is_strided=draw(st.booleans())) if of[
            axis] else joined_split(draw, (2, 2), 0, dtype)  # fmt: skip
    if op == "SplitV":
        cut = draw(st.integers(0, of[axis]))
        return Drawn(case(op, numbers.array(draw, of, dtype), np.array([cut, -1], "int32"), integer(axis), num_split=2))
    return joined_split(draw, of, axis, dtype)


def joined_split(draw: Draw, of: tuple[int, ...], axis: int, dtype: str) -> Drawn:
    n = draw(st.sampled_from([k for k in (1, 2, 3, 4) if of[axis] % k == 0]))
    return Drawn(case("Split", integer(axis), numbers.array(draw, of, dtype), num_split=n), is_strided=draw(st.booleans()))


@st.composite
def reshaped(draw: Draw) -> Drawn:
    op = numbers.in_turn(RESHAPED_OPS)
    of = numbers.shape(draw, least=1 if op in ("Roll", "Transpose", "ConjugateTranspose") else 0)  # of rank 0 oneDNN aborts
    x = some(draw, of)
    if op in ("Transpose", "ConjugateTranspose"):
        return Drawn(case(op, x, np.array(draw(st.permutations(range(len(of)))), "int32")), is_strided=draw(st.booleans()))
    if op == "InvertPermutation":
        return Drawn(case(op, np.array(draw(st.permutations(range(draw(st.integers(0, 8))))), "int32")))
    if op == "Tile":
        return Drawn(case(op, x, np.array([draw(st.integers(0, 3)) for _ in of], "int32")), is_strided=draw(st.booleans()))
    if op == "ExpandDims":
        return Drawn(case(op, x, integer(draw(st.integers(-len(of) - 1, len(of))))))
    if op == "Squeeze":
        ones = [axis for axis, n in enumerate(of) if n == 1]
        return Drawn(case(op, x, squeeze_dims=draw(st.lists(st.sampled_from(ones), unique=True)) if ones else []))
    if op == "BroadcastTo":
        return Drawn(case(op, some(draw, numbers.broadcasting(draw, of)), np.array(of, "int32")))
    if op == "ReverseV2":
        axes = np.atleast_1d(numbers.axes(draw, len(of)))
        return Drawn(case(op, x, axes), is_strided=draw(st.booleans()))
    if op == "Reshape":
        kept = draw(st.booleans())
        return Drawn(case(op, x, np.array([-1] if not kept and x.size else [x.size, 1], "int32")), is_strided=draw(st.booleans()))
    if op == "Roll":
        n = draw(st.integers(1, 3))
        axes = [draw(st.integers(0, len(of) - 1)) for _ in range(n)]
        return Drawn(case(op, x, np.array([draw(st.integers(-9, 9)) for _ in axes], "int32"), np.array(axes, "int32")))
    if op == "Fill":
        return Drawn(case(op, np.array(of, "int32"), some(draw, ())))
    return Drawn(case(op, x))


@st.composite
def sliced(draw: Draw) -> Drawn:
    op = numbers.in_turn(SLICED_OPS)
    of = numbers.shape(draw, least=1, most=4)
    if op == "Slice":
        begin = [draw(st.integers(0, n)) for n in of]
        size = [draw(st.sampled_from((-1, draw(st.integers(0, n - b))))) for n, b in zip(of, begin, strict=True)]
        return Drawn(case(op, some(draw, of), np.array(begin, "int32"), np.array(size, "int32")), is_strided=draw(st.booleans()))
    if op.startswith("Strided"):
        return strided_slice(draw, op, of)
    pads = np.array([[draw(st.integers(0, 3)), draw(st.integers(0, 3))] for _ in of], draw(st.sampled_from(("int32", "int64"))))
    if op == "MirrorPad":
        mode = draw(st.sampled_from(("REFLECT", "SYMMETRIC")))
        most = np.array([[max(0, n - (mode == "REFLECT"))] * 2 for n in of])
        x = some(draw, of, ("float32", "int32", "int64", "float16", "bfloat16", "int8", "uint8", "int16"))
        return Drawn(case(op, x, np.minimum(pads, most).astype(pads.dtype), mode=mode))
    x = some(draw, of)
    return Drawn(case(op, x, pads, *([some_like(draw, x)] if op == "PadV2" else [])), is_strided=draw(st.booleans()))


def some_like(draw: Draw, x: np.ndarray) -> np.ndarray:
    return numbers.array(draw, (), x.dtype.name, "ties")


def strided_slice(draw: Draw, op: str, of: tuple[int, ...]) -> Drawn:
    """Any masks; begin and end may lie outside."""
    n_given = draw(st.integers(0, len(of)))
    begin = [draw(st.integers(-n - 1, n + 1)) for n in of[:n_given]]
    end = [draw(st.integers(-n - 1, n + 1)) for n in of[:n_given]]
    strides = [draw(st.sampled_from((1, 1, 2, 3, -1, -2))) for _ in of[:n_given]]
    masks = {name: draw(st.integers(0, (1 << n_given) - 1)) for name in ("begin_mask", "end_mask")}
    shrink = 0
    for axis in range(n_given):
        if draw(st.integers(0, 4)) == 0 and of[axis]:
            shrink |= 1 << axis
            begin[axis], strides[axis] = draw(st.integers(-of[axis], of[axis] - 1)), 1
            masks["begin_mask"] &= ~(1 << axis)
    spec = [np.array(v, "int32") for v in (begin, end, strides)]
    x = some(draw, of)
    taken = case("StridedSlice", x, *spec, shrink_axis_mask=shrink, **masks)
    if op == "StridedSlice":
        return Drawn(taken, is_strided=draw(st.booleans()))

    result = call(taken, taken.flat())[0].shape
    gradient = numbers.array(draw, result, draw(st.sampled_from(("float32", "int32"))), "usual")
    return Drawn(case(op, np.array(of, "int32"), *spec, gradient, shrink_axis_mask=shrink, **masks))


@st.composite
def gathered(draw: Draw) -> Drawn:
    op = numbers.in_turn(GATHERED_OPS)
    return globals()[f"_{op.lower()}"](draw)


def _gatherv2(draw: Draw) -> Drawn:
    of = numbers.shape(draw, least=1, extents=FULL)
    axis = draw(st.integers(0, len(of) - 1))
    batch_dims = draw(st.integers(0, axis))
    wanted = (*of[:batch_dims], *numbers.shape(draw, most=2))
    return Drawn(case("GatherV2", some(draw, of), numbers.indices(draw, wanted, of[axis]), integer(axis), batch_dims=batch_dims),
                 is_strided=draw(st.booleans()))  # fmt: skip


def _gathernd(draw: Draw) -> Drawn:
    of = numbers.shape(draw, least=1, extents=FULL)
    depth = draw(st.integers(1, len(of)))
    columns = [numbers.indices(draw, (draw(st.just(4)),), n, "int32") for n in of[:depth]]
    return Drawn(case("GatherNd", some(draw, of), np.stack(columns, axis=1)), is_strided=draw(st.booleans()))


def _onehot(draw: Draw) -> Drawn:
    of, depth = numbers.shape(draw, most=3), draw(st.integers(0, 6))
    ids = numbers.values(of, draw(st.sampled_from(("int32", "int64", "uint8"))), "usual", numbers.seed(draw), -1, 6)
    on = some(draw, ())
    return Drawn(case("OneHot", ids, integer(depth), on, numbers.array(draw, (), on.dtype.name, "ties"),
                      axis=draw(st.integers(-1, len(of)))))  # fmt: skip


def _where(draw: Draw) -> Drawn:
    return Drawn(case("Where", numbers.without_denormals(some(draw, numbers.shape(draw, least=1), ("bool", "float32", "int32")))))


def _unique(draw: Draw) -> Drawn:
    return Drawn(case(draw(st.sampled_from(("Unique", "UniqueWithCounts"))), numbers.array(
        draw, (draw(st.integers(0, 40)),), draw(st.sampled_from(("int32", "int64", "float32"))), "ties"),
        out_idx=draw(st.sampled_from(("int32", "int64")))))  # fmt: skip


_uniquewithcounts = _unique


def _topkv2(draw: Draw) -> Drawn:
    of = numbers.shape(draw, least=1, most=3)
    k = draw(st.integers(0, of[-1]))
    x = numbers.array(draw, of, draw(st.sampled_from(NUMBERS)), draw(st.sampled_from(("usual", "ties", "wide"))))
    return Drawn(case("TopKV2", x, integer(k), sorted=True), is_strided=draw(st.booleans()))


def _reversesequence(draw: Draw) -> Drawn:
    of = numbers.shape(draw, least=2, extents=FULL)
    batch_dim, seq_dim = draw(st.permutations(range(len(of))))[:2]
    lengths = numbers.indices(draw, (of[batch_dim],), of[seq_dim] + 1)
    return Drawn(case("ReverseSequence", some(draw, of), lengths, seq_dim=seq_dim, batch_dim=batch_dim))


def _matrixbandpart(draw: Draw) -> Drawn:
    of = numbers.shape(draw, least=2)
    lower, upper = (integer(draw(st.integers(-1, of[axis])), "int64") for axis in (-2, -1))
    return Drawn(case("MatrixBandPart", some(draw, of, ("float32", "int32", "bool")), lower, upper))


def _matrixdiag(draw: Draw) -> Drawn:
    return Drawn(case("MatrixDiag", some(draw, numbers.shape(draw, least=1, most=3))))


def _matrixdiagpart(draw: Draw) -> Drawn:
    return Drawn(case("MatrixDiagPart", some(draw, numbers.shape(draw, least=2))))


def _matrixsetdiag(draw: Draw) -> Drawn:
    x = some(draw, numbers.shape(draw, least=2))
    of = (*x.shape[:-2], min(x.shape[-2:]))
    return Drawn(case("MatrixSetDiag", x, numbers.array(draw, of, x.dtype.name, "ties")))


def _listdiff(draw: Draw) -> Drawn:
    dtype = draw(st.sampled_from(("int32", "float32", "int64")))
    return Drawn(case("ListDiff", *[numbers.array(draw, (draw(st.integers(0, 20)),), dtype, "ties") for _ in range(2)]))


def _intopkv2(draw: Draw) -> Drawn:
    rows, classes = draw(st.integers(0, 9)), draw(st.integers(1, 9))
    scores = numbers.array(draw, (rows, classes), "float32", draw(st.sampled_from(("usual", "ties", "special"))))
    targets = numbers.values((rows,), "int32", "usual", numbers.seed(draw), -1, classes)
    return Drawn(case("InTopKV2", scores, targets, integer(draw(st.integers(0, classes + 1)))))


@st.composite
def scattered(draw: Draw) -> Drawn:
    op = numbers.in_turn(SCATTERED_OPS)
    dtype = draw(st.sampled_from(("float32", "float32", "int32", "int64", "float16")))
    if "Scatter" in op:
        return scatter_nd(draw, op, dtype)
    rows, rest = draw(st.integers(0, 20)), numbers.shape(draw, most=2)
    if op.startswith("Sparse"):
        return sparse_segment(draw, op, rows, rest)
    x = numbers.array(draw, (rows, *rest), dtype, draw(st.sampled_from(("usual", "ties"))))
    ids = numbers.indices(draw, (rows,), 6)
    if op == "DynamicPartition":
        return Drawn(case(op, x, ids.astype("int32"), num_partitions=6))
    if op.startswith("Unsorted"):
        return Drawn(case(op, x, np.where(ids == 5, -1, ids).astype(ids.dtype), integer(6)), "sum", max(rows, 1))
    return Drawn(case(op, x, np.sort(ids)), "sum", max(rows, 1))


def sparse_segment(draw: Draw, op: str, rows: int, rest: tuple[int, ...]) -> Drawn:
    x = numbers.array(draw, (rows + 1, *rest), "float32", "usual")
    n = draw(st.integers(0, 12))
    return Drawn(
        case(op, x, numbers.indices(draw, (n,), rows + 1), np.sort(numbers.indices(draw, (n,), 5, "int32"))), "sum", max(n, 1)
    )


def scatter_nd(draw: Draw, op: str, dtype: str) -> Drawn:
    of = numbers.shape(draw, least=1, extents=FULL)
    depth, n = draw(st.integers(1, len(of))), draw(st.integers(0, 6))
    places = np.stack([numbers.indices(draw, (n,), e, "int32") for e in of[:depth]], axis=1)
    if op == "TensorScatterUpdate":
        places = np.unique(places, axis=0)  # which of two wins is not defined
    updates = numbers.array(draw, (len(places), *of[depth:]), dtype, "usual")
    if op == "ScatterNd":
        return Drawn(case(op, places, updates, np.array(of, "int32")), "sum", 6)
    return Drawn(case(op, numbers.array(draw, of, dtype, "usual"), places, updates), "exact" if "Update" in op else "sum", 7)


FAMILIES = {
    "joined": joined(),
    "reshaped": reshaped(),
    "sliced": sliced(),
    "gathered": gathered(),
    "scattered": scattered(),
}
