"""Results of operators as r1.1 gives them: which tensors, of which shapes, from which arguments."""

from __future__ import annotations

import mindspore
import numpy as np
import pytest
from mindspore import Parameter, Tensor, ops

from tests.legs.mindspore.function_cells import Network, floats

NUMBERS = {
    "Adam": ((0.9, 0.99, 0.1, 0.9, 0.99, 1e-8), True),
    "ApplyAdaMax": ((0.9, 0.1, 0.5, 0.75, 0.0), True),
    "ApplyAdadelta": ((1.0, 0.5, 1.0), True),
    "ApplyAdagrad": ((0.1,), True),
    "ApplyAdagradV2": ((0.1,), True),
    "ApplyAddSign": ((0.1, 1.0, 0.5, 0.5), True),
    "ApplyPowerSign": ((0.1, 2.0, 0.5, 0.5), True),
    "ApplyProximalAdagrad": ((0.1, 0.0, 0.0), True),
    "ApplyMomentum": ((0.1,), False),
}
"""The numbers between the parameters and the gradient, and whether the result has all that was written."""


@pytest.mark.parametrize("name", NUMBERS)
def test_update_operators_give_all_that_they_wrote(mode, name):
    operator, (numbers, gives_all) = getattr(ops, name)(), NUMBERS[name]
    written = [Parameter(Tensor(np.full(2, 1 + i, np.float32)), f"part{i}") for i in range(operator.n_written)]
    more = (0.9,) if name == "ApplyMomentum" else ()
    found = Network(lambda gradient: operator(*written, *numbers, gradient, *more))(floats(2, -1))
    found = found if gives_all else (found,)
    assert len(found) == (len(written) if gives_all else 1)
    for tensor, parameter in zip(found, written, strict=False):
        np.testing.assert_array_equal(tensor.asnumpy(), parameter.asnumpy())


def test_tensors_in_the_place_of_parameters_have_their_new_values_in_the_result(mode):
    weight, square, moment = floats(1, 3), floats(2, 1), floats(1, 0)
    step = Network(lambda gradient: ops.ApplyRMSProp()(weight, square, moment, 0.5, gradient, 0.5, 0.25, 0.0))
    found = [one.asnumpy() for one in step(floats(2, -1))]
    gradient = np.array([2, -1])
    squares = 0.5 * np.array([2, 1]) + 0.5 * gradient**2
    moments = 0.25 * np.array([1, 0]) + 0.5 * gradient / np.sqrt(squares)
    np.testing.assert_allclose(found, [np.array([1, 3]) - moments, squares, moments], rtol=1e-6)
    np.testing.assert_array_equal(weight.asnumpy(), [1, 3])


def test_a_parameter_and_a_tensor_are_written_by_one_operator(mode):
    weight = Parameter(floats(1, 3), name="weight")
    step = Network(lambda gradient: ops.SGD()(weight, gradient, floats(0.5)[0], floats(1, 1), floats(0.5)[0], floats(0, 0)))
    found = step(floats(2, -1)).asnumpy()
    np.testing.assert_allclose(found, [1 - 0.5 * 2.5, 3 + 0.5 * 0.5])
    np.testing.assert_array_equal(weight.asnumpy(), found)


def test_sgd_takes_its_arguments_in_one_order_within_and_outside_of_a_cell(mode):
    arguments = [floats(1, 3), floats(2, -1), Tensor(np.float32(0.5)), floats(1, 1), Tensor(np.float32(0.5)), floats(0, 0)]
    alone = ops.SGD()(*arguments)
    np.testing.assert_array_equal(alone.asnumpy(), Network(lambda: ops.SGD()(*arguments))().asnumpy())


def test_other_operators_want_a_parameter():
    with pytest.raises(TypeError, match="ApplyAdagrad writes a Parameter"):
        ops.ApplyAdagrad()(floats(1), floats(1), 0.1, floats(1))


def test_a_network_that_gives_a_parameter_gives_it_itself():
    count = Parameter(floats(1), name="count")

    def counted(x):
        ops.AssignAdd()(count, x)
        return count

    step = Network(counted)
    assert step(floats(2)) is count and count.asnumpy() == 3
    step(floats(2))
    assert count.asnumpy() == 5


def test_normalisation_without_training_gives_the_statistics_that_it_was_given(mode):
    scale, bias, mean, variance = floats(1, 1), floats(0, 0), floats(2, 3), floats(4, 5)
    x = Tensor(np.ones((2, 2), np.float32))
    found = ops.BatchNorm(epsilon=0.0)(x, scale, bias, mean, variance)
    np.testing.assert_allclose(found[0].asnumpy()[0], [-0.5, -2 / np.sqrt(5)], rtol=1e-3)
    for tensor, wanted in zip(found[1:], (mean, variance, mean, variance), strict=True):
        np.testing.assert_array_equal(tensor.asnumpy(), wanted.asnumpy())


def test_shapes_of_drawn_numbers_are_spread_with_those_of_their_distributions(mode):
    alpha, beta = floats([100, 400], [900, 1600]), floats(1)
    found = ops.Gamma(seed=3)((3, 1, 2), alpha, beta)
    assert found.shape == (3, 2, 2)
    np.testing.assert_allclose(found.asnumpy().mean(0), alpha.asnumpy(), rtol=0.3)
    counts = ops.Poisson(seed=5)((4, 1), floats(400, 10000))
    assert counts.shape == (4, 2) and counts.dtype is mindspore.int32
    np.testing.assert_allclose(counts.asnumpy().mean(0), [400, 10000], rtol=0.2)


def test_numbers_that_differ_by_the_tolerance_are_equal_as_the_kernel_of_ascend_has_it():
    found = ops.ApproximateEqual(2.0)(floats(1, 2, 3), floats(2, 4, 6))
    assert found.asnumpy().tolist() == [True, True, False]


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_histograms_are_of_floats_of_both_types(kind):
    numbers, limits = (Tensor(np.array(values, kind)) for values in ([-1, 0, 1.5, 2, 5, 15], [0, 5]))
    assert ops.HistogramFixedWidth(5)(numbers, limits).asnumpy().tolist() == [2, 1, 1, 0, 2]


def test_a_convolution_of_each_channel_has_one_filter_for_it():
    x, weight = (Tensor(np.ones(shape, np.float32)) for shape in ((1, 2, 4, 4), (1, 2, 3, 3)))
    assert ops.DepthwiseConv2dNative(1, 3)(x, weight).shape == (1, 2, 2, 2)
    with pytest.raises(ValueError, match="channel_multiplier is 2"):
        ops.DepthwiseConv2dNative(2, 3)(x, weight)
    with pytest.raises(ValueError, match="first extent of the weight is 2"):
        ops.DepthwiseConv2dNative(1, 3)(x, Tensor(np.ones((2, 2, 3, 3), np.float32)))


def test_a_function_of_python_values_can_be_a_class():
    @ops.constexpr(get_instance=False, name="Length")
    def length(values):
        return len(values)

    assert length()((1, 2)) == 2


def test_flags_of_a_cell_say_its_type():
    net = ops.add_flags(Network(lambda x: x * 2), fp16=True)
    assert net(floats(1)).dtype is mindspore.float16
    assert ops.core(len) is len
