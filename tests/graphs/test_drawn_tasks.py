"""Small networks of the benchmarks' second generator train on the device as on TensorFlow, and none of their ops on the host."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.models.drawn import Draws
from benchmarks.models.drawn_tasks.generator import KINDS, network
from tests.graphs.check import compare, distance
from tests.graphs.training import Training, by_session

N_STEPS = 4
TOLERANCE = 1e-4
"""As for the graphs of `test_graphs`: difference over TensorFlow's value."""


class SmallDraws(Draws):
    """Sizes near the least, other choices as they are."""

    def size(self, least: int, most: int) -> int:
        return super().size(least, min(most, least + 2))


def small_network(index: int) -> Training:
    _, model = network(index, SmallDraws)
    return by_session(model.loss, model.train, lambda _: model.feeds)


@pytest.mark.parametrize("index", range(len(KINDS)), ids=[kind.__name__ for kind in KINDS])
def test_trains_as_on_tensorflow(index: int, tmp_path: Path) -> None:
    outcome = compare(lambda: small_network(index), N_STEPS, tmp_path)
    assert len({step.loss for step in outcome.theirs}) == N_STEPS
    assert outcome.record.host_nodes == {}
    assert {node for node in outcome.executed if outcome.op_types.get(node, "Const") != "Const"} == set()
    for theirs, mine in zip(outcome.theirs, outcome.mine, strict=True):
        assert distance(mine.loss, theirs.loss) <= TOLERANCE
        far = {name: distance(mine.after[name], value) for name, value in theirs.after.items()}
        assert {name: apart for name, apart in far.items() if apart > TOLERANCE} == {}
