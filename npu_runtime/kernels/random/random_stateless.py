"""Stateless random ops: the numbers follow from the seed, or the key and counter, given as inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import per_element
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import Refuse, kernel
from npu_runtime.kernels.random.normals import fill_truncated
from npu_runtime.kernels.random.philox import Make, Stream, fill
from npu_runtime.kernels.random.random import (
    checked,
    choose,
    doubles,
    given_shape,
    integers_in,
    normal,
    output,
    samples_shape,
    uniform,
)
from npu_runtime.kernels.variable_access import shape_text

SEED = {"T": dt.INDICES, "Tseed": dt.INDICES}
FLOATS_BY_SEED = {"dtype": dt.FLOATS, **SEED}
INTEGERS_BY_SEED = {"dtype": dt.INDICES, **SEED}
FLOATS_BY_KEY = {"dtype": dt.FLOATS, "Tshape": dt.INDICES}
INTEGERS_BY_KEY = {"dtype": dt.INDICES, "Tshape": dt.INDICES}
SHAPE_AND_ALGORITHM = {"shape": 1, "alg": 0}
"""Ranks of the inputs that say what is drawn, and how."""
SCRAMBLING_KEY = 0x02461E293EC8F720
"""The key by which TensorFlow scrambles a seed.  Source: TensorFlow core/kernels/stateless_random_ops.cc."""
PHILOX, THREEFRY, AUTO = 1, 2, 3
"""Numbers of the generators.  Source: tf.random.Algorithm."""


def from_seed(seed: np.ndarray) -> Stream:
    """The stream of a pair of integers, scrambled by one block of Philox so that weak seeds do no harm.

    Raises: InvalidArgument when there are not two.  Source: TensorFlow's stateless kernels.
    """
    if seed.shape != (2,):
        raise InvalidArgument(f"seed must have shape [2], not {shape_text(seed.shape)}")
    low, high = (int(n) & 0xFFFFFFFFFFFFFFFF for n in seed)
    words = [int(n) for n in Stream(SCRAMBLING_KEY, low | high << 64).blocks(np.zeros(1, np.uint64))[0]]
    return Stream(words[0] | words[1] << 32, (words[2] | words[3] << 32) << 64)


def require_philox(alg: np.ndarray) -> None:
    """Raises: InvalidArgument for another algorithm."""
    if int(alg) not in (PHILOX, AUTO):
        raise InvalidArgument(f"Unsupported algorithm id: {int(alg)}")


def from_key(key: np.ndarray, counter: np.ndarray, alg: np.ndarray) -> Stream:
    """The stream at a counter: key (1,) uint64, counter (2,) uint64, the low word first."""
    require_philox(alg)
    if key.shape != (1,):
        raise InvalidArgument(f"key must have shape [1], not {shape_text(key.shape)}")
    if counter.ndim != 1 or counter.size < 2:
        raise InvalidArgument(f"counter must be a vector of at least 2 elements, not {shape_text(counter.shape)}")
    return Stream(int(key[0]), int(counter[0]) | int(counter[1]) << 64)


def not_threefry(position: int) -> Refuse:
    """Refuses the algorithm ThreeFry, where the input at a position says it beforehand."""

    def refuse(specs: Sequence[Spec], attrs: dict[str, Any]) -> str | None:
        """The algorithm ThreeFry."""
        algorithm = specs[position].value
        is_threefry = algorithm is not None and algorithm.size == 1 and int(algorithm) == THREEFRY
        return "only Philox is done, not ThreeFry" if is_threefry else None

    return refuse


_not_philox = not_threefry(3)


def _register(name: str, fill_with: Callable[[np.ndarray, Stream], np.ndarray], flops: float) -> None:
    """The op by seed, and its V2 by key and counter."""

    def by_seed(shape: np.ndarray, seed: np.ndarray, /, *, dtype: str, out: np.ndarray | None = None) -> np.ndarray:
        return fill_with(output(shape, dt.to_numpy(dtype), out), from_seed(seed))

    def by_key(
        shape: np.ndarray, key: np.ndarray, counter: np.ndarray, alg: np.ndarray, /, *, dtype: str, out: np.ndarray | None = None
    ) -> np.ndarray:
        return fill_with(output(shape, dt.to_numpy(dtype), out), from_key(key, counter, alg))

    fixed: dict[str, Any] = {"unit": "vector", "shape": given_shape, "estimate": per_element(flops)}
    kernel(name, dtypes=FLOATS_BY_SEED, ranks={"shape": 1}, **fixed)(by_seed)
    kernel(f"{name}V2", dtypes=FLOATS_BY_KEY, ranks=SHAPE_AND_ALGORITHM, refuse=_not_philox, **fixed)(by_key)


_register("StatelessRandomUniform", lambda made, stream: fill(made, stream, 4, uniform(made.dtype)), 1)
_register("StatelessRandomNormal", lambda made, stream: fill(made, stream, 4, normal(made.dtype)), 20)
_register("StatelessTruncatedNormal", fill_truncated, 22)


@kernel(
    "StatelessRandomUniformInt",
    unit="vector",
    shape=given_shape,
    dtypes=INTEGERS_BY_SEED,
    estimate=per_element(2),
    ranks={"shape": 1, "minval": 0, "maxval": 0},
)
def uniform_int_by_seed(
    shape: np.ndarray, seed: np.ndarray, minval: np.ndarray, maxval: np.ndarray, /, *, out: np.ndarray | None = None
) -> np.ndarray:
    """Integers in [minval, maxval).  Source: TensorFlow op `StatelessRandomUniformInt`."""
    return fill(output(shape, minval.dtype, out), from_seed(seed), *integers_in(minval, maxval))


@kernel(
    "StatelessRandomUniformIntV2", unit="vector", shape=given_shape, dtypes=INTEGERS_BY_KEY, estimate=per_element(2),
    refuse=_not_philox, ranks={**SHAPE_AND_ALGORITHM, "minval": 0, "maxval": 0},
)  # fmt: skip
def uniform_int_by_key(
    shape: np.ndarray, key: np.ndarray, counter: np.ndarray, alg: np.ndarray, minval: np.ndarray, maxval: np.ndarray, /, *,
    out: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """Integers in [minval, maxval).  Source: TensorFlow op `StatelessRandomUniformIntV2`."""
    return fill(output(shape, minval.dtype, out), from_key(key, counter, alg), *integers_in(minval, maxval))


def _any_bits(dtype: np.dtype) -> tuple[int, Make]:
    return 16 // dtype.itemsize, lambda bits, out: np.copyto(out, bits.reshape(-1).view(dtype))


@kernel("StatelessRandomUniformFullInt", unit="vector", shape=given_shape, dtypes=INTEGERS_BY_SEED, ranks={"shape": 1})
def full_int_by_seed(shape: np.ndarray, seed: np.ndarray, /, *, dtype: str, out: np.ndarray | None = None) -> np.ndarray:
    """Integers of all values.  Source: TensorFlow op `StatelessRandomUniformFullInt`."""
    made = output(shape, dt.to_numpy(dtype), out)
    return fill(made, from_seed(seed), *_any_bits(made.dtype))


@kernel(
    "StatelessRandomUniformFullIntV2", unit="vector", shape=given_shape, dtypes=INTEGERS_BY_KEY, refuse=_not_philox,
    ranks=SHAPE_AND_ALGORITHM,
)  # fmt: skip
def full_int_by_key(
    shape: np.ndarray, key: np.ndarray, counter: np.ndarray, alg: np.ndarray, /, *, dtype: str, out: np.ndarray | None = None
) -> np.ndarray:
    """Integers of all values.  Source: TensorFlow op `StatelessRandomUniformFullIntV2`."""
    made = output(shape, dt.to_numpy(dtype), out)
    return fill(made, from_key(key, counter, alg), *_any_bits(made.dtype))


@kernel("StatelessMultinomial", unit="vector", shape=samples_shape, estimate=per_element(30),
        dtypes={"T": dt.FLOATS, "Tseed": dt.INDICES, "output_dtype": dt.INDICES})  # fmt: skip
def multinomial_by_seed(
    logits: np.ndarray, num_samples: np.ndarray, seed: np.ndarray, /, *, output_dtype: str = "int64"
) -> np.ndarray:
    """num_samples class numbers a row; see `Multinomial`.  Source: TensorFlow op `StatelessMultinomial`."""
    chances = fill(np.empty(checked(logits, num_samples)), from_seed(seed), 2, doubles)
    return choose(logits, chances, output_dtype)


def _key_and_counter(*specs: Spec, **attrs: Any) -> list[Shape]:
    return [(1,), (2,)]


@kernel("StatelessRandomGetKeyCounter", unit="scalar", shape=_key_and_counter, dtypes={"Tseed": dt.INDICES})
def get_key_counter(seed: np.ndarray, /) -> tuple[np.ndarray, np.ndarray]:
    """Key (1,) uint64 and counter (2,) uint64 of a seed.  Source: TensorFlow op `StatelessRandomGetKeyCounter`."""
    stream = from_seed(seed)
    return np.array([stream.key], np.uint64), np.array([stream.counter & 0xFFFFFFFFFFFFFFFF, stream.counter >> 64], np.uint64)


@kernel("StatelessRandomGetAlg", unit="scalar", shape=lambda: ())
def get_alg() -> np.ndarray:
    """The algorithm, Philox, as on TensorFlow's CPU: () int32.  Source: TensorFlow op `StatelessRandomGetAlg`."""
    return np.array(PHILOX, np.int32)


@kernel("StatelessRandomGetKeyCounterAlg", unit="scalar", shape=lambda seed: [(1,), (2,), ()], dtypes={"Tseed": dt.INDICES})
def get_key_counter_alg(seed: np.ndarray, /) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Key, counter and algorithm of a seed.  Source: TensorFlow op `StatelessRandomGetKeyCounterAlg`."""
    return (*get_key_counter(seed), get_alg())
