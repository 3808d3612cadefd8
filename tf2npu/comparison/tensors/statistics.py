"""Statistics of a tensor's elements, in a few figures."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tf2npu.comparison.tensors.block_sums import BLOCK


def statistics(flat: np.ndarray) -> Iterator[tuple[str, str]]:
    """(label, text): least, most, mean and deviation of the finite elements, and how many are zero, NaN or infinite."""
    n = n_zero = n_nan = n_infinite = 0
    total = squares = 0.0
    least, most = np.inf, -np.inf
    for start in range(0, len(flat), BLOCK):
        block = flat[start : start + BLOCK].real.astype(np.float64)
        n_nan += int(np.isnan(block).sum())
        n_infinite += int(np.isinf(block).sum())
        n_zero += int((block == 0).sum())
        finite = block[np.isfinite(block)]
        n += len(finite)
        total += float(finite.sum())
        with np.errstate(over="ignore"):
            squares += float(np.square(finite).sum())
        least, most = min(least, finite.min(initial=np.inf)), max(most, finite.max(initial=-np.inf))
    if n:
        mean = total / n
        yield from (("least", f"{least:.6g}"), ("most", f"{most:.6g}"), ("mean", f"{mean:.6g}"))
        yield "std", f"{max(squares / n - mean * mean, 0.0) ** 0.5:.6g}"
    counts = [f"{count} {name}" for count, name in ((n_zero, "zero"), (n_nan, "NaN"), (n_infinite, "infinite")) if count]
    if counts:
        yield "of these", ", ".join(counts)
