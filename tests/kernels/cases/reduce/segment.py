"""Segments: gaps, empty data, negative numbers (unsorted), several axes, every dtype, large inputs."""

import numpy as np

from tests.kernels.harness import Case, arr, case, i32, scalar

INTEGERS = ("int32", "int64", "int8", "uint8")
NARROW = ("float16", "bfloat16")


def unsorted(op: str) -> list[Case]:
    three = scalar(3, "int32")
    return [
        case(op, arr(5, 2), i32(2, 0, 2, 2, 0), three),
        case(op, arr(5, 2), i32(2, -1, 2, -7, 0), scalar(4, "int64")),
        case(op, arr(5), np.array([1, 1, 0, 1, 1], np.int64), three),
        case(op, arr(2, 3, 4), i32([[0, 1, 0], [2, 2, 0]]), three),
        case(op, arr(2, 3), i32([[0, 1, 0], [2, 2, 0]]), three),
        case(op, arr(0, 3), np.zeros(0, np.int32), three),
        case(op, arr(3, 0), i32(0, 1, 2), three),
        case(op, arr(0, 3), np.zeros(0, np.int32), scalar(0, "int32")),
        case(op, arr(4), scalar(1, "int32"), three),
        *[case(op, arr(5, 2, dtype=d), i32(2, 0, 2, 2, 0), three) for d in (*INTEGERS, *NARROW)],
        case(op, arr(3000, 5, low=0.99, high=1.01), arr(3000, dtype="int32", low=0, high=40), scalar(40, "int32"), rtol=2e-5),
        case(op, arr(700, 65, low=0.99, high=1.01), arr(700, dtype="int32", low=-1, high=40), scalar(40, "int32"), rtol=2e-5),
        case(op, arr(600, 64, low=0.99, high=1.01), i32(*range(30), *[7] * 570), scalar(40, "int32"), rtol=2e-5),
        case(op, arr(9000, low=0.99, high=1.01), arr(9000, dtype="int32", low=-1, high=400), scalar(400, "int32"), rtol=2e-5),
    ]


def in_order(op: str) -> list[Case]:
    ids = i32(0, 0, 2, 2, 2, 5)
    return [
        case(op, arr(6, 3), ids),
        case(op, arr(6), ids.astype(np.int64)),
        case(op, arr(6, 2, 2), i32(1, 1, 1, 1, 1, 1)),
        case(op, arr(0, 3), np.zeros(0, np.int32)),
        case(op, arr(6, 0), ids),
        *[case(op, arr(6, 3, dtype=d), ids) for d in (NARROW if op == "SegmentMean" else (*INTEGERS, *NARROW))],
        case(op, arr(700, 65, low=0.99, high=1.01), np.sort(arr(700, dtype="int32", low=0, high=40)), rtol=2e-5),
        case(op, arr(3000, 5, low=0.99, high=1.01), np.sort(arr(3000, dtype="int32", low=0, high=40)), rtol=2e-5),
    ]


def sparse(name: str) -> list[Case]:
    op, ids, index = f"SparseSegment{name}", i32(0, 0, 2, 2, 2, 5), i32(3, 1, 3, 0, 2, 3)
    grad = f"{op}Grad"
    many, in_many = arr(2000, dtype="int32", low=0, high=30), np.sort(arr(2000, dtype="int32", low=0, high=90))
    return [
        *[case(op, arr(4, 3, dtype=d), index, ids) for d in ("float32", *NARROW)],
        case(op, arr(4), index.astype(np.int64), ids.astype(np.int64)),
        case(op, arr(4, 3), np.zeros(0, np.int32), np.zeros(0, np.int32)),
        case(op, arr(30, 40), many, in_many, rtol=2e-5),
        *[case(f"{op}WithNumSegments", arr(4, 3), index, ids, scalar(n, "int32")) for n in (6, 9)],
        case(f"{op}WithNumSegments", arr(4, 3), np.zeros(0, np.int32), np.zeros(0, np.int32), scalar(2, "int32")),
        *[case(grad, arr(6, 3, dtype=d), index, ids, scalar(7, "int32")) for d in ("float32", *NARROW)],
        case(grad, arr(6, 3), np.zeros(0, np.int32), np.zeros(0, np.int32), scalar(0, "int32")),
        case(grad, arr(6), index.astype(np.int64), ids, scalar(4, "int32")),
        case(grad, arr(90, 40), many, in_many, scalar(30, "int32"), rtol=2e-5),
    ]


NAN_ROWS = np.where(arr(90, 17) > 0.8, np.float32(np.nan), arr(90, 17))

INFINITE = np.float32([-np.inf, np.inf, -np.inf, -np.inf, np.inf, np.inf, 1, -np.inf, np.inf, 1])
IN_SEGMENTS = i32(0, 1, 2, 2, 3, 3, 5, 5, 6, 6)

CASES = [
    *[case(f"Segment{name}", INFINITE.astype(d), IN_SEGMENTS, id=f"infinite {d}")
      for name in ("Max", "Min") for d in ("float32", "float16", "bfloat16")],
    *[case(f"UnsortedSegment{name}", INFINITE.astype(d), IN_SEGMENTS, scalar(8, "int32"), id=f"infinite {d}")
      for name in ("Max", "Min") for d in ("float32", "float16", "bfloat16")],
    *[case(f"UnsortedSegment{name}", NAN_ROWS.astype(d), arr(90, dtype="int32", low=-1, high=9), scalar(12, "int32"),
           id=f"NaN {d}")
      for name in ("Max", "Min") for d in ("float32", "float16")],
    *[one for name in ("Sum", "Prod", "Max", "Min") for one in unsorted(f"UnsortedSegment{name}")],
    *[one for name in ("Sum", "Prod", "Max", "Min", "Mean") for one in in_order(f"Segment{name}")],
    *[one for name in ("Sum", "Mean", "SqrtN") for one in sparse(name)],
]  # fmt: skip
