"""Sums over long arrays in blocks, rounded as numpy rounds them over the whole array.

numpy sums a long array a buffer at a time and adds up what these give, in order.  Doing the same gives the same bits from blocks
of bounded size, and so the vendor's figures without further arrays of the tensor's size.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

_BUFFER = 8192
"""Elements of numpy's buffer, its documented default (numpy.getbufsize)."""
BLOCK = 4 * _BUFFER
"""Elements of a block: its temporary arrays stay in a processor's second cache."""


def block_sums(n: int, terms_of: Callable[[slice], tuple[np.ndarray, ...]]) -> np.ndarray:
    """The sum of each term over n elements, in the precision of the terms.

    terms_of: arrays of the elements of a slice, all of one element type; called in order.
    """
    if n <= _BUFFER:
        return np.array([term.sum() for term in terms_of(slice(0, n))])
    found = [_buffer_sums(terms_of(slice(start, min(start + BLOCK, n)))) for start in range(0, n, BLOCK)]
    sums = found[0] if len(found) == 1 else np.concatenate(found, axis=1)
    return sums[:, 0] if sums.shape[1] == 1 else np.add.accumulate(sums, axis=1)[:, -1]


def _buffer_sums(terms: tuple[np.ndarray, ...]) -> np.ndarray:
    """The sum of each buffer of each term: an array of terms x buffers."""
    n = len(terms[0])
    n_whole = n // _BUFFER
    rest = n_whole * _BUFFER
    sums = np.empty((len(terms), n_whole + (rest < n)), terms[0].dtype)
    for row, term in zip(sums, terms, strict=True):
        if n_whole:
            row[:n_whole] = term[:rest].reshape(-1, _BUFFER).sum(axis=1)
        if rest < n:
            row[-1] = term[rest:].sum()
    return sums
