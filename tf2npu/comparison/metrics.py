"""The ten figures of a result table, as the vendor's comparison program computes and prints them.

All is computed in float32, sums rounded as numpy rounds them.  Source: the behaviour of msaccucmp (package mindstudio-probe
26.2.0); the texts of the table are its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from tf2npu.comparison.tensors.block_sums import block_sums

ALGORITHMS = (
    "CosineSimilarity", "MaxAbsoluteError", "AccumulatedRelativeError", "RelativeEuclideanDistance", "KullbackLeiblerDivergence",
    "StandardDeviation", "MeanAbsoluteError", "RootMeanSquareError", "MaxRelativeError", "MeanRelativeError",
)  # fmt: skip
"""The columns, in their order."""
NOT_COMPUTED = "NaN"
"""The text where there is no figure.  A figure that is no number is printed as `nan` or `inf`."""
ZERO_BELOW = np.float32(np.finfo(np.float64).eps)
"""Amounts up to this count as zero: that of float64, though all is float32."""
_LEAST_SHARE = np.finfo(np.float32).eps
"""The least that an element of a distribution is lifted to before its logarithm is taken."""
_LEAST_SHOWN = 0.001
"""Means and deviations nearer to zero than this are printed as zero."""
_LEAST_SQUARES = np.float32(1e-30)
"""Sums of squares below this have lost digits in float32."""
_NO_MAXIMUM = "zero-size array to reduction operation maximum which has no identity"
_NO_DIFFERENCE = (
    "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` operator, or the logical_xor "
    "function instead."
)
"""Messages of numpy for the maximum of an empty array and for the difference of booleans. The vendor's program prints them as the
reason."""


@dataclass(frozen=True)
class Finite:
    """Sums over two arrays without NaN and infinity.  signal, noise: sums of squares of the reference and of the difference.
    largest: amount in either, or of an error.  largest_error: of the difference.

    largest: amount in either, or of an error.  largest_error: of the difference.
    """

    signal: float
    noise: float
    largest: float
    largest_error: float


@dataclass
class Figures:
    """values: of each algorithm that gave a number.  texts: as printed.  reasons: in the order of the algorithms.

    finite: what further columns are computed from; None where an element is not finite.
    """

    values: dict[str, float] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    finite: Finite | None = None

    def put(self, name: str, value: float | np.floating) -> None:
        self.values[name] = float(value)
        self.texts[name] = f"{value:.6f}"

    def refuse(self, name: str, reason: str) -> None:
        self.texts[name] = NOT_COMPUTED
        self.reasons.append(reason)

    def fail(self, name: str, error: str) -> None:
        self.refuse(name, f"Failed to execute 'compare' in '{name}'. {error}")

    def row(self) -> list[str]:
        """The texts in the order of the columns."""
        return [self.texts[name] for name in ALGORITHMS]


def not_computed() -> list[str]:
    """The texts of a row without figures."""
    return [NOT_COMPUTED] * len(ALGORITHMS)


def figures(x: np.ndarray, y: np.ndarray, *, is_scalar: bool, x_file: str, y_file: str) -> Figures:
    """The figures of two arrays of one dimension and equal length.

    x, y: of the device and of the reference, any numbers or booleans.  is_scalar: every extent of the shape is one.
    x_file, y_file: named in reasons.
    """
    found = Figures()
    with np.errstate(all="ignore"):
        if x.dtype == y.dtype == np.bool_:
            _of_booleans(found, x, y, is_scalar, (x_file, y_file))
        else:
            _of_numbers(found, x, y, is_scalar, (x_file, y_file))
    return found


@dataclass
class _Extremes:
    """Gathered block by block: the least and largest elements, and the largest errors; NaN where one is."""

    x_least: list[np.float32] = field(default_factory=list)
    x_most: list[np.float32] = field(default_factory=list)
    y_least: list[np.float32] = field(default_factory=list)
    y_most: list[np.float32] = field(default_factory=list)
    error: list[np.float32] = field(default_factory=list)
    relative: list[np.float32] = field(default_factory=list)
    x_sum: float = 0.0
    y_sum: float = 0.0


def _of_numbers(found: Figures, x: np.ndarray, y: np.ndarray, is_scalar: bool, files: tuple[str, str]) -> None:
    n = len(x)
    most = _Extremes()
    if n and x.dtype == y.dtype and bool((x == y).all()) and _of_equal(found, x, is_scalar, files):
        return
    squares_x, squares_y, squares, absolute, relative = block_sums(n, partial(_first_pass, x, y, most))
    found.finite = _finite(most, squares_y, squares)
    norms = np.sqrt(squares_x), np.sqrt(squares_y)
    mean = np.float64(most.x_sum) / n if n else np.nan, np.float64(most.y_sum) / n if n else np.nan
    ranges = (_range(most.x_least, most.x_most), _range(most.y_least, most.y_most)) if n else None
    second = _second_pass(x, y, norms, mean, ranges)
    _cosine(found, norms, second["cosine"], is_scalar, files)
    _largest(found, "MaxAbsoluteError", most.error)
    found.put("AccumulatedRelativeError", relative)
    found.put("RelativeEuclideanDistance", 0.0 if squares_y**0.5 <= ZERO_BELOW else (squares / squares_y) ** 0.5)
    _divergence(found, x, y, ranges, second, files[1])
    found.texts["StandardDeviation"] = _deviation(mean, second, n)
    found.put("MeanAbsoluteError", _mean(absolute, n))
    found.put("RootMeanSquareError", np.sqrt(_mean(squares, n)))
    _largest(found, "MaxRelativeError", most.relative)
    found.put("MeanRelativeError", _mean(relative, n))


def _of_equal(found: Figures, x: np.ndarray, is_scalar: bool, files: tuple[str, str]) -> bool:
    """The same for arrays that are equal, as inputs mostly are: a third of the work.  Returns: whether it could be done."""
    extremes: list[np.float32] = []
    total = 0.0

    def first(part: slice) -> tuple[np.ndarray, ...]:
        nonlocal total
        block = _block(x, part)
        extremes.extend((block.min(), block.max()))
        total += float(block.sum(dtype=np.float64))
        return (block * block,)

    (squares,) = block_sums(len(x), first)
    amount = np.abs(extremes).max()
    if not np.isfinite(squares) or not np.isfinite(2 * amount) or (amount > 0 and squares < _LEAST_SQUARES):
        return False
    norm, mean = np.sqrt(squares), np.float64(total) / len(x)
    second = {"x_squares": 0.0}

    def block_of(part: slice) -> tuple[np.ndarray, ...]:
        block = _block(x, part)
        second["x_squares"] += _squares_about(block, mean)
        share = block / norm
        return (share * share,)

    (cosine,) = block_sums(len(x), block_of)
    _cosine(found, (norm, norm), cosine, is_scalar, files)
    for name in ALGORITHMS[1:]:
        found.put(name, 0.0)
    found.values.pop("StandardDeviation")
    second["y_squares"] = second["x_squares"]
    found.texts["StandardDeviation"] = _deviation((mean, mean), second, len(x))
    found.finite = Finite(float(squares), 0.0, float(amount), 0.0)
    return True


def _squares_about(block: np.ndarray, middle: float | np.floating) -> float:
    """The sum of squares about a number, in float64."""
    about = np.subtract(block, middle, dtype=np.float64)
    return float(np.einsum("i,i->", about, about))  # `@` would start threads


def _first_pass(x: np.ndarray, y: np.ndarray, most: _Extremes, part: slice) -> tuple[np.ndarray, ...]:
    a, b = _block(x, part), _block(y, part)
    difference = a - b
    absolute = np.abs(difference)
    relative = a / b
    relative -= 1
    np.abs(relative, out=relative)
    is_zero = np.abs(b) <= ZERO_BELOW
    if is_zero.any() or np.isnan(relative).any():
        relative = np.where(np.abs(b) > ZERO_BELOW, relative, np.float32(0))
    if len(a):
        for found, amounts in ((most.x_least, a.min()), (most.y_least, b.min()), (most.x_most, a.max()), (most.y_most, b.max())):
            found.append(amounts)
        most.error.append(absolute.max())
        most.relative.append(relative.max())
        most.x_sum += a.sum(dtype=np.float64)
        most.y_sum += b.sum(dtype=np.float64)
    difference *= difference
    return a * a, b * b, difference, absolute, relative


def _finite(most: _Extremes, signal: np.float32, noise: np.float32) -> Finite | None:
    if not most.error:
        return None
    amount_x = max(abs(float(_least(most.x_least))), abs(float(_most(most.x_most))))
    amount_y = max(abs(float(_least(most.y_least))), abs(float(_most(most.y_most))))
    error = float(_most(most.error))
    if not math.isfinite(amount_x + amount_y + error):
        return None
    if any(
        not np.isfinite(square) or (amount > 0 and square < _LEAST_SQUARES)
        for square, amount in ((signal, amount_y), (noise, error))
    ):
        return None
    return Finite(float(signal), float(noise), max(amount_x, amount_y), error)


def _most(amounts: list[np.float32]) -> np.float32:
    """The largest, or NaN where one is: that of numpy, which is slow for a list of one."""
    return amounts[0] if len(amounts) == 1 else np.max(amounts)


def _least(amounts: list[np.float32]) -> np.float32:
    return amounts[0] if len(amounts) == 1 else np.min(amounts)


def _block(array: np.ndarray, part: slice) -> np.ndarray:
    return array[part].real.astype(np.float32, copy=False)


def _range(least: list[np.float32], most: list[np.float32]) -> tuple[np.float32, np.float32]:
    """(least, range); a range of zero means that elements are taken as they are."""
    low = _least(least)
    return low, _most(most) - low


_Pair = tuple[np.float32, np.float32]


def _second_pass(x: np.ndarray, y: np.ndarray, norms: _Pair, mean: tuple, ranges: tuple[_Pair, _Pair] | None) -> dict[str, float]:
    """Sums that need those of the first pass: cosine, shares of the distributions, and squares about the mean in float64."""
    found = {"x_squares": 0.0, "y_squares": 0.0}
    if ranges is None:
        return found | {"cosine": 0.0}

    def block(part: slice) -> tuple[np.ndarray, ...]:
        a, b = _block(x, part), _block(y, part)
        found["x_squares"] += _squares_about(a, mean[0])
        found["y_squares"] += _squares_about(b, mean[1])
        return (a / norms[0]) * (b / norms[1]), _lifted(a, ranges[0]), _lifted(b, ranges[1])

    found["cosine"], found["x_share"], found["y_share"] = block_sums(len(x), block)
    return found


def _lifted(block: np.ndarray, spread: _Pair) -> np.ndarray:
    least, extent = spread
    return np.maximum((block - least) / extent if extent != 0 else block, _LEAST_SHARE)


def _cosine(found: Figures, norms: _Pair, cosine: float, is_scalar: bool, files: tuple[str, str]) -> None:
    name = "CosineSimilarity"
    if is_scalar:
        found.put(name, 1)
        found.reasons.append("This tensor is scalar.")
    elif norms[0] <= ZERO_BELOW and norms[1] < ZERO_BELOW:
        found.put(name, 1)
        found.texts[name] = "1.0"
    elif norms[0] ** 0.5 <= ZERO_BELOW or norms[1] ** 0.5 <= ZERO_BELOW:
        side = files[0] if norms[0] ** 0.5 <= ZERO_BELOW else files[1]
        found.refuse(name, f"Cannot compare by Cosine Similarity. All the data is zero in {side}.")
    else:
        found.put(name, min(cosine, 1.0))


def _largest(found: Figures, name: str, amounts: list[np.float32]) -> None:
    if amounts:
        found.put(name, _most(amounts))
    else:
        found.fail(name, _NO_MAXIMUM)


def _divergence(
    found: Figures, x: np.ndarray, y: np.ndarray, ranges: tuple[_Pair, _Pair] | None, second: dict[str, float], y_file: str
) -> None:
    name = "KullbackLeiblerDivergence"
    if ranges is None:
        found.fail(name, _NO_MAXIMUM)
        return

    def block(part: slice) -> tuple[np.ndarray, ...]:
        a = _lifted(_block(x, part), ranges[0]) / second["x_share"]
        b = _lifted(_block(y, part), ranges[1]) / second["y_share"]
        return (a * np.log(a / b),)

    (divergence,) = block_sums(len(x), block)
    found.put(name, 0.0 if abs(divergence) < ZERO_BELOW else divergence)
    if np.isposinf(divergence):
        found.reasons.append(f"Cannot compare by KL Divergence. The data contains 0 in {y_file!r}.")


def _deviation(mean: tuple, second: dict[str, float], n: int) -> str:
    def shown(value: float) -> str:
        return f"{0.0 if abs(value) < _LEAST_SHOWN else value:.3f}"

    spread = [np.sqrt(np.float64(second[side]) / n) if n else np.nan for side in ("x_squares", "y_squares")]
    return ",".join(f"({shown(middle)};{shown(about)})" for middle, about in zip(mean, spread, strict=True))


def _mean(total: np.float32, n: int) -> np.float32:
    return np.float32(np.float64(total) / n) if n else np.float32("nan")


def _of_booleans(found: Figures, x: np.ndarray, y: np.ndarray, is_scalar: bool, files: tuple[str, str]) -> None:
    n_x, n_y, n_both = (int(np.count_nonzero(part)) for part in (x, y, x & y))
    norms = np.sqrt(np.float64(n_x)), np.sqrt(np.float64(n_y))
    for name in ALGORITHMS:
        if name == "CosineSimilarity":
            _cosine(found, norms, n_both / (norms[0] * norms[1]), is_scalar, files)
        elif name != "RelativeEuclideanDistance":
            found.refuse(name, f"Algorithm {name} does not support Boolean types.")
        elif n_y:
            found.fail(name, _NO_DIFFERENCE)
        else:
            found.put(name, 0.0)
