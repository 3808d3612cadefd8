"""Scattering: into variables of both kinds, copies and zeros; repeated, scalar, empty and large indices."""

import numpy as np

from tests.kernels.harness import Case, Var, arr, case, i32, scalar

NAMES = ("Update", "Add", "Sub", "Mul", "Div", "Min", "Max")
INTEGERS = ("int32", "int64", "int8")


def repeated(n: int, below: int, dtype: str = "int32") -> np.ndarray:
    return arr(n, dtype=dtype, low=0, high=below)


def rows_of(name: str) -> list[Case]:
    made = []
    for op, kind in ((f"Scatter{name}", "ref"), (f"ResourceScatter{name}", "resource")):
        for indices, updates in (
            (i32(3, 0), arr(2, 3)),
            (i32(3, 0, 3, 3), arr(4, 3, low=0.5)),
            (i32([[1], [2]]), arr(2, 1, 3, low=0.5)),
            (scalar(2, "int64"), arr(3, low=0.5)),
            (i32(1, 1, 2), scalar(0.5)),
            (np.zeros(0, np.int32), arr(0, 3)),
        ):
            made.append(case(op, Var(arr(5, 3), kind), indices, updates))
        made.append(case(op, Var(arr(50), kind), repeated(9, 50), arr(9, low=0.5)))
        made.append(case(op, Var(arr(4, 2, dtype="float16"), kind), i32(1, 3), arr(2, 2, dtype="float16", low=0.5)))
    return made


def large(name: str) -> list[Case]:
    """Many updates: few rows hit often, and many rows of which few are hit. Sums of hundreds round in another order."""
    updates = arr(3000, 33, low=-1, high=1) if name in ("Add", "Sub") else arr(3000, 33, low=0.9, high=1.1)
    return [
        case(f"ResourceScatter{name}", Var(arr(n, 33)), repeated(3000, n), updates, id=f"large {n}", rtol=2e-5)
        for n in (9, 20000)
    ]


def slices_of(name: str) -> list[Case]:
    made = []
    for op, kind in ((f"ScatterNd{name}", "ref"), (f"ResourceScatterNd{name}", "resource"), (f"TensorScatter{name}", "")):
        for indices, updates in (
            (i32([[0], [2]]), arr(2, 4, 3)),
            (i32([[0, 1], [2, 3], [0, 1]]), arr(3, 3)),
            (i32([[[0, 1, 2]], [[2, 3, 0]]]), arr(2, 1)),
            (np.zeros((0, 2), np.int64), arr(0, 3)),
        ):
            made.append(case(op, Var(arr(3, 4, 3), kind) if kind else arr(3, 4, 3), indices, updates))
        made.append(case(op, Var(arr(9), kind) if kind else arr(9), i32([[7], [2], [7]]), arr(3)))
    return made


NAN_TARGET, NAN_UPDATES = (np.where(x > 0.8, np.float32(np.nan), x) for x in (arr(9, 5), arr(40, 5, seed=1)))
LARGE = np.int64([2**62 + 1, 2, 2**61 + 1])
CASES = [
    *[
        case(op, Var(LARGE, kind), i32(0, 2), np.int64([1, -3]))
        for op, kind in (("ScatterDiv", "ref"), ("ResourceScatterDiv", "resource"))
    ],
    *[one for name in NAMES for one in rows_of(name)],
    *[case(f"{op}{name}", Var(NAN_TARGET, kind), repeated(40, 9), NAN_UPDATES, id="NaN")
      for name in ("Min", "Max") for op, kind in (("Scatter", "ref"), ("ResourceScatter", "resource"))],
    *[case(f"TensorScatter{name}", NAN_TARGET.astype("float16"), repeated(40, 9)[:, None],
           NAN_UPDATES.astype("float16"), id="NaN")
      for name in ("Min", "Max")],
    *[one for name in NAMES if name != "Update" for one in large(name)],
    *[one for name in NAMES if name not in ("Mul", "Div") for one in slices_of(name)],
    *[case("ScatterAdd", Var(arr(5, 3, dtype=d), "ref"), i32(3, 0, 3), arr(3, 3, dtype=d)) for d in INTEGERS],
    *[case("ScatterUpdate", Var(arr(5, 3, dtype=d), "ref"), i32(3, 0), arr(2, 3, dtype=d)) for d in (*INTEGERS, "bool")],
    *[case("TensorScatterUpdate", arr(5, dtype=d), i32([[3], [0]]), arr(2, dtype=d)) for d in (*INTEGERS, "bool", "float16")],
    case("ScatterNdNonAliasingAdd", arr(5, 2), i32([[3], [0], [3]]), arr(3, 2)),
    case("ScatterNd", i32([[4], [1], [4]]), arr(3), i32(6)),
    case("ScatterNd", i32([[0, 1], [1, 0], [0, 1]]), arr(3, 4), i32(2, 3, 4)),
    case("ScatterNd", np.zeros((0, 1), np.int32), arr(0, 2), i32(3, 2)),
    case("ScatterNd", repeated(2000, 30).reshape(2000, 1), arr(2000, 7), i32(30, 7), id="large", rtol=2e-5),
    *[case("ScatterNd", i32([[4], [1], [4]]), arr(3, dtype=d), i32(6)) for d in (*INTEGERS, "float16", "bfloat16")],
]  # fmt: skip
