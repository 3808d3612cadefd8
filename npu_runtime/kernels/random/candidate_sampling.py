"""Random classes for sampled losses: the candidates TensorFlow's CPU kernels draw for the same seeds, run after run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import count, islice
from typing import Any, NamedTuple

import numpy as np

from npu_runtime.cost.work import per_element
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.random.philox import Stream, reserve
from npu_runtime.kernels.random.random import State
from npu_runtime.kernels.random.random_prefetch import fill_ahead
from npu_runtime.kernels.threads.row_indexing import are_inside, n_inside

WORDS_PER_CANDIDATE = 2048
"""Random words that a call reserves for each candidate.  Source: TensorFlow core/kernels/candidate_sampler_ops.cc."""
FEWEST_BLOCKS = 16
"""Blocks of random words made at once; each makes two candidates."""
MOST_KEPT = 1 << 16
"""Classes up to which the chances of all are computed once."""
_WORD_BITS = (1 << 64) - 1
"""The mask of an unsigned number of 64 bits, as which TensorFlow counts."""
Sample = tuple[np.ndarray, np.ndarray, np.ndarray]


class Distribution(NamedTuple):
    """draw(words): candidates out of (n, 2) uint32, at most one a pair, in order.  chance(values): fp32 probabilities."""

    draw: Callable[[np.ndarray], np.ndarray]
    chance: Callable[[np.ndarray], np.ndarray]


@lru_cache(64)
def log_uniform(range_max: int) -> Distribution:
    """Class c with probability log((c + 2) / (c + 1)) / log(range_max + 1): classes sorted by falling frequency."""
    log_range = np.log1p(np.float64(range_max))

    def draw(words: np.ndarray) -> np.ndarray:
        wide = words.astype(np.uint64)
        mantissa = ((wide[:, 0] & np.uint64(0xFFFFF)) << np.uint64(32)) | wide[:, 1]
        uniform = (mantissa | np.uint64(0x3FF << 52)).view(np.float64) - 1.0
        return (np.exp(uniform * log_range).astype(np.int64) - 1) % range_max

    def chance(values: np.ndarray) -> np.ndarray:
        return (np.log((values + 2.0) / (values + 1.0)) / log_range).astype(np.float32)

    if range_max <= MOST_KEPT:
        return Distribution(draw, chance(np.arange(range_max)).take)
    return Distribution(draw, chance)


def uniform(range_max: int) -> Distribution:
    """Every class alike; numbers that would favour the small ones are left out.  Source: core/lib/random/exact_uniform_int.h."""
    rejected = 0 if range_max & (range_max - 1) == 0 else _WORD_BITS % range_max + 1

    def draw(words: np.ndarray) -> np.ndarray:
        wide = words.astype(np.uint64)
        numbers = wide[:, 0] | (wide[:, 1] << np.uint64(32))
        return (numbers[numbers >= np.uint64(rejected)] % np.uint64(range_max)).astype(np.int64)

    return Distribution(draw, lambda values: np.full(values.shape, np.float32(1.0 / range_max), np.float32))


def _draws(draw: Callable[[np.ndarray], np.ndarray], words: np.ndarray, stream: Stream) -> Iterator[int]:
    """Candidates out of words, (n_blocks, 4) uint32 from the stream, then out of those that follow them."""
    n_blocks = len(words)
    yield from draw(words.reshape(-1, 2)).tolist()
    for first in count(n_blocks, n_blocks):
        more = stream.blocks(np.arange(first, first + n_blocks, dtype=np.uint64))
        yield from draw(more.reshape(-1, 2)).tolist()


def _as_they_are(bits: np.ndarray, out: np.ndarray) -> None:
    np.copyto(out, bits.reshape(-1))


def _pick(draws: Iterator[int], n_wanted: int, is_unique: bool) -> tuple[list[int], int]:
    """(candidates, tries). Each unique candidate depends on those before it, so this is a loop over them."""
    if not is_unique:
        return list(islice(draws, n_wanted)), n_wanted
    picked: dict[int, None] = {}
    n_tries = 0
    while len(picked) < n_wanted:
        n_tries += 1
        picked.setdefault(next(draws))
    return list(picked), n_tries


def _expected_counts(chance: np.ndarray, n_sampled: int, n_tries: int) -> np.ndarray:
    """The expected counts of classes of probability `chance`.  Source: core/kernels/range_sampler.cc, ExpectedCountHelper."""
    if n_tries == n_sampled:
        return chance * np.float32(n_sampled)
    return -np.expm1(np.float32(n_tries) * np.log1p(-chance))


def _outputs_shape(true_classes: Spec, /, *, num_sampled: int, **attrs: Any) -> list[Shape]:
    return [(num_sampled,), true_classes.shape, (num_sampled,)]


def _sample(
    distribution: Distribution, true_classes: np.ndarray, counts: tuple[int, int, int], is_unique: bool, seeds: tuple[int, int],
    state: State,
) -> Sample:  # fmt: skip
    """Candidates and how often they and the true classes are expected among them.

    true_classes: (B, num_true) int64.  counts: num_true, num_sampled, range_max.  is_unique: no class twice.
    Returns: (num_sampled,) int64; (B, num_true) fp32; (num_sampled,) fp32.
    Raises: InvalidArgument for a wrong shape, or more unique candidates than classes.
    """
    num_true, num_sampled, range_max = counts
    if true_classes.ndim != 2:
        raise InvalidArgument("true_classes must be a matrix")
    if true_classes.shape[1] != num_true:
        raise InvalidArgument(f"true_classes must have num_true columns, expected: {true_classes.shape[1]} was: {num_true}")
    if is_unique and num_sampled > range_max:
        raise InvalidArgument("Sampler's range is too small.")
    if not are_inside(true_classes, range_max):
        wrong = true_classes.reshape(-1)[n_inside(true_classes, range_max)]
        raise InvalidArgument(f"`true_candidate` out of range [0, {range_max}), received {wrong}")
    n_reserved = num_sampled * WORDS_PER_CANDIDATE // 4
    stream = reserve(state, *seeds, n_reserved)
    words = np.empty((max(num_sampled, FEWEST_BLOCKS), 4), np.uint32)
    draws = _draws(distribution.draw, fill_ahead(words, state, stream, n_reserved, 4, _as_they_are), stream)
    picked, n_tries = _pick(draws, num_sampled, is_unique)
    candidates = np.array(picked, np.int64)
    of_true, of_sampled = (_expected_counts(distribution.chance(v), num_sampled, n_tries) for v in (true_classes, candidates))
    return candidates, of_true, of_sampled


@kernel("LogUniformCandidateSampler", unit="vector", shape=_outputs_shape, estimate=per_element(30))
def log_uniform_candidate_sampler(
    true_classes: np.ndarray, /, *, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int = 0,
    seed2: int = 0, state: State,
) -> Sample:  # fmt: skip
    """Classes in [0, range_max), small numbers more often; see `_sample`.  Source: op `LogUniformCandidateSampler`."""
    make = log_uniform(range_max)
    return _sample(make, true_classes, (num_true, num_sampled, range_max), unique, (seed, seed2), state)


@kernel("UniformCandidateSampler", unit="vector", shape=_outputs_shape, estimate=per_element(10))
def uniform_candidate_sampler(
    true_classes: np.ndarray, /, *, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int = 0,
    seed2: int = 0, state: State,
) -> Sample:  # fmt: skip
    """Classes in [0, range_max), all alike; see `_sample`.  Source: TensorFlow op `UniformCandidateSampler`."""
    make = uniform(range_max)
    return _sample(make, true_classes, (num_true, num_sampled, range_max), unique, (seed, seed2), state)


def _hits_shape(true_classes: Spec, sampled_candidates: Spec, /, **attrs: Any) -> list[Shape]:
    return [(None,), (None,), (None,)]


@kernel("ComputeAccidentalHits", unit="vector", shape=_hits_shape, ignores=("seed", "seed2"))
def compute_accidental_hits(true_classes: np.ndarray, sampled_candidates: np.ndarray, /, *, num_true: int) -> Sample:
    """Sampled candidates that are true classes.

    true_classes: (B, num_true) int64.  sampled_candidates: (S,) int64.
    Returns: for each hit its row (n,) int32, its place among the candidates (n,) int64, the lowest fp32 (n,).
    Raises: InvalidArgument for a wrong shape.
    Source: TensorFlow op `ComputeAccidentalHits`; of equal candidates the last counts.
    """
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
        raise InvalidArgument("true_candidates must be a batch_size * num_true matrix")
    if sampled_candidates.ndim != 1:
        raise InvalidArgument("sampled_candidates must be a vector, which is typically the output from CandidateSampler")
    order = np.argsort(sampled_candidates, kind="stable")
    place = np.searchsorted(sampled_candidates[order], true_classes, side="right") - 1
    found = order[np.maximum(place, 0)] if order.size else np.zeros(place.shape, np.int64)
    is_hit = (place >= 0) & (sampled_candidates[found] == true_classes) if order.size else np.zeros(place.shape, bool)
    rows = np.nonzero(is_hit)[0].astype(np.int32)
    return rows, found[is_hit], np.full(rows.size, np.finfo(np.float32).min, np.float32)
