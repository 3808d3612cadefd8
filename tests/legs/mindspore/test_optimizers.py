"""Optimizers: what they refuse, groups, and rates that end."""

from __future__ import annotations

import numpy as np
import pytest
from mindspore import Parameter, Tensor, nn
from tensorflow.errors import InvalidArgumentError


def parameter(name, *shape):
    return Parameter(Tensor(np.ones(shape or (2,), np.float32)), name)


def step(optimizer, *gradients):
    optimizer(tuple(Tensor(np.array(one, np.float32)) for one in gradients))


def test_a_rate_for_each_step_stops_the_run_at_the_step_after_the_last():
    weight = parameter("weight")
    optimizer = nn.Momentum([weight], Tensor(np.array([1.0, 0.5], np.float32)), 0.0)
    step(optimizer, [1, 1])
    step(optimizer, [1, 1])
    np.testing.assert_allclose(weight.asnumpy(), -0.5)
    with pytest.raises(InvalidArgumentError, match="the learning rate has 2 values"):
        step(optimizer, [1, 1])
    np.testing.assert_allclose(weight.asnumpy(), -0.5)


def test_parameters_named_beta_and_gamma_do_not_decay_and_those_of_groups_do():
    weight, beta = parameter("weight"), parameter("norm.beta")
    step(nn.Momentum([weight, beta], 1.0, 0.0, weight_decay=0.1, loss_scale=4.0), [0, 0], [4, 4])
    np.testing.assert_allclose(weight.asnumpy(), 0.9, rtol=1e-6)
    np.testing.assert_allclose(beta.asnumpy(), 0.0, atol=1e-6)
    beta = parameter("norm.beta")
    step(nn.Momentum([{"params": [beta], "weight_decay": 0.1}], 1.0, 0.0), [0, 0])
    np.testing.assert_allclose(beta.asnumpy(), 0.9, rtol=1e-6)


def test_groups_have_rates_of_their_own_and_an_order():
    one, other = parameter("one"), parameter("other")
    groups = [{"params": [one], "lr": 0.5}, {"params": [other]}, {"order_params": [other, one]}]
    optimizer = nn.Momentum(groups, nn.WarmUpLR(1.0, 4), 0.0)
    assert [each.name for each in optimizer.parameters] == ["other", "one"]
    step(optimizer, [1, 1], [1, 1])
    step(optimizer, [1, 1], [1, 1])
    np.testing.assert_allclose(one.asnumpy(), 0.0, atol=1e-6)
    np.testing.assert_allclose(other.asnumpy(), 0.75, rtol=1e-6)
    assert optimizer.get_lr_parameter(one).asnumpy() == np.float32(0.5)
    with pytest.raises(ValueError, match="no parameter of this Momentum"):
        optimizer.get_lr_parameter(parameter("third"))


def test_gradients_of_a_group_with_grad_centralization_lose_their_means():
    weight = parameter("weight", 2, 2)
    step(nn.SGD([{"params": [weight], "grad_centralization": True}], 1.0), [[1, 3], [5, 5]])
    np.testing.assert_allclose(weight.asnumpy(), [[2, 0], [1, 1]])


def test_lars_scales_by_norms_and_leaves_biases_alone():
    weight, bias = parameter("weight"), parameter("bias")
    step(nn.LARS(nn.Momentum([weight, bias], 1.0, 0.0, weight_decay=0.5), coefficient=0.01), [3, 4], [3, 4])
    decayed, norm = np.array([3.5, 4.5]), np.sqrt(2)
    np.testing.assert_allclose(weight.asnumpy(), 1 - 0.01 * norm / (5 + 0.5 * norm + 1e-5) * decayed, rtol=1e-5)
    np.testing.assert_allclose(bias.asnumpy(), [-2, -3], rtol=1e-6)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda weight: nn.Adagrad(weight, accum=0.0, learning_rate=0.1), [0.9, 0.9]),
        (lambda weight: nn.RMSProp(weight, 0.1, decay=0.0), [0.9, 0.9]),
        (lambda weight: nn.RMSProp(weight, 0.1, decay=0.5, centered=True, epsilon=1e-12), [1 - 0.2 / 1.5**0.5, 1 - 0.05 / 0.75]),
        (lambda weight: nn.Adam(weight, 0.1), [0.9, 0.9]),
        (lambda weight: nn.AdamWeightDecay(weight, 0.1, beta1=0.5, beta2=0.75, weight_decay=1.0), [0.8, 0.8]),
    ],
)
def test_first_steps_follow_the_formulas(make, expected):
    weight = parameter("weight")
    step(make([weight]), [2, 0.5])
    np.testing.assert_allclose(weight.asnumpy(), expected, rtol=1e-4)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: nn.Momentum([], 0.1, 0.9), ValueError, "got no parameters"),
        (lambda: nn.Momentum([3], 0.1, 0.9), TypeError, "takes parameters"),
        (lambda: nn.Momentum([parameter("a")] * 2, 0.1, 0.9), ValueError, "the parameter 'a' is given twice"),
        (lambda: nn.Momentum([parameter("a")], -0.1, 0.9), ValueError, "learning_rate=-0.1"),
        (lambda: nn.Momentum([parameter("a")], Tensor(np.ones((2, 2))), 0.9), ValueError, "one axis"),
        (lambda: nn.Momentum([parameter("a")], "fast", 0.9), TypeError, "learning_rate='fast'"),
        (lambda: nn.Momentum([parameter("a")], 0.1, -0.9), ValueError, "momentum=-0.9"),
        (lambda: nn.Momentum([{"param": [parameter("a")]}], 0.1, 0.9), KeyError, "params, lr"),
        (lambda: nn.Momentum([{"params": []}], 0.1, 0.9), ValueError, "no parameters under the key params"),
        (lambda: nn.SGD([parameter("a")], nesterov=True), ValueError, "nesterov"),
        (lambda: nn.Adam([parameter("a")], beta1=1.0), ValueError, "beta1=1.0"),
        (lambda: nn.FTRL([parameter("a")], learning_rate=[0.1, 0.2]), ValueError, "does not change"),
        (lambda: nn.exponential_decay_lr(0.1, 0.9, 0, 1, 1), ValueError, "total_step=0"),
        (lambda: nn.CosineDecayLR(0.2, 0.1, 3), ValueError, "max_lr is above min_lr"),
    ],
)
def test_wrong_optimizers_are_refused(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_a_parameter_in_two_groups_is_refused():
    weight = parameter("weight")
    with pytest.raises(RuntimeError, match="weight stands in the groups twice"):
        nn.Momentum([{"params": [weight]}, {"params": [weight]}], 0.1, 0.9)
    with pytest.raises(ValueError, match="order_params has 0"):
        nn.Momentum([{"params": [weight]}, {"order_params": []}], 0.1, 0.9)


def test_lists_of_rates_have_a_number_for_each_step():
    assert nn.piecewise_constant_lr([2, 3], [0.1, 0.01]) == [0.1, 0.1, 0.01]
    assert nn.warmup_lr(1.0, 5, 1, 2) == [0.0, 0.5, 1.0, 1.0, 1.0]
    with pytest.raises(ValueError, match="have to rise"):
        nn.piecewise_constant_lr([3, 2], [0.1, 0.01])
