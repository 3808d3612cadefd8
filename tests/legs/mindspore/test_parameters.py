"""Parameters: the types that the device has not, their texts and their names."""

from __future__ import annotations

import numpy as np
import pytest
from mindspore import Parameter, ParameterTuple, Tensor, nn, ops
from mindspore import float32 as single


class Scaled(nn.Cell):
    """The sum of what is scaled by a parameter."""

    def __init__(self, values):
        super().__init__()
        self.weight = Parameter(Tensor(values), name="weight")

    def construct(self, x):
        return ops.ReduceSum()(self.weight * x)


@pytest.mark.parametrize("kind", [np.float64, np.uint16, np.uint32, np.uint64])
def test_parameters_of_types_that_the_device_has_not_are_read_and_written(mode, kind):
    class Counts(nn.Cell):
        def __init__(self):
            super().__init__()
            self.count = Parameter(Tensor(np.full(2, 3, kind)), name="count")

        def construct(self, x):
            before = ops.Cast()(self.count, single) * 1.0
            ops.Assign()(self.count, x)
            return before

    net, five = Counts(), Tensor(np.full(2, 5, kind))
    np.testing.assert_array_equal(net(five).asnumpy(), [3, 3])
    np.testing.assert_array_equal(net.count.asnumpy(), [5, 5])
    net.count.set_data(Tensor(np.full(2, 7, kind)))
    np.testing.assert_array_equal(net(five).asnumpy(), [7, 7])


def test_two_graphs_see_one_value_of_such_a_parameter():
    net = Scaled(np.ones(2))
    step = nn.TrainOneStepCell(net, nn.Momentum(net.trainable_params(), 0.1, 0.9))
    x = Tensor(np.array([1.0, 2.0]))
    assert net(x).asnumpy() == 3
    step(x)
    np.testing.assert_allclose(net.weight.asnumpy(), [0.9, 0.8], rtol=1e-6)
    np.testing.assert_allclose(net(x).asnumpy(), 2.5, rtol=1e-6)


def test_parameters_are_named_in_texts():
    net = Scaled(np.ones(2, np.float32))
    assert repr(net.weight) == str(net.weight) == "Parameter (name=weight)"


def test_numbers_become_parameters_of_32_bits_and_truth_values_none():
    assert (repr(Parameter(1, name="n").dtype), repr(Parameter(1.0, name="x").dtype)) == ("Int32", "Float32")
    with pytest.raises(ValueError, match=r"Parameter\(True\): a tensor or a number"):
        Parameter(True, name="flag")


def test_a_tuple_of_parameters_tells_those_of_one_name_apart():
    one, other, third = (Parameter(Tensor(np.ones(1, np.float32)), name=name) for name in ("w", "w", "b"))
    assert [each.name for each in ParameterTuple([one, other, third, one])] == ["w_0", "w_1", "b", "w_0"]


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (np.array([1, -20], np.int32), "Tensor(shape=[2], dtype=Int32, value= [  1, -20])"),
        (np.array([0.5], np.float32), "Tensor(shape=[1], dtype=Float32, value= [ 5.00000000e-01])"),
        (np.array([0.5], np.float16), "Tensor(shape=[1], dtype=Float16, value= [ 5.0000e-01])"),
        (np.array([True, False]), "Tensor(shape=[2], dtype=Bool, value= [ True, False])"),
        (np.array([[1, 2], [3, 4]], np.int64), "Tensor(shape=[2, 2], dtype=Int64, value=\n[[1, 2],\n [3, 4]])"),
        (np.float32(2), "Tensor(shape=[], dtype=Float32, value= 2)"),
        (np.zeros((0, 2), np.int32), "Tensor(shape=[0, 2], dtype=Int32, value=\n[])"),
    ],
)
def test_tensors_are_written_with_their_shape_type_and_values(values, text):
    assert repr(Tensor(values)) == text


def test_long_tensors_are_cut_within_their_text():
    lines = repr(Tensor(np.arange(64).reshape(8, 8))).split("\n")
    assert lines[1] == "[[ 0,  1,  2 ...  5,  6,  7]," and lines[4] == " ..." and len(lines) == 8
