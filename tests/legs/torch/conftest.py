"""The tests of the leg torch: the simulated device of PyTorch, on the path as `tf2npu run` puts it there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "tf2npu" / "adapters" / "pytorch")]

import torch  # noqa: E402
import torch_npu  # noqa: E402, F401

from tests.legs.torch.rank_pool import RankPool  # noqa: E402

torch.set_num_threads(1)  # of several, a convolution may add in another order from run to run


@pytest.fixture(scope="session")
def pair(tmp_path_factory):
    """Two ranks, which have run a case when it returns: what each has given."""
    pool = RankPool(2, tmp_path_factory.mktemp("two") / "meeting")
    yield pool.run
    assert pool.close() == [0, 0]


@pytest.fixture(scope="session")
def four(tmp_path_factory):
    """Four ranks, as `pair`."""
    pool = RankPool(4, tmp_path_factory.mktemp("four") / "meeting")
    yield pool.run
    assert pool.close() == [0] * 4
