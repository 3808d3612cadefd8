"""Twenty steps of training give what MindSpore 2.10 gives on its CPU, from equal weights and batches (recorded in a fixture)."""

from __future__ import annotations

import numpy as np
import pytest
from mindspore import context

from tests.legs.mindspore.recordings import read
from tests.legs.mindspore.training_cases import CASES, MODES

RECORDED = read("training.npz")
REPEATED = {("transformer", "PYNATIVE_MODE"), ("transformer_adam", "GRAPH_MODE"), ("lenet_built_in_step", "PYNATIVE_MODE")}
"""Runs that take seconds and ask in another mode, or with another optimizer, what others ask."""
RUNS = [
    pytest.param(name, mode, marks=[pytest.mark.whole] * ((name, mode) in REPEATED)) for name in CASES for mode in MODES[name]
]
ADDED_LATER = {"parameter global_step"}
"""Parameters that 2.10 always has; r1.1 has them only where the rate changes."""
RENAMED_LATER = {"parameter learning_rate_group_0": "parameter 5.learning_rate"}
"""Parameters by their names in 2.10, with those in r1.1, where a rate of a group is named by its last place in a list."""
OF_ONE_ELEMENT = {"parameter beta1_power", "parameter beta2_power"}
"""Parameters that have shape (1,) in r1.1 and are scalars in 2.10."""

WITHOUT_A_GRADIENT = {("transformer_adam", "parameter layers.0.attention.key.bias")}
"""Parameters whose gradient is zero but for rounding, which Adam makes as large as any: softmax does not see this bias."""
OF_ONE_AXIS = {"parameter beta1_power", "parameter beta2_power"}
"""Parameters that have no axes in 2.10; r1.1 has them with one of one element."""


@pytest.fixture(autouse=True)
def mode_put_back():
    before = context.get_context("mode")
    yield
    context.set_context(mode=before)


def expected(name: str, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The recorded arrays of a case, by the names of r1.1, and without parameters that r1.1 need not have."""
    kept = {key: value for key, value in RECORDED[name].items() if key in given or key not in ADDED_LATER}
    return {RENAMED_LATER.get(key, key): value for key, value in kept.items()}


@pytest.mark.parametrize(("name", "mode"), RUNS)
def test_losses_and_parameters_are_those_of_mindspore(name: str, mode: str) -> None:
    context.set_context(mode=getattr(context, mode), device_target="Ascend")
    given = {key: np.asarray(value) for key, value in CASES[name]().items()}
    wanted = expected(name, given)
    assert set(given) == set(wanted) if name != "lamb" else set(given) >= set(wanted)
    for key, value in wanted.items():
        if (name, key) in WITHOUT_A_GRADIENT:
            continue
        if key in OF_ONE_AXIS:
            value = value.reshape(1)
        if value.dtype.kind in "fi":
            assert given[key].shape == value.shape or key in OF_ONE_ELEMENT, key
            np.testing.assert_allclose(given[key], value, rtol=1e-5, atol=1e-5, err_msg=key)
        else:
            np.testing.assert_array_equal(given[key], value, err_msg=key)


def test_every_case_is_recorded() -> None:
    assert RECORDED.keys() == CASES.keys()


def test_the_planted_overflow_is_in_the_recording() -> None:
    recording = RECORDED["dynamic_loss_scale"]
    assert np.flatnonzero(recording["overflows"]).tolist() == [7]
    assert np.isfinite(recording["losses"]).all() and recording["scales"][7] * 2 == recording["scales"][6]
