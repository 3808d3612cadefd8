"""Cells, parameters and gradients: names, phases, modes and errors as MindSpore r1.1 documents them."""

from __future__ import annotations

import numpy as np
import pytest
from mindspore import Parameter, ParameterTuple, Tensor, context, nn, ops
from mindspore import dtype as mstype


@pytest.fixture(params=["GRAPH_MODE", "PYNATIVE_MODE"])
def mode(request):
    context.set_context(mode=getattr(context, request.param))
    yield request.param
    context.set_context(mode=context.GRAPH_MODE)


class Scale(nn.Cell):
    def __init__(self, value=2.0):
        super().__init__()
        self.weight = Parameter(Tensor(value), name="other")
        self.bias = Parameter(Tensor(0.0))

    def construct(self, x):
        return x * self.weight + self.bias


class Two(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = Scale()
        self.second = Scale(3.0)
        self.last = nn.Cell()

    def construct(self, x):
        return self.second(self.first(x))


def test_a_parameter_is_called_by_its_path():
    net = Two()
    assert [one.name for one in net.get_parameters()] == ["first.weight", "first.bias", "second.weight", "second.bias"]
    assert list(net.parameters_dict()) == ["first.weight", "first.bias", "second.weight", "second.bias"]
    net.first.bias.requires_grad = False
    assert [one.name for one in net.trainable_params()] == ["first.weight", "second.weight", "second.bias"]
    assert [name for name, _ in net.cells_and_names()] == ["", "first", "second", "last"]


def test_values_and_gradients(mode):
    net, x = Two(), Tensor(5.0)
    assert net(x).asnumpy() == 30
    assert ops.GradOperation()(net)(x).asnumpy() == 6
    assert [one.asnumpy() for one in ops.GradOperation(get_all=True)(net)(x)] == [6]
    weights = ParameterTuple(net.trainable_params())
    of_list = ops.GradOperation(get_by_list=True)(net, weights)(x)
    assert [one.asnumpy() for one in of_list] == [15, 3, 10, 1]
    of_all = ops.GradOperation(get_all=True, get_by_list=True, sens_param=True)(net, weights)(x, Tensor(2.0))
    assert [one.asnumpy() for one in of_all[0]] == [12] and [one.asnumpy() for one in of_all[1]] == [30, 6, 20, 2]


def test_a_second_derivative(mode):
    class Cube(nn.Cell):
        def construct(self, x):
            return x * x * x

    class Derivative(nn.Cell):
        def __init__(self, network):
            super().__init__()
            self.network, self.grad = network, ops.GradOperation()

        def construct(self, x):
            return self.grad(self.network)(x)

    assert ops.GradOperation()(Derivative(Cube()))(Tensor(2.0)).asnumpy() == 12


def test_the_phase_and_the_shapes_make_a_graph_of_their_own():
    traced = []

    class Net(nn.Cell):
        def construct(self, x):
            traced.append((self.training, x.shape, x.dtype))
            return x * 2 if self.training else x

    net = Net()
    for _ in range(2):
        assert net(Tensor(1.0)).asnumpy() == 1
        assert net.set_train()(Tensor(1.0)).asnumpy() == 2
        assert net(Tensor(np.ones(3, np.float16))).dtype is mstype.float16
        net.set_train(False)
    assert traced == [(False, (), mstype.float32), (True, (), mstype.float32), (True, (3,), mstype.float16)]


def test_an_equal_call_in_a_graph_is_one():
    class Moves(nn.Cell):
        def __init__(self):
            super().__init__()
            self.n = Parameter(Tensor(0.0))

        def construct(self, x):
            self.n += 1
            return x * x

    class Step(nn.Cell):
        def __init__(self, network, get_all):
            super().__init__()
            self.network, self.grad = network, ops.GradOperation(get_all=get_all)

        def construct(self, x):
            return self.network(x), self.grad(self.network)(x)

    for get_all in (False, True):
        net = Moves()
        value, gradient = Step(net, get_all)(Tensor(3.0))
        gradient = gradient[0] if get_all else gradient
        assert (value.asnumpy(), gradient.asnumpy(), net.n.asnumpy()) == (9, 6, 1)


class Shrinks(nn.Cell):
    """Multiplies by a weight while the sum is above one; counts the turns in a parameter, too, where asked for."""

    def __init__(self, counts):
        super().__init__()
        self.weight, self.n_turns, self.counts = Parameter(Tensor([0.5, 0.5])), Parameter(Tensor(0.0)), counts

    def construct(self, x):
        while x.sum() > 1.0:
            x = x * self.weight
            if self.counts:
                self.n_turns += 1
        return x.sum()


@pytest.mark.parametrize("counts", [False, True])
def test_a_gradient_goes_through_a_loop(counts):
    net = Shrinks(counts)
    gradient = ops.GradOperation(get_by_list=True)(net, ParameterTuple([net.weight]))
    for _ in range(2):
        (found,) = gradient(Tensor([2.0, 4.0]))
    assert found.asnumpy().tolist() == [3 * 0.5**2 * 2, 3 * 0.5**2 * 4]  # x w**3, three turns
    assert net.n_turns.asnumpy() == (6 if counts else 0)


def test_to_float_casts_inputs_and_parameters():
    class Types(nn.Cell):
        def __init__(self):
            super().__init__()
            self.weight = Parameter(Tensor(np.ones(2, np.float32)))

        def construct(self, x, i):
            return x * self.weight, i

    net = Types().to_float(mstype.float16)
    x, i = net(Tensor(np.ones(2, np.float32)), Tensor(np.ones(2, np.int32)))
    assert (x.dtype, i.dtype, net.weight.dtype) == (mstype.float16, mstype.int32, mstype.float32)


def test_types_of_tensors():
    assert Tensor(1.5).dtype is mstype.float32 and Tensor([1.5, 2]).dtype is mstype.float32
    assert Tensor(np.float64(1.5)).dtype is mstype.float64 and Tensor(np.ones(2, np.uint8)).dtype is mstype.uint8
    assert (Tensor(np.ones(2, np.int32)) + 1.5).dtype is mstype.float32
    assert (Tensor(np.ones(2, np.float16)) + 1.5).dtype is mstype.float16
    assert (Tensor(np.ones(2, np.float16)) * Tensor(np.ones(2, np.int32))).dtype is mstype.float16
    assert (Tensor(np.ones(2, np.float16)) * Tensor(np.ones(2, np.float32))).dtype is mstype.float32
    assert repr(mstype.float32) == "Float32" and str(Tensor(2.0)) == "2.0"


class TestErrors:
    def test_a_cell_without_super(self):
        class Forgets(nn.Cell):
            def __init__(self):
                self.weight = Parameter(Tensor(1.0))

        with pytest.raises(AttributeError, match=r"call super\(\)\.__init__\(\) first in Forgets\.__init__"):
            Forgets()

    def test_a_parameter_in_construct(self):
        class Makes(nn.Cell):
            def construct(self, x):
                return x + Parameter(Tensor(1.0))

        with pytest.raises(RuntimeError, match=r"a Parameter is made in construct \(.*test_cells.py:[0-9]+\)"):
            Makes()(Tensor(1.0))

    def test_two_parameters_of_one_name(self):
        class Twice(nn.Cell):
            def __init__(self):
                super().__init__()
                self.one, self.two = Parameter(Tensor(1.0), name="same"), Parameter(Tensor(1.0), name="same")

            def construct(self, x):
                return x * self.one * self.two

        with pytest.raises(ValueError, match="two parameters of Twice have the name 'same'"):
            Twice()(Tensor(1.0))

    def test_a_value_of_another_shape_or_type(self):
        weight = Parameter(Tensor(np.ones(3, np.int32)), name="w")
        with pytest.raises(ValueError, match=r"set_data of w: its shape is \(3,\), that of the new value \(2,\)"):
            weight.set_data(Tensor(np.ones(2, np.int32)))
        with pytest.raises(TypeError, match="set_data of w: its type is int32"):
            weight.set_data(Tensor(np.ones(3, np.float32)))

    def test_settings(self):
        with pytest.raises(ValueError, match=r'device_target="GPU".*write device_target="Ascend"'):
            context.set_context(device_target="GPU")
        with pytest.raises(ValueError, match=r"r1\.1 has no setting of this name"):
            context.set_context(devise_target="Ascend")
