"""Outputs, gradients and parameters of layers and losses are those of MindSpore 2.10 on its CPU, which a fixture holds."""

from __future__ import annotations

import numpy as np
import pytest
from mindspore import context

from tests.legs.mindspore.layer_cases import CASES, computed
from tests.legs.mindspore.recordings import read

RECORDED = read("layers.npz")


def test_every_case_is_recorded() -> None:
    assert RECORDED.keys() == CASES.keys()


@pytest.mark.parametrize("name", CASES)
def test_values_gradients_and_parameters_are_those_of_mindspore(name: str) -> None:
    context.set_context(mode=context.GRAPH_MODE, device_target="Ascend")
    given = computed(name)
    assert list(given) == list(RECORDED[name])
    for key, value in RECORDED[name].items():
        assert given[key].shape == value.shape, key
        np.testing.assert_allclose(given[key], value, rtol=1e-5, atol=2e-6, err_msg=key)
