"""Random bits to floats: uniform, normal by Box and Muller, truncated normal by rejection, bit for bit as TensorFlow's.

TensorFlow calls glibc's single-precision logf and sincosf, whose results differ from the nearest float in 1 to 2 of 100
values; so they are evaluated here as glibc does: table and polynomials in double precision, one rounding at the end.
Source of the constants: glibc 2.28 and later, which took these functions from Arm's optimized routines (MIT licence).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from npu_runtime.kernels.random.philox import RESERVED_PER_OUTPUT, TILE, Make, Stream
from npu_runtime.kernels.threads.parallel import parallel_ranges, scratch

_hex = float.fromhex
_LOG_TABLE = (  # 1/c and log(c) for c in the middle of each sixteenth of [0.7, 1.4)
    ("0x1.661ec79f8f3bep+0", "-0x1.57bf7808caadep-2"),
    ("0x1.571ed4aaf883dp+0", "-0x1.2bef0a7c06ddbp-2"),
    ("0x1.49539f0f010bp+0", "-0x1.01eae7f513a67p-2"),
    ("0x1.3c995b0b80385p+0", "-0x1.b31d8a68224e9p-3"),
    ("0x1.30d190c8864a5p+0", "-0x1.6574f0ac07758p-3"),
    ("0x1.25e227b0b8eap+0", "-0x1.1aa2bc79c81p-3"),
    ("0x1.1bb4a4a1a343fp+0", "-0x1.a4e76ce8c0e5ep-4"),
    ("0x1.12358f08ae5bap+0", "-0x1.1973c5a611cccp-4"),
    ("0x1.0953f419900a7p+0", "-0x1.252f438e10c1ep-5"),
    ("0x1p+0", "0x0p+0"),
    ("0x1.e608cfd9a47acp-1", "0x1.aa5aa5df25984p-5"),
    ("0x1.ca4b31f026aap-1", "0x1.c5e53aa362eb4p-4"),
    ("0x1.b2036576afce6p-1", "0x1.526e57720db08p-3"),
    ("0x1.9c2d163a1aa2dp-1", "0x1.bc2860d22477p-3"),
    ("0x1.886e6037841edp-1", "0x1.1058bc8a07ee1p-2"),
    ("0x1.767dcf5534862p-1", "0x1.4043057b6ee09p-2"),
)
_INVERSE = np.array([_hex(inverse) for inverse, _ in _LOG_TABLE])
_LOG = np.array([_hex(log) for _, log in _LOG_TABLE])
_LN2 = _hex("0x1.62e42fefa39efp-1")
_LOG_POLYNOMIAL = tuple(map(_hex, ("-0x1.00ea348b88334p-2", "0x1.5575b0be00b6ap-2", "-0x1.ffffef20a4123p-2")))
_COS = (1.0, *map(_hex, ("-0x1.ffffffd0c621cp-2", "0x1.55553e1068f19p-5", "-0x1.6c087e89a359dp-10", "0x1.99343027bf8c3p-16")))
_SIN = tuple(map(_hex, ("-0x1.555545995a603p-3", "0x1.1107605230bc4p-7", "-0x1.994eb3774cf24p-13")))
_HALF_PI = _hex("0x1.921fb54442d18p0")
_QUADRANT_SCALE = _hex("0x1.45f306dc9c883p+23")  # 2^24 * 2 / pi
_TWO_PI = 2.0 * np.pi
CHUNK = 16384
"""Blocks of four numbers turned into normals at once. With fewer, calls of numpy are so short that threads wait for Python's
lock."""
_MANTISSA, _ONE_BITS = (np.broadcast_to(np.uint32(bits), 4 * TILE) for bits in (0x7FFFFF, 0x3F800000))
_ONE = np.broadcast_to(np.float32(1), 4 * TILE)
N_MANTISSAS = 1 << 23
"""Uniform numbers in fp32 are the multiples of 1 / N_MANTISSAS below 1."""
CUTOFF = np.float32(2.0)
"""Truncated normals are those nearer to 0 than this."""


def log_as_glibc(x: np.ndarray) -> np.ndarray:
    """logf of positive normal fp32 values."""
    bits = x.view(np.int32)
    offset = bits - np.int32(0x3F330000)
    place = (offset >> 19) & 15
    mantissa = (bits - (offset & np.int32(-0x800000))).view(np.float32).astype(np.float64)
    r = mantissa * _INVERSE[place] - 1.0
    base = _LOG[place] + (offset >> 23) * _LN2 + r
    square = r * r
    result = (_LOG_POLYNOMIAL[1] * r + _LOG_POLYNOMIAL[2] + _LOG_POLYNOMIAL[0] * square) * square + base
    return result.astype(np.float32)


def sincos_as_glibc(angle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """sincosf of fp32 values in [0, 120)."""
    wide = angle.astype(np.float64)
    quadrant = ((wide * _QUADRANT_SCALE).astype(np.int32) + 0x800000) >> 24
    x = wide - quadrant * _HALF_PI
    square = x * x
    np.negative(x, out=x, where=((quadrant + 1) & 2) != 0)
    cube, fourth = square * x, square * square
    sine = (x + cube * _SIN[0]) + (cube * square) * (_SIN[1] + square * _SIN[2])
    cosine = (_COS[0] + square * _COS[1]) + fourth * _COS[2] + (fourth * square) * (_COS[3] + square * _COS[4])
    np.negative(cosine, out=cosine, where=(quadrant & 2) != 0)
    sin32, cos32 = sine.astype(np.float32), cosine.astype(np.float32)
    is_tiny = angle < np.float32(2.0**-12)
    np.copyto(sin32, angle, where=is_tiny)
    np.copyto(cos32, np.float32(1), where=is_tiny)
    is_odd = (quadrant & 1) != 0
    return np.where(is_odd, cos32, sin32), np.where(is_odd, sin32, cos32)


def uniform_float32(bits: np.ndarray, out: np.ndarray) -> None:
    """[0, 1) from the low 23 bits: the mantissa of a number in [1, 2), minus 1. Uses the bits up."""
    flat = bits.reshape(-1)
    np.bitwise_and(flat, _MANTISSA[: flat.size], flat)
    np.bitwise_or(flat, _ONE_BITS[: flat.size], flat)
    np.subtract(flat.view(np.float32), _ONE[: flat.size], out)


@lru_cache(maxsize=64)
def uniform_at_least(bound: float) -> Make:
    """Whether numbers of `uniform_float32` are at least a bound, told by the mantissas alone; none is for NaN.

    bound: a number of fp32; denormal ones are 0, as they are where values are compared.
    """
    least = 0 if bound < np.finfo(np.float32).tiny else N_MANTISSAS if not bound < 1 else math.ceil(bound * N_MANTISSAS)
    limits = np.broadcast_to(np.uint32(least), 4 * TILE)

    def make(bits: np.ndarray, out: np.ndarray) -> None:
        flat = bits.reshape(-1)
        np.bitwise_and(flat, _MANTISSA[: flat.size], flat)
        np.greater_equal(flat, limits[: flat.size], out)

    return make


@lru_cache(maxsize=8)
def uniform_16_bit(dtype: np.dtype) -> Make:
    """[0, 1) from as many low bits as the mantissa of fp16 (10) or bf16 (7) has."""
    one = int(np.ones((), dtype).view(np.uint16))
    mask = 0x3FF if dtype == np.float16 else 0x7F

    def make(bits: np.ndarray, out: np.ndarray) -> None:
        mantissa = (bits.reshape(-1) & np.uint32(mask)).astype(np.uint16) | np.uint16(one)
        np.subtract(mantissa.view(dtype), np.ones((), dtype), out=out)

    return make


def normals(bits: np.ndarray, out: np.ndarray) -> None:
    """Standard normals in fp32, two from two numbers. Uses the bits up."""
    for first in range(0, bits.shape[0], CHUNK):
        _box_muller(bits[first : first + CHUNK], out[4 * first : 4 * (first + CHUNK)])


def _box_muller(bits: np.ndarray, out: np.ndarray) -> None:
    values = scratch("normals", (bits.size,))
    uniform_float32(bits, values)
    radius = np.sqrt(np.float32(-2) * log_as_glibc(np.maximum(values[0::2], np.float32(1e-7))))
    sine, cosine = sincos_as_glibc((_TWO_PI * values[1::2].astype(np.float64)).astype(np.float32))
    np.multiply(sine, radius, out=out[0::2])
    np.multiply(cosine, radius, out=out[1::2])


def fill_truncated(out: np.ndarray, stream: Stream) -> np.ndarray:
    """Fill with truncated normals: each group of four has its own part of the stream and rejects until it is full."""
    flat = out.reshape(-1)

    def work(start: int, stop: int) -> None:
        for first in range(start, stop, TILE):
            last = min(first + TILE, stop)
            place = flat[4 * first : 4 * last]
            offsets = np.arange(first, last, dtype=np.uint64) * np.uint64(RESERVED_PER_OUTPUT)
            place[...] = _truncated(stream, offsets).reshape(-1)[: place.size]

    parallel_ranges(-(-flat.size // 4), work, TILE)
    return out


def _truncated(stream: Stream, offsets: np.ndarray) -> np.ndarray:
    """(n,) offsets of groups -> (n, 4) fp32."""
    values = _groups(stream, offsets)
    short = np.flatnonzero(np.abs(values).max(axis=1) >= CUTOFF)
    if short.size:
        values[short] = _first_four(stream, offsets[short], values[short])
    return values


def _groups(stream: Stream, offsets: np.ndarray) -> np.ndarray:
    made = np.empty((offsets.size, 4), np.float32)
    normals(stream.blocks(offsets), made.reshape(-1))
    return made


def _first_four(stream: Stream, offsets: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """(n, 4): the first four that are near enough to 0 out of drawn, (n, 4k) from k blocks, and what comes after."""
    drawn = np.concatenate([drawn, _groups(stream, offsets + np.uint64(drawn.shape[1] // 4))], axis=1)
    is_far = np.abs(drawn) >= CUTOFF
    chosen = np.take_along_axis(drawn, np.argsort(is_far, axis=1, kind="stable")[:, :4], axis=1)
    short = np.flatnonzero(np.count_nonzero(is_far, axis=1) > drawn.shape[1] - 4)
    if short.size:
        chosen[short] = _first_four(stream, offsets[short], drawn[short])
    return chosen
