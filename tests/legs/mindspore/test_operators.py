"""Values and gradients of primitives are those of MindSpore 2.10 on its CPU, which a fixture holds."""

from __future__ import annotations

import numpy as np
import pytest
from mindspore import context

from tests.legs.mindspore.operator_cases import CASES, computed
from tests.legs.mindspore.recordings import read

RECORDED = read("operators.npz")
TYPES_OF_R1_1 = {("ArgMaxWithValue", "out 0"): "int32", ("ArgMinWithValue", "out 0"): "int32"}
"""Types that changed from r1.1 to 2.10."""


def test_every_case_is_recorded() -> None:
    assert RECORDED.keys() == CASES.keys()


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_are_those_of_mindspore(name: str) -> None:
    context.set_context(mode=context.GRAPH_MODE, device_target="Ascend")
    given = computed(name)
    assert given.keys() == RECORDED[name].keys()
    for key, value in RECORDED[name].items():
        assert given[key].shape == value.shape, key
        if value.dtype.kind == "f":
            np.testing.assert_allclose(given[key], value, rtol=1e-5, atol=1e-6, err_msg=key)
        else:
            np.testing.assert_array_equal(given[key], value, err_msg=key)
        assert given[key].dtype == TYPES_OF_R1_1.get((name, key), value.dtype), key
