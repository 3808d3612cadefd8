"""Differences by rounding alone, and their consequences, are told apart from others."""

from __future__ import annotations

import numpy as np

from tests.comparison.hand_made import Sample
from tests.comparison.test_result_table import compared


def verdicts(made: Sample) -> dict[str, str]:
    return {row.tensor: row.verdict for row in compared(made).rows if row.tensor != "NaN"}


def node(
    made: Sample, name: str, op_type: str, source: str, taken: np.ndarray, device: np.ndarray, reference: np.ndarray
) -> None:
    made.operator(name, op_type, [f"{source}:0"])
    made.tensor(name, reference)
    made.dump(op_type, name, [taken], [device])


def gradients(n_moved: int) -> tuple[np.ndarray, np.ndarray]:
    """Those of a maximum on either side, of which some were selected otherwise."""
    reference = np.zeros(100_000, np.float32)
    reference[::10] = np.random.default_rng(1).normal(size=10_000)
    device = reference.copy()
    for place in range(0, 10 * n_moved, 10):
        device[place], device[place + 1] = 0, reference[place]
    return device, reference


def test_near_ties_of_a_maximum_are_rounding_and_what_follows_is(tmp_path):
    made = Sample(tmp_path)
    device, reference = gradients(3)
    made.operator("dy", "Data")
    made.tensor("dy", reference)
    node(made, "pool", "MaxPoolGrad", "dy", reference, device, reference)
    node(made, "scaled", "Mul", "pool", device, device * 2, reference * 2)
    node(made, "wrong", "Mul", "scaled", device * 2, device * 3, reference * 2)
    made.write_graph()
    assert verdicts(made) == {
        "pool:input:0": "agrees", "pool:output:0": "rounding", "scaled:input:0": "rounding", "scaled:output:0": "rounding",
        "wrong:input:0": "rounding", "wrong:output:0": "differs",
    }  # fmt: skip
    first = compared(made).first_difference()
    assert first is not None and first.operator == "wrong"


def test_a_wrong_window_is_a_difference(tmp_path):
    made = Sample(tmp_path)
    device, reference = gradients(10_000)
    made.operator("dy", "Data")
    made.tensor("dy", reference)
    node(made, "pool", "MaxPoolGrad", "dy", reference, device, reference)
    made.write_graph()
    assert verdicts(made)["pool:output:0"] == "differs"


def test_a_variable_that_was_copied_after_its_update_is_not_judged_where_its_reader_agrees(tmp_path):
    made = Sample(tmp_path)
    before, after = np.arange(1, 7, dtype=np.float32), np.arange(2, 8, dtype=np.float32)
    made.operator("w", "Variable")
    made.tensor("w", after)
    node(made, "w/read", "Identity", "w", before, before, before)
    node(made, "w/again", "Identity", "w", before, before, after)
    made.write_graph()
    assert verdicts(made) == {
        "w/read:input:0": "not compared", "w/read:output:0": "agrees",
        "w/again:input:0": "differs", "w/again:output:0": "differs",
    }  # fmt: skip
