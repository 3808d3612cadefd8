"""Cases of training: each builds a network, trains it for twenty steps, and gives losses, parameters and their names.

A case is a function without arguments that returns a dictionary of arrays; `MODES` says in which modes of MindSpore it runs. The
recorder stores what real MindSpore gives, and the test compares what the project's package gives.
"""

from __future__ import annotations

import mindspore.nn as nn
import numpy as np
from mindspore import Tensor
from mindspore.common.parameter import ParameterTuple
from mindspore.ops import composite as C

from tests.legs.mindspore import networks as N

BOTH = ("GRAPH_MODE", "PYNATIVE_MODE")
GRAPH = ("GRAPH_MODE",)
CASES = {}
"""The cases by name."""
MODES = {}
"""The modes that a case runs in, by its name."""


def case(modes=GRAPH):
    """Enters a function among the cases."""

    def entered(function):
        CASES[function.__name__] = function
        MODES[function.__name__] = modes
        return function

    return entered


def parameters(network, *others):
    """Names of a network's parameters in their order, and last values of its parameters and of those of other cells."""
    found = {parameter.name: parameter for cell in (network, *others) for parameter in cell.get_parameters()}
    values = {f"parameter {name}": parameter.asnumpy().copy() for name, parameter in found.items()}
    return {"names": np.array([parameter.name for parameter in network.get_parameters()]), **values}


def trained(network, batches, optimizer, step_cell=nn.TrainOneStepCell, reduction="mean", **settings):
    """Trains a network with the usual loss and gives losses, all parameters, and the logits of the first batch."""
    batches = [(Tensor(data), Tensor(label)) for data, label in batches]
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction=reduction)
    made = optimizer(network)
    step = step_cell(nn.WithLossCell(network, loss), made, **settings)
    step.set_train()
    losses = [step(data, label).asnumpy() for data, label in batches]
    network.set_train(False)
    return {"losses": np.array(losses), "logits": network(batches[0][0]).asnumpy(), **parameters(network, made)}


def momentum(network, rate=0.1, **settings):
    return nn.Momentum(network.trainable_params(), rate, 0.9, **settings)


def perceptron(optimizer, **settings):
    """Trains the perceptron with an optimizer that a function makes of the network."""
    return trained(N.set_weights(N.Perceptron()), N.rows(), optimizer, **settings)


@case(BOTH)
def lenet_own_step():
    return trained(N.set_weights(N.LeNet()), N.images(), momentum, N.OwnTrainOneStepCell)


@case(BOTH)
def lenet_built_in_step():
    return trained(N.set_weights(N.LeNet()), N.images(), momentum)


@case()
def lenet_sum_of_losses():
    return trained(N.set_weights(N.LeNet()), N.images(), lambda network: momentum(network, 0.01), reduction="none")


@case(BOTH)
def batch_norm_network():
    return trained(N.set_weights(N.BatchNormNetwork()), N.images(), momentum)


@case(BOTH)
def transformer():
    return trained(N.set_weights(N.Transformer()), N.sentences(), momentum)


@case()
def transformer_adam():
    """The epsilon is large, because the gradient of a key's bias is zero but for rounding, which Adam would enlarge."""
    optimizer = lambda network: nn.Adam(network.trainable_params(), 0.01, eps=1e-3)  # noqa: E731
    return trained(N.set_weights(N.Transformer()), N.sentences(), optimizer)


@case()
def weight_decay_loss_scale_sens():
    return perceptron(lambda network: momentum(network, weight_decay=1e-2, loss_scale=128.0), sens=128.0)


@case()
def rates_of_a_tensor():
    rates = Tensor(np.linspace(0.01, 0.2, N.STEPS).astype(np.float32))
    return perceptron(lambda network: momentum(network, rates))


@case()
def rates_of_a_list():
    rates = nn.exponential_decay_lr(0.2, 0.8, N.STEPS, 4, 1)
    return perceptron(lambda network: momentum(network, rates))


@case()
def cosine_rates():
    return perceptron(lambda network: momentum(network, nn.CosineDecayLR(0.01, 0.2, 15)))


@case()
def polynomial_rates():
    return perceptron(lambda network: momentum(network, nn.PolynomialDecayLR(0.2, 0.01, 15, 0.5)))


@case()
def polynomial_rates_again():
    rates = nn.PolynomialDecayLR(0.2, 0.01, 6, 2.0, update_decay_steps=True)
    return perceptron(lambda network: momentum(network, rates))


@case()
def warm_up_rates():
    return perceptron(lambda network: momentum(network, nn.WarmUpLR(0.2, 10)))


@case()
def exponential_rates():
    rates = nn.ExponentialDecayLR(0.2, 0.7, 4, is_stair=True)
    return perceptron(lambda network: nn.Adam(network.trainable_params(), rates))


@case()
def groups_of_rates():
    """Groups with a rate, a schedule and a decay each, in an order of their own."""

    def optimizer(network):
        biases = [parameter for parameter in network.trainable_params() if "bias" in parameter.name]
        others = [parameter for parameter in network.trainable_params() if "bias" not in parameter.name]
        groups = [
            {"params": biases, "lr": 0.05, "weight_decay": 0.0},
            {"params": others, "lr": nn.PolynomialDecayLR(0.1, 0.01, 15, 0.5)},
            {"order_params": network.trainable_params()},
        ]
        return nn.Momentum(groups, 0.1, 0.9, weight_decay=0.01)

    return perceptron(optimizer)


@case(BOTH)
def adam():
    return perceptron(lambda network: nn.Adam(network.trainable_params(), 0.02))


@case()
def adam_with_decay_and_nesterov():
    settings = {"beta1": 0.8, "eps": 1e-6, "use_nesterov": True, "weight_decay": 0.01, "loss_scale": 16.0}
    return perceptron(lambda network: nn.Adam(network.trainable_params(), 0.02, **settings), sens=16.0)


@case()
def adam_groups():
    def optimizer(network):
        decayed = [parameter for parameter in network.trainable_params() if "weight" in parameter.name]
        others = [parameter for parameter in network.trainable_params() if "weight" not in parameter.name]
        return nn.Adam([{"params": decayed, "weight_decay": 0.01}, {"params": others, "lr": 0.05}], 0.02)

    return perceptron(optimizer)


@case()
def adam_weight_decay():
    return perceptron(lambda network: nn.AdamWeightDecay(network.trainable_params(), 0.02, weight_decay=0.05))


@case()
def sgd_nesterov():
    return perceptron(
        lambda network: nn.SGD(network.trainable_params(), 0.05, momentum=0.9, nesterov=True, loss_scale=8.0), sens=8.0
    )


@case()
def rmsprop():
    return perceptron(lambda network: nn.RMSProp(network.trainable_params(), 0.01, decay=0.9, momentum=0.5))


@case()
def lamb():
    return perceptron(lambda network: nn.Lamb(network.trainable_params(), 0.02, weight_decay=0.01))


def scaled(network, batches, manager):
    """Trains with a loss scale and gives, beside the losses, whether a step overflowed and the scale after it."""
    optimizer = momentum(network)
    with_loss = nn.WithLossCell(network, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
    step = nn.TrainOneStepWithLossScaleCell(with_loss, optimizer, scale_sense=manager)
    step.set_train()
    losses, overflows, scales = [], [], []
    for data, label in batches:
        loss, overflow, _ = step(Tensor(data), Tensor(label))
        losses.append(loss.asnumpy().copy())
        overflows.append(overflow.asnumpy().copy())
        scales.append(step.scale_sense.asnumpy().copy())
    given = {"losses": losses, "overflows": overflows, "scales": scales}
    return {**{name: np.array(values) for name, values in given.items()}, **parameters(network, optimizer, step)}


def with_an_overflow(batches, at=7):
    """Batches whose last number is zero, and once so large that the scaled gradient of its weights is infinite.

    Those weights are zero, and stay so: the loss does not see the number.
    """
    for number, (data, label) in enumerate(batches):
        data[:, -1] = 1e38 if number == at else 0.0
        yield data, label


LINEAR = np.linspace([-0.5] * 5 + [0], [0.5] * 5 + [0], N.CLASSES).astype(np.float32)


class Linear(nn.Cell):
    """One dense layer, whose weights of the last input are zero."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(6, N.CLASSES)
        self.fc.weight.set_data(Tensor(LINEAR))
        self.fc.bias.set_data(Tensor(np.zeros(N.CLASSES, np.float32)))

    def construct(self, x):
        return self.fc(x)


@case()
def sgd():
    """A network without gamma and beta, because r1.1 decays them in SGD, too, and 2.10 does not."""
    settings = {"momentum": 0.9, "dampening": 0.1, "weight_decay": 0.01}
    return trained(Linear(), N.rows(), lambda network: nn.SGD(network.trainable_params(), 0.05, **settings))


@case()
def dynamic_loss_scale():
    manager = nn.DynamicLossScaleUpdateCell(loss_scale_value=2**12, scale_factor=2, scale_window=5)
    return scaled(Linear(), with_an_overflow(N.rows()), manager)


@case()
def fixed_loss_scale():
    manager = nn.FixedLossScaleUpdateCell(loss_scale_value=2**10)
    return scaled(Linear(), with_an_overflow(N.rows()), manager)


class Gradients(nn.Cell):
    """The gradient of a network's loss in one of the forms of GradOperation."""

    def __init__(self, network, **form):
        super().__init__(auto_prefix=False)
        self.network = network
        self.weights = ParameterTuple(network.trainable_params())
        self.grad = C.GradOperation(**form)
        self.by_list = form.get("get_by_list", False)

    def construct(self, *inputs):
        if self.by_list:
            return self.grad(self.network, self.weights)(*inputs)
        return self.grad(self.network)(*inputs)


class Product(nn.Cell):
    """A product of two inputs and a weight: its gradients differ for each of the three."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(6, N.CLASSES)

    def construct(self, x, scale):
        return self.fc(x) * scale


def leaves(value):
    """The arrays of nested tuples, from left to right."""
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, tuple | list) else [value.asnumpy()]


@case(BOTH)
def forms_of_gradients():
    forms = {
        "first": {},
        "all": {"get_all": True},
        "list": {"get_by_list": True},
        "both": {"get_all": True, "get_by_list": True},
        "sens": {"sens_param": True},
        "all sens": {"get_all": True, "get_by_list": True, "sens_param": True},
    }
    (data, _), generator = next(N.rows()), np.random.default_rng(9)
    scale, sens = (generator.standard_normal((N.BATCH, N.CLASSES)).astype(np.float32) for _ in range(2))
    given = {}
    for name, form in forms.items():
        inputs = [Tensor(value) for value in ((data, scale, sens) if form.get("sens_param") else (data, scale))]
        value = Gradients(N.set_weights(Product()), **form)(*inputs)
        given |= {f"{name} {number}": leaf for number, leaf in enumerate(leaves(value))}
    return given


class Cube(nn.Cell):
    """The third power, whose second derivative is six times its input."""

    def construct(self, x):
        return x * x * x


class Derivative(nn.Cell):
    """The derivative of a cell with respect to its first input."""

    def __init__(self, network):
        super().__init__()
        self.grad = C.GradOperation()
        self.network = network

    def construct(self, x):
        return self.grad(self.network)(x)


@case(BOTH)
def second_derivative():
    x = Tensor(np.array([2.0, -1.5, 0.25], np.float32))
    return {"first": Derivative(Cube())(x).asnumpy(), "second": Derivative(Derivative(Cube()))(x).asnumpy()}


@case(BOTH)
def branches_on_tensors():
    network = N.set_weights(N.Branches())
    step = nn.TrainOneStepCell(network, nn.Momentum(network.trainable_params(), 0.1, 0.5))
    step.set_train()
    signs = (-1.0, 1.0)
    losses = [step(Tensor(np.abs(data) * np.float32(signs[number % 2]))).asnumpy() for number, (data, _) in enumerate(N.rows())]
    return {"losses": np.array(losses), **parameters(network)}


@case(BOTH)
def weights_within_branches():
    network = N.set_weights(N.Chosen())
    step = nn.TrainOneStepCell(network, nn.Momentum(network.trainable_params(), 0.1, 0.5))
    step.set_train()
    losses = [step(Tensor(data - np.float32(0.5 * (-1) ** number))).asnumpy() for number, (data, _) in enumerate(N.rows())]
    return {"losses": np.array(losses), **parameters(network)}


@case(BOTH)
def loops_on_tensors():
    network, given = N.Halving(), {}
    for number, size in enumerate((0.5, 3.0, 100.0)):
        x, count = network(Tensor(np.full(3, size, np.float32)), Tensor(np.int32(0)))
        given |= {f"x {number}": x.asnumpy(), f"count {number}": count.asnumpy()}
    return given


@case(BOTH)
def writes_in_branches():
    network = N.Counted()
    totals = [network(Tensor(np.array([value, 1.0], np.float32))).asnumpy() for value in (3.0, -2.0, 0.5, -7.0)]
    return {"totals": np.array(totals), **parameters(network)}


@case()
def lists_of_rates():
    """The seven functions that give a list of rates."""
    return {
        "piecewise": np.array(nn.piecewise_constant_lr([2, 5, 10], [0.1, 0.05, 0.01])),
        "exponential": np.array(nn.exponential_decay_lr(0.1, 0.9, 6, 2, 1)),
        "exponential stair": np.array(nn.exponential_decay_lr(0.1, 0.9, 6, 2, 2, True)),
        "natural": np.array(nn.natural_exp_decay_lr(0.1, 0.9, 6, 2, 2, True)),
        "inverse": np.array(nn.inverse_decay_lr(0.1, 0.5, 6, 1, 1, True)),
        "cosine": np.array(nn.cosine_decay_lr(0.01, 0.1, 6, 2, 2)),
        "polynomial": np.array(nn.polynomial_decay_lr(0.1, 0.01, 6, 2, 2, 0.5)),
        "polynomial again": np.array(nn.polynomial_decay_lr(0.1, 0.01, 6, 2, 2, 0.5, True)),
        "warm-up": np.array(nn.warmup_lr(0.1, 6, 2, 2)),
    }
