"""Stateful random ops: the numbers TensorFlow's CPU kernels give for the same seeds, run after run of a session."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import per_element
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.random.normals import fill_truncated, normals, uniform_16_bit, uniform_float32
from npu_runtime.kernels.random.philox import RESERVED_PER_OUTPUT, Make, reserve
from npu_runtime.kernels.random.random_prefetch import fill_ahead
from npu_runtime.kernels.shapes import constant_ints, same_as
from npu_runtime.kernels.variable_access import shape_text

FLOAT_OUTPUT = {"dtype": dt.FLOATS, "T": dt.INDICES}
State = dict[str, Any]


def given_shape(shape: Spec, /, *others: Spec, **attrs: Any) -> Shape:
    """The shape that input 0 spells out, as far as it is known."""
    extents = constant_ints(shape)
    if extents is not None:
        return extents
    if shape.shape is None or shape.shape[0:1] == (None,):
        return None
    return (None,) * (shape.shape[0] or 0) if shape.shape else None


def output(shape: np.ndarray, dtype: np.dtype, out: np.ndarray | None) -> np.ndarray:
    """`out`, or a new array. Raises: InvalidArgument for a shape that is none."""
    if shape.ndim > 1:
        raise InvalidArgument(f"shape must be a vector of {{int32,int64}}, got shape {shape_text(shape.shape)}")
    extents = tuple(int(n) for n in shape.reshape(-1))
    if any(n < 0 for n in extents):
        raise InvalidArgument(f"Dimension {next(n for n in extents if n < 0)} must be >= 0")
    return np.empty(extents, dtype) if out is None else out


def uniform(dtype: np.dtype) -> Make:
    return uniform_float32 if dtype == np.float32 else uniform_16_bit(dtype)


def normal(dtype: np.dtype) -> Make:
    return normals if dtype == np.float32 else _narrow_normals


def _narrow_normals(bits: np.ndarray, out: np.ndarray) -> None:
    wide = np.empty(out.shape, np.float32)
    normals(bits, wide)
    out[...] = wide


def draw(made: np.ndarray, make: Make, seed: int, seed2: int, state: State, per_block: int = 4) -> np.ndarray:
    """Fill with this call's numbers."""
    n_reserved = made.size * RESERVED_PER_OUTPUT
    return fill_ahead(made, state, reserve(state, seed, seed2, n_reserved), n_reserved, per_block, make)


@kernel("RandomUniform", unit="vector", shape=given_shape, dtypes=FLOAT_OUTPUT, estimate=per_element(1), ranks={"shape": 1})
def random_uniform(
    shape: np.ndarray, /, *, dtype: str, seed: int = 0, seed2: int = 0, state: State, out: np.ndarray | None = None
) -> np.ndarray:
    """Uniform in [0, 1): fp16, bf16 or fp32 of the given shape.  Source: TensorFlow op `RandomUniform`."""
    made = output(shape, dt.to_numpy(dtype), out)
    return draw(made, uniform(made.dtype), seed, seed2, state)


@kernel(
    "RandomStandardNormal", unit="vector", shape=given_shape, dtypes=FLOAT_OUTPUT, estimate=per_element(20), ranks={"shape": 1}
)
def random_standard_normal(
    shape: np.ndarray, /, *, dtype: str, seed: int = 0, seed2: int = 0, state: State, out: np.ndarray | None = None
) -> np.ndarray:
    """Normal with mean 0 and deviation 1.  Source: TensorFlow op `RandomStandardNormal`."""
    made = output(shape, dt.to_numpy(dtype), out)
    return draw(made, normal(made.dtype), seed, seed2, state)


@kernel("TruncatedNormal", unit="vector", shape=given_shape, dtypes=FLOAT_OUTPUT, estimate=per_element(22), ranks={"shape": 1})
def truncated_normal(
    shape: np.ndarray, /, *, dtype: str, seed: int = 0, seed2: int = 0, state: State, out: np.ndarray | None = None
) -> np.ndarray:
    """Normal with what is further than 2 from 0 drawn again.  Source: TensorFlow op `TruncatedNormal`."""
    made = output(shape, dt.to_numpy(dtype), out)
    return fill_truncated(made, reserve(state, seed, seed2, made.size * RESERVED_PER_OUTPUT))


def integers_in(minval: np.ndarray, maxval: np.ndarray) -> tuple[int, Make]:
    """(values a block gives, how to make them) for integers in [minval, maxval): the remainder of 32 or 64 bits.

    Raises: InvalidArgument when a bound is no scalar or none is between them.
    """
    for name, bound in (("minval", minval), ("maxval", maxval)):
        if bound.ndim:
            raise InvalidArgument(f"{name} must be 0-D, got shape {shape_text(bound.shape)}")
    if minval >= maxval:
        raise InvalidArgument(f"Need minval < maxval, got {minval} >= {maxval}")
    return 16 // minval.itemsize, _integers_from(int(minval), int(maxval) - int(minval), minval.itemsize)


@lru_cache(maxsize=64)
def _integers_from(low: int, count: int, n_bytes: int) -> Make:
    bits_of: Any = {4: np.uint32, 8: np.uint64}[n_bytes]
    span, first = bits_of(count), bits_of(low % (1 << 8 * n_bytes))

    def make(bits: np.ndarray, out: np.ndarray) -> None:
        numbers = out.view(bits_of)
        np.remainder(bits.reshape(-1).view(bits_of), span, out=numbers)
        np.add(numbers, first, out=numbers)

    return make


INTEGER_OUTPUT = {"Tout": dt.INDICES, "T": dt.INDICES}


@kernel("RandomUniformInt", unit="vector", shape=given_shape, dtypes=INTEGER_OUTPUT, estimate=per_element(2), ranks={"shape": 1})
def random_uniform_int(
    shape: np.ndarray, minval: np.ndarray, maxval: np.ndarray, /, *, seed: int = 0, seed2: int = 0, state: State,
    out: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """Integers in [minval, maxval).  Source: TensorFlow op `RandomUniformInt`."""
    per_block, make = integers_in(minval, maxval)
    return draw(output(shape, minval.dtype, out), make, seed, seed2, state, per_block)


@kernel("RandomShuffle", unit="memory", shape=same_as(0))
def random_shuffle(
    value: np.ndarray, /, *, seed: int = 0, seed2: int = 0, state: State, out: np.ndarray | None = None
) -> np.ndarray:
    """The rows in a random order.

    The exchanges of Fisher and Yates depend on each other, so this is a loop over the rows.
    Source: TensorFlow op `RandomShuffle`.
    """
    made = np.empty_like(value, order="C") if out is None else out
    n_rows = value.shape[0] if value.ndim else 1
    if n_rows <= 1 or value.size <= 1:
        np.copyto(made, value)
        return made
    stream = reserve(state, seed, seed2, (n_rows + 2) // 4)
    numbers = stream.blocks(np.arange((n_rows + 2) // 4, dtype=np.uint64)).reshape(-1)[: n_rows - 1].astype(np.int64)
    other = np.arange(n_rows - 1) + numbers % np.arange(n_rows, 1, -1)
    order = list(range(n_rows))
    for i, j in enumerate(other.tolist()):
        order[i], order[j] = order[j], order[i]
    return np.take(value, order, axis=0, out=made)


def samples_shape(logits: Spec, num_samples: Spec, /, *others: Spec, **attrs: Any) -> Shape:
    count = constant_ints(num_samples)
    return (logits.shape[0] if logits.shape else None, count[0] if count else None)


@kernel(
    "Multinomial", unit="vector", shape=samples_shape, dtypes={"T": dt.FLOATS, "output_dtype": dt.INDICES},
    estimate=per_element(30),
)  # fmt: skip
def multinomial(
    logits: np.ndarray, num_samples: np.ndarray, /, *, seed: int = 0, seed2: int = 0, output_dtype: str = "int64", state: State
) -> np.ndarray:
    """num_samples class numbers a row, drawn with the probabilities softmax(logits): (B, C) -> (B, num_samples).

    Raises: InvalidArgument for a wrong rank, no classes or a negative count.

    The numbers are those of TensorFlow when it does not split the batch over threads; where it does (large batches) its
    own result depends on the number of threads.  Source: TensorFlow op `Multinomial`.
    """
    n_rows, count = checked(logits, num_samples)
    if n_rows * count:
        n_reserved = n_rows * (-(-count // 4) * 4) * 2 * RESERVED_PER_OUTPUT
        stream = reserve(state, seed, seed2, n_reserved)
        chances = fill_ahead(np.empty((n_rows, count)), state, stream, n_reserved, 2, doubles)
        return choose(logits, chances, output_dtype)
    return np.empty((n_rows, count), dt.to_numpy(output_dtype))


def checked(logits: np.ndarray, num_samples: np.ndarray) -> tuple[int, int]:
    """(rows, samples)."""
    if logits.ndim != 2:
        raise InvalidArgument(f"logits should be a matrix, got shape {shape_text(logits.shape)}")
    if num_samples.ndim:
        raise InvalidArgument(f"num_samples should be a scalar, got shape {shape_text(num_samples.shape)}")
    if num_samples < 0:
        raise InvalidArgument(f"num_samples should be nonnegative, got {num_samples}")
    if logits.shape[1] == 0:
        raise InvalidArgument("num_classes should be positive, got 0")
    return logits.shape[0], int(num_samples)


def choose(logits: np.ndarray, chances: np.ndarray, dtype: str) -> np.ndarray:
    """The first class whose running sum is above the chance, for all rows in one search.

    Complex numbers are ordered by their real part, then by their imaginary part: (row, sum) is one sorted sequence.
    logits: (rows, classes).  chances: (rows, samples) in [0, 1).
    """
    cumulative = _cumulative(logits)
    rows = np.arange(len(logits), dtype=np.float64)[:, None]
    sequence, sought = _pairs(rows, cumulative), _pairs(rows, chances * cumulative[:, -1:])
    found = np.searchsorted(sequence.reshape(-1), sought.reshape(-1), side="right").reshape(sought.shape)
    return (found - rows.astype(np.int64) * logits.shape[1]).astype(dt.to_numpy(dtype))


def _pairs(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    made = np.empty(second.shape, np.complex128)
    made.real, made.imag = first, second
    return made


def _cumulative(logits: np.ndarray) -> np.ndarray:
    """Running sums of exp(logits - the row's largest); what is not finite weighs nothing."""
    wide = logits.astype(np.float64)
    is_finite = np.isfinite(wide)
    largest = np.max(wide, axis=1, keepdims=True, initial=np.finfo(np.float32).min, where=is_finite)
    with np.errstate(over="ignore", invalid="ignore"):
        weights = np.where(is_finite, np.exp(wide - largest), 0.0)
    return np.cumsum(weights, axis=1)


def doubles(bits: np.ndarray, out: np.ndarray) -> None:
    """[0, 1) in double precision, each from 52 of 64 bits: two a block."""
    words = bits.reshape(-1).astype(np.uint64)
    mantissa = ((words[0::2] & np.uint64(0xFFFFF)) << np.uint64(32)) | words[1::2]
    np.subtract((mantissa | np.uint64(0x3FF << 52)).view(np.float64), 1.0, out=out)
