"""Origins of differences: constants that bring one in, ties of maxima, and the model whose steps the reference has."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.comparison.hand_made import Sample
from tf2npu.comparison.comparison import Comparison, compare
from tf2npu.comparison.steps import choose
from tf2npu.comparison.verdicts import Thresholds


def _compared(made: Sample) -> Comparison:
    made.write_graph()
    return compare(made.step, made.reference, graph=made.graph, step=None, thresholds=Thresholds({}))


def test_a_constant_that_differs_is_where_it_begins(tmp_path: Path) -> None:
    made, x = Sample(tmp_path), np.arange(4, dtype=np.float32)
    made.operator("factor", "Const")
    made.operator("x", "Data")
    made.operator("scaled", "Mul", ["x:0", "factor:0"])
    made.tensor("x", x)
    made.tensor("factor", np.float32([2, 2, 2, 2]))
    made.tensor("scaled", 2 * x)
    made.dump("Mul", "scaled", [x, np.float32([3, 3, 3, 3])], [3 * x])
    origin = _compared(made).origin
    assert origin is not None
    assert (origin.name, origin.op_type, origin.is_outside, origin.row.operator) == ("factor", "Const", True, "scaled")


def test_of_several_models_the_one_with_the_steps_of_the_reference_is_taken(tmp_path: Path) -> None:
    """As of an Estimator, whose first step asks for summaries too and is a model of its own, with more operators."""
    for model, steps, n_files in (("graph_1", (0,), 3), ("graph_2", (0, 5), 2)):
        for step in steps:
            folder = tmp_path / "dump" / "20261127000000" / "0" / model / "1" / str(step)
            folder.mkdir(parents=True)
            for n in range(n_files):
                (folder / f"Relu.r{n}.{n}.0.{n:016d}").write_bytes(b"")
    for step in (0, 5):
        (tmp_path / "reference" / str(step)).mkdir(parents=True)
        np.save(tmp_path / "reference" / str(step) / "r0.0.0000000000000001.npy", np.zeros(1))
    assert choose(tmp_path / "dump", tmp_path / "reference", None).dump.model == "graph_2"
