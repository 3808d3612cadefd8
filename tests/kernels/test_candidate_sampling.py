"""Samplers go on where their last call ended, and refuse what TensorFlow refuses."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels import oracle
from tests.kernels.harness import Case, call, case
from tests.kernels.raising import assert_raises_alike

OPS = ("LogUniformCandidateSampler", "UniformCandidateSampler")
TRUE = np.array([[1], [7]], np.int64)


def sampler(op: str, n_sampled: int, unique: bool, range_max: int, true: np.ndarray = TRUE, num_true: int = 1) -> Case:
    return case(op, true, num_true=num_true, num_sampled=n_sampled, unique=unique, range_max=range_max, seed=3, seed2=4)


@pytest.mark.parametrize("unique", [False, True])
@pytest.mark.parametrize("range_max", [64, 100, 5000])
@pytest.mark.parametrize("op", OPS)
def test_every_run_gives_tensorflow_s_next_candidates(op: str, range_max: int, unique: bool) -> None:
    one = sampler(op, 33, unique, range_max)
    state: dict[str, object] = {}
    for n_runs in (1, 2, 3):
        mine = call(one, one.flat(), state=state)
        theirs, _ = oracle.run(one, n_runs)
        np.testing.assert_array_equal(mine[0], theirs[0])
        for counted, expected in zip(mine[1:], theirs[1:], strict=True):
            np.testing.assert_allclose(counted, expected, rtol=1e-6)


@pytest.mark.parametrize("op", OPS)
def test_refusals(op: str) -> None:
    assert_raises_alike(sampler(op, 65, True, 64))
    assert_raises_alike(sampler(op, 5, True, 64, TRUE[:, 0]))
    assert_raises_alike(sampler(op, 5, True, 64, num_true=2))
    assert_raises_alike(sampler(op, 5, False, 7))
