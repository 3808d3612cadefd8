"""Drawn shapes, axes and arrays. An array is a shape, a type, a kind of values and a seed: cheap to draw, easy to read."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from npu_runtime import dtypes as dt

EXTENTS = (0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17)
MOST = 3000
"""Elements of a drawn array at most."""
SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-42, 3.4e38, -3.4e38, 1.1754944e-38, 1.0, -1.0, 0.5)
KINDS = ("usual", "wide", "special", "ties", "positive")
Draw = Any
_turns = {"op": itertools.count(), "seed": itertools.count()}


_example = [0]
"""Batches so far: drawn choices come again and again, with the same shapes but other numbers."""
_met: dict[tuple[str, ...], set[str]] = {}
"""Ops in rotation that have come."""


def restart() -> None:
    """Begin anew, so that the draws of a family do not depend on the families before it."""
    _example[0] = 0
    _met.clear()


@st.composite
def batches(draw: Draw, one: st.SearchStrategy[Any], size: int, start: int | None = None) -> list[Any]:
    """As many calls, their ops in rotation from a place on that is drawn unless given: what is drawn follows from the choices."""
    _example[0] += 1
    start = draw(st.integers(0, 10**6)) if start is None else start
    _turns.update(op=itertools.count(start), seed=itertools.count(start))
    return [draw(one) for _ in range(size)]


def names(text: str) -> tuple[str, ...]:
    """Ops of a family."""
    return tuple(text.split())


def in_turn(ops: Sequence[str]) -> str:
    """One op after the other: drawn ones come in heaps."""
    op = ops[next(_turns["op"]) % len(ops)]
    _met.setdefault(tuple(ops), set()).add(op)
    return op


def not_yet_met() -> list[int]:
    """The places in the rotation of ops that have not come since `restart`."""
    return [place for ops, met in _met.items() for place, op in enumerate(ops) if op not in met]


def seed(draw: Draw) -> int:
    """A drawn number, different in every call."""
    return draw(st.integers(0, 2**16)) + (next(_turns["seed"]) << 16) + (_example[0] << 40)


def shape(draw: Draw, least: int = 0, most: int = 4, extents: tuple[int, ...] = EXTENTS) -> tuple[int, ...]:
    made = tuple(draw(st.lists(st.sampled_from(extents), min_size=least, max_size=most)))
    while math.prod(made) > MOST:
        made = tuple(max(1, n // 2) for n in made)
    return made


def broadcasting(draw: Draw, of: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that broadcasts to `of`: some extents 1, some leading axes missing."""
    dropped = draw(st.integers(0, len(of)))
    return tuple(1 if draw(st.booleans()) and draw(st.booleans()) else n for n in of[dropped:])


def array(
    draw: Draw, of: tuple[int, ...], dtype: str, kind: str | None = None, low: float = -2.0, high: float = 2.0
) -> np.ndarray:
    """Values of one kind; kind None draws it.  low, high: of kind "usual"."""
    if kind is None:
        kind = draw(st.sampled_from(KINDS))
    return values(of, dtype, kind, seed(draw), low, high)


def values(of: tuple[int, ...], dtype: str, kind: str, number: int, low: float = -2.0, high: float = 2.0) -> np.ndarray:
    rng = np.random.default_rng(number)
    if dtype == "bool":
        return rng.random(of) < 0.5
    if dtype in dt.INTEGERS or dtype.startswith("uint"):
        return _integers(rng, of, np.dtype(dtype), kind, low, high)
    made = rng.uniform(low, high, of)
    if kind == "wide":
        made = np.sign(made) * np.power(10.0, rng.uniform(-20, 20, of))
    elif kind == "special":
        made = np.where(rng.random(of) < 0.4, rng.choice(SPECIAL, of), made)
    elif kind == "ties":
        made = np.round(made)
    elif kind == "positive":
        made = np.abs(made) + 1e-3
    with np.errstate(all="ignore"):
        return np.asarray(made, np.float32).astype(dt.to_numpy(dtype))


def _integers(rng: Any, of: tuple[int, ...], dtype: np.dtype, kind: str, low: float, high: float) -> np.ndarray:
    if kind in ("wide", "special"):
        ends = np.iinfo(dtype)
        return rng.integers(ends.min, ends.max, of, dtype=dtype, endpoint=True)
    least = max(int(low), 0) if dtype.kind == "u" else int(low)
    return rng.integers(least, max(int(high), least) + 3, of).astype(dtype)


def axes(draw: Draw, rank: int) -> np.ndarray:
    """Some axes, from either end, each once: (n,) int32 or int64, sometimes ()."""
    chosen = draw(st.lists(st.sampled_from(range(rank)), unique=True, max_size=rank)) if rank else []
    signed = [axis - rank if draw(st.booleans()) else axis for axis in chosen]
    dtype = draw(st.sampled_from(("int32", "int64")))
    return np.array(signed[0] if len(signed) == 1 and draw(st.booleans()) else signed, dtype)


def indices(draw: Draw, of: tuple[int, ...], n: int, dtype: str | None = None) -> np.ndarray:
    """Numbers of [0, n); n must not be 0 unless the shape is empty."""
    dtype = dtype or draw(st.sampled_from(("int32", "int64")))
    return np.random.default_rng(seed(draw)).integers(0, max(n, 1), of).astype(dtype)


def without_denormals(x: np.ndarray) -> np.ndarray:
    """Zeros in the place of numbers that TensorFlow's threads flush to zero."""
    if x.dtype.name not in ("float32", "bfloat16"):
        return x
    return np.where(np.abs(x.astype(np.float64)) < 1.1754944e-38, x.dtype.type(0), x)


def moderate(x: np.ndarray) -> np.ndarray:
    """Ones in the place of numbers whose products overflow: a sum that does on the way depends on the order of its terms."""
    if x.dtype.kind in "iu":
        return x
    wide = np.abs(x.astype(np.float64))
    return np.where(np.isfinite(wide) & (wide > 1e15), x.dtype.type(1), x)
