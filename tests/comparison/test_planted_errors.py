"""A comparison of a dump with its reference names the node in which an error was planted, first, with its line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.observers.dump.writer import WRITER
from tests.comparison.cpu_reference import plain_config, write_reference
from tests.comparison.planted_networks import NETWORKS, Plants, Step, graph_of, plants_of
from tests.runtime.device import device_session
from tf2npu.comparison.comparison import Comparison, compare
from tf2npu.comparison.verdicts import Thresholds

Network = Callable[[Plants], Step]
PLANTED = [(network, key, node) for network in NETWORKS for key, node in plants_of(network).items()]


def _compared(network: Network, planted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_before: int = 0) -> Comparison:
    """A step of a network with an error on the device against the right one on TensorFlow.

    n_before: steps from the first values that are made before it.
    """
    monkeypatch.chdir(tmp_path)
    dump, reference = tmp_path / "dump", tmp_path / "reference" / str(n_before)
    dump.mkdir()
    reference.mkdir(parents=True)
    graph, step, first = graph_of(network)
    with tf.Session(graph=graph, config=plain_config()) as session:
        session.run(first)
        for _ in range(n_before):
            session.run(step.train, step.feeds)
        write_reference(session, step.train, step.feeds, reference)
    graph, step, first = graph_of(network, planted)
    options = {"enable_dump": True, "dump_path": str(dump), "dump_step": str(n_before), "dump_mode": "all", "fusion": "off"}
    with device_session(graph=graph, **options) as session:
        session.run(first)
        for _ in range(n_before + 1):
            session.run(step.train, step.feeds)
    WRITER.flush()
    return compare(dump, reference.parent, graph=None, step=n_before, thresholds=Thresholds({}))


@pytest.mark.parametrize(("network", "key", "node"), PLANTED, ids=lambda one: getattr(one, "__name__", one))
def test_a_planted_error_is_named_first(network, key, node, tmp_path, monkeypatch) -> None:
    found = _compared(network, key, tmp_path, monkeypatch).origin
    assert found is not None
    assert node in (found.name, found.row.operator)
    assert "planted_networks.py" in found.line


@pytest.mark.parametrize("n_before", [0, 3])
@pytest.mark.parametrize("network", NETWORKS, ids=lambda one: one.__name__)
def test_nothing_is_named_where_nothing_is_wrong(network, n_before, tmp_path, monkeypatch) -> None:
    found = _compared(network, "", tmp_path, monkeypatch, n_before)
    assert found.origin is None and found.counts()["agrees"] > 10
