"""Cases of npu_runtime.kernels.linalg.linear_algebra_solves."""

import numpy as np

from tests.kernels.harness import arr, case

# TensorFlow solves in fp32, the kernels in fp64: what differs is TensorFlow's rounding, times the condition of the matrix.
ROUNDING = {"rtol": 1e-4}


def well(*shape: int) -> np.ndarray:
    """Matrices with a small condition."""
    return (arr(*shape) * 0.2 + 2 * np.eye(shape[-1])).astype(np.float32)


def definite(*shape: int) -> np.ndarray:
    x = arr(*shape)
    return (x @ x.swapaxes(-1, -2) + 3 * np.eye(shape[-1])).astype(np.float32)


SHAPES = ((4, 4), (1, 1), (2, 3, 5, 5), (0, 3, 3))


def with_one(x: np.ndarray, row: int, column: int, value: float) -> np.ndarray:
    x[row, column] = value
    return x


CASES = [
    case("Cholesky", -definite(3, 3), id="not definite", checks="shape"),  # the upper half is what was in memory
    *[case("Cholesky", definite(*s), **ROUNDING) for s in SHAPES],
    *[case("MatrixInverse", well(*s), adjoint=a, **ROUNDING) for s in SHAPES for a in (False, True)],
    *[case(op, well(*s), **ROUNDING) for op in ("MatrixDeterminant", "LogMatrixDeterminant") for s in SHAPES],
    case("LogMatrixDeterminant", -well(3, 3), **ROUNDING),
    *[case(op, with_one(well(3, 3), row, column, value), id=f"{value} at {row},{column}")
      for op in ("MatrixDeterminant", "LogMatrixDeterminant")
      for value in (np.nan, np.inf, -np.inf) for row, column in ((0, 0), (1, 2), (2, 0))],
    *[case(op, np.zeros((2, 3, 3), np.float32), id="singular") for op in ("MatrixDeterminant", "LogMatrixDeterminant")],
    *[case("MatrixSolve", well(*s), arr(*s[:-1], 2), adjoint=a, **ROUNDING) for s in SHAPES for a in (False, True)],
    *[case("MatrixTriangularSolve", well(*s), arr(*s[:-1], 2), lower=w, adjoint=a, **ROUNDING)
      for s in SHAPES for w in (False, True) for a in (False, True)],
    case("MatrixTriangularSolve", well(2, 1, 4, 4), arr(3, 4, 2), **ROUNDING),
    *[case("MatrixTriangularSolve", x, y, lower=w, adjoint=a, id=f"not finite {w} {a}", **ROUNDING)
      for x, y in ((with_one(well(4, 4), 2, 1, np.inf), arr(4, 2)), (with_one(well(4, 4), 1, 2, np.nan), arr(4, 2)),
                   (well(4, 4), with_one(arr(4, 2), 1, 0, -np.inf)), (with_one(well(4, 4), 1, 1, np.inf), arr(4, 2)))
      for w in (False, True) for a in (False, True)],
    *[case("Cross", arr(4, 3, dtype=d), arr(4, 3, dtype=d, seed=1))
      for d in ("float32", "int32", "int64", "float16", "bfloat16")],
    *[case("TridiagonalMatMul", arr(*b, 1, 5), arr(*b, 1, 5, seed=1), arr(*b, 1, 5, seed=2), arr(*b, 5, 2)) for b in ((), (3,))],
    *[case("TridiagonalSolve", arr(*b, 3, 5) + np.float32([[0], [5], [0]]), arr(*b, 5, 2), **ROUNDING) for b in ((), (3,))],
]  # fmt: skip
