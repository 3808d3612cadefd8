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
OF_ONE_AXIS = {"parameter beta1_power", "parameter beta2_power"}
"""Parameters that have no axes in 2.10; r1.1 has them with one of one element."""


@pytest.fixture(autouse=True)
def mode_put_back():
    before = context.get_context("mode")
    yield
    context.set_context(mode=before)


def expected(name: str, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The recorded arrays of a case, without parameters that r1.1 need not have."""
    return {key: value for key, value in RECORDED[name].items() if key in given or key not in ADDED_LATER}


@pytest.mark.parametrize(("name", "mode"), RUNS)
def test_losses_and_parameters_are_those_of_mindspore(name: str, mode: str) -> None:
    context.set_context(mode=getattr(context, mode), device_target="Ascend")
    given = {key: np.asarray(value) for key, value in CASES[name]().items()}
    wanted = expected(name, given)
    assert set(given) == set(wanted) if name != "lamb" else set(given) >= set(wanted)
    for key, value in wanted.items():
        if key in OF_ONE_AXIS:
            value = value.reshape(1)
        if value.dtype.kind in "fi":
            assert given[key].shape == value.shape, key
            np.testing.assert_allclose(given[key], value, rtol=1e-5, atol=1e-5, err_msg=key)
        else:
            np.testing.assert_array_equal(given[key], value, err_msg=key)


def test_every_case_is_recorded() -> None:
    assert RECORDED.keys() == CASES.keys()


def test_the_planted_overflow_is_in_the_recording() -> None:
    recording = RECORDED["dynamic_loss_scale"]
    assert np.flatnonzero(recording["overflows"]).tolist() == [7]
    assert np.isfinite(recording["losses"]).all() and recording["scales"][7] * 2 == recording["scales"][6]
