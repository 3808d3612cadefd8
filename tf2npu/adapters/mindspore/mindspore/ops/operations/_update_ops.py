"""Primitives of optimizers: each writes a parameter and its moments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore.ops.primitive import Primitive, WritingPrimitive, as_type_of
from npu_bridge.npu_init import tf


def _number(variable: Any, value: Any) -> Any:
    """A number of one element, as a rate is, without axes and in the type of a variable."""
    node = value if isinstance(value, tf.Tensor) else tf.constant(value)
    return tf.reshape(tf.cast(node, variable.dtype), ())


_OF_TENSORS = ("Adam", "ApplyCenteredRMSProp", "ApplyFtrl", "ApplyRMSProp")


def _update(name: str, n_written: int, write: Callable[..., Any], **defaults: Any) -> type[Primitive]:
    """A primitive that writes its first arguments.  write: of the list of variables, the other arguments and the attributes.

    r1.1 gives all that was written but for ApplyMomentum, and asks only some of the operators for parameters.
    """
    members = {
        "defaults": (*defaults.items(),), "n_written": n_written, "__module__": "mindspore.ops",
        "gives_all": n_written > 1 and name != "ApplyMomentum", "takes_tensors": name in _OF_TENSORS,
        "write": lambda self, variables, *nodes, **attrs: write(variables, *nodes, **attrs),
    }  # fmt: skip
    return type(name, (WritingPrimitive,), members)


def _momentum(written: Any, rate: Any, gradient: Any, momentum: Any, gradient_scale: float, use_nesterov: bool, **_: Any) -> Any:
    """v = momentum * v + gradient; the parameter less rate * v, or with Nesterov less rate * (gradient + momentum * v)."""
    weight, moment = written
    gradient = as_type_of(weight, gradient)
    gradient = gradient if gradient_scale == 1.0 else gradient * gradient_scale
    return tf.raw_ops.ResourceApplyMomentum(
        var=weight.handle, accum=moment.handle, lr=_number(weight, rate), grad=gradient, momentum=_number(weight, momentum),
        use_nesterov=use_nesterov,
    )  # fmt: skip


ApplyMomentum = _update("ApplyMomentum", 2, _momentum, use_nesterov=False, use_locking=False, gradient_scale=1.0)


def _adam(
    written: Any, power1: Any, power2: Any, rate: Any, beta1: Any, beta2: Any, eps: Any, gradient: Any, **attrs: Any
) -> Any:
    weight, first, second = written
    return tf.raw_ops.ResourceApplyAdam(
        var=weight.handle, m=first.handle, v=second.handle, beta1_power=_number(weight, power1),
        beta2_power=_number(weight, power2), lr=_number(weight, rate), beta1=_number(weight, beta1), beta2=_number(weight, beta2),
        epsilon=_number(weight, eps), grad=as_type_of(weight, gradient), use_nesterov=attrs["use_nesterov"],
    )  # fmt: skip


Adam = _update("Adam", 3, _adam, use_locking=False, use_nesterov=False)


def _sgd_step(parts: Any, rate: Any, momentum: Any, dampening: float, weight_decay: float, nesterov: bool) -> Any:
    """(parameter, moment) after a step from (parameter, moment, gradient, whether this is the first step)."""
    weight, moment, gradient, is_first = parts
    gradient = gradient + weight_decay * weight if weight_decay else gradient
    moved = tf.where_v2(is_first, gradient, moment * momentum + (1.0 - dampening) * gradient)
    return weight - rate * (gradient + momentum * moved if nesterov else moved), moved


class SGD(WritingPrimitive):
    """The step of stochastic gradient descent; the arguments are parameter, gradient, rate, moment, momentum, stat.

    `stat` is ones before the first step, whose moment is the gradient itself, and zeros from there on.
    """

    defaults = (("dampening", 0.0), ("weight_decay", 0.0), ("nesterov", False))
    n_written = 3
    takes_tensors = True

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        if self.nesterov and self.dampening != 0:
            raise ValueError(f"SGD(nesterov=True, dampening={self.dampening}): with nesterov, dampening is 0")

    def __call__(self, weight: Any, gradient: Any, rate: Any, moment: Any, momentum: Any, stat: Any) -> Any:
        return super().__call__(weight, moment, stat, gradient, rate, momentum)

    def write(self, variables: list[Any], *nodes: Any, **attrs: Any) -> Any:
        """The operation that writes all three."""
        weight, moment, stat = variables
        gradient, rate, momentum = nodes
        parts = (weight.read_value(), moment.read_value(), as_type_of(weight, gradient), stat.read_value() > 0)
        after, moved = _sgd_step(parts, _number(weight, rate), _number(weight, momentum), **attrs)
        with tf.control_dependencies([after, moved]):
            zeros = tf.zeros(stat.shape, stat.dtype)
            return tf.group(weight.assign(after), moment.assign(moved), stat.assign(zeros))


def _rmsprop(written: Any, rate: Any, gradient: Any, decay: Any, momentum: Any, epsilon: Any, **_: Any) -> Any:
    weight, square, moment = written
    return tf.raw_ops.ResourceApplyRMSProp(
        var=weight.handle, ms=square.handle, mom=moment.handle, lr=_number(weight, rate), rho=_number(weight, decay),
        momentum=_number(weight, momentum), epsilon=_number(weight, epsilon), grad=as_type_of(weight, gradient),
    )  # fmt: skip


ApplyRMSProp = _update("ApplyRMSProp", 3, _rmsprop, use_locking=False)


def _centered(written: Any, gradient: Any, rate: Any, decay: Any, momentum: Any, epsilon: Any, **_: Any) -> Any:
    weight, mean, square, moment = written
    return tf.raw_ops.ResourceApplyCenteredRMSProp(
        var=weight.handle, mg=mean.handle, ms=square.handle, mom=moment.handle, lr=_number(weight, rate),
        rho=_number(weight, decay), momentum=_number(weight, momentum), epsilon=_number(weight, epsilon),
        grad=as_type_of(weight, gradient),
    )  # fmt: skip


ApplyCenteredRMSProp = _update("ApplyCenteredRMSProp", 4, _centered, use_locking=False)


def _adagrad(written: Any, rate: Any, gradient: Any, update_slots: bool) -> Any:
    weight, square = written
    return tf.raw_ops.ResourceApplyAdagrad(
        var=weight.handle, accum=square.handle, lr=_number(weight, rate), grad=as_type_of(weight, gradient),
        update_slots=update_slots,
    )  # fmt: skip


ApplyAdagrad = _update("ApplyAdagrad", 2, _adagrad, update_slots=True)


def _proximal_adagrad(written: Any, rate: Any, l1: Any, l2: Any, gradient: Any, **_: Any) -> Any:
    weight, square = written
    return tf.raw_ops.ResourceApplyProximalAdagrad(
        var=weight.handle, accum=square.handle, lr=_number(weight, rate), l1=_number(weight, l1), l2=_number(weight, l2),
        grad=as_type_of(weight, gradient),
    )  # fmt: skip


ApplyProximalAdagrad = _update("ApplyProximalAdagrad", 2, _proximal_adagrad, use_locking=False)


def _ftrl(written: Any, gradient: Any, rate: Any, l1: Any, l2: Any, lr_power: Any, **_: Any) -> Any:
    weight, square, linear = written
    return tf.raw_ops.ResourceApplyFtrl(
        var=weight.handle, accum=square.handle, linear=linear.handle, grad=as_type_of(weight, gradient),
        lr=_number(weight, rate), l1=_number(weight, l1), l2=_number(weight, l2), lr_power=_number(weight, lr_power),
    )  # fmt: skip


ApplyFtrl = _update("ApplyFtrl", 3, _ftrl, use_locking=False)
ApplyGradientDescent = _update(
    "ApplyGradientDescent", 1, lambda written, rate, delta: written[0].assign_sub(_number(written[0], rate) * delta)
)  # fmt: skip


def _numbers(variable: Any, names: str, given: Any) -> dict[str, Any]:
    """Arguments of TensorFlow's operator: numbers by name.  names: with blanks between."""
    return {name: _number(variable, value) for name, value in zip(names.split(), given, strict=True)}


def _adamax(written: Any, *given: Any) -> Any:
    weight, first, second = written
    numbers = _numbers(weight, "beta1_power lr beta1 beta2 epsilon", given[:-1])
    return tf.raw_ops.ResourceApplyAdaMax(
        var=weight.handle, m=first.handle, v=second.handle, grad=as_type_of(weight, given[-1]), **numbers
    )


def _adadelta(written: Any, *given: Any) -> Any:
    weight, square, update = written
    numbers = _numbers(weight, "lr rho epsilon", given[:-1])
    return tf.raw_ops.ResourceApplyAdadelta(
        var=weight.handle, accum=square.handle, accum_update=update.handle, grad=as_type_of(weight, given[-1]), **numbers
    )


def _adagrad_with_epsilon(written: Any, rate: Any, gradient: Any, epsilon: float, update_slots: bool) -> Any:
    weight, square = written
    return tf.raw_ops.ResourceApplyAdagradV2(
        var=weight.handle, accum=square.handle, grad=as_type_of(weight, gradient), update_slots=update_slots,
        **_numbers(weight, "lr epsilon", (rate, epsilon)),
    )  # fmt: skip


def _signs(operator: Callable[..., Any], names: str) -> Callable[..., Any]:
    """The write of an operator that weighs gradients by the sign of their moment."""

    def write(written: Any, *given: Any) -> Any:
        weight, moment = written
        numbers = _numbers(weight, names, given[:-1])
        return operator(var=weight.handle, m=moment.handle, grad=as_type_of(weight, given[-1]), **numbers)

    return write


def _proximal_step(written: Any, *given: Any) -> Any:
    weight = written[0]
    numbers = _numbers(weight, "alpha l1 l2", given[:-1])
    return tf.raw_ops.ResourceApplyProximalGradientDescent(var=weight.handle, delta=as_type_of(weight, given[-1]), **numbers)


ApplyAdaMax, ApplyAdadelta = _update("ApplyAdaMax", 3, _adamax), _update("ApplyAdadelta", 3, _adadelta)
ApplyAdagradV2 = _update("ApplyAdagradV2", 2, _adagrad_with_epsilon, epsilon=1e-6, update_slots=True)
ApplyAddSign = _update("ApplyAddSign", 2, _signs(tf.raw_ops.ResourceApplyAddSign, "lr alpha sign_decay beta"))
ApplyPowerSign = _update("ApplyPowerSign", 2, _signs(tf.raw_ops.ResourceApplyPowerSign, "lr logbase sign_decay beta"))
ApplyProximalGradientDescent = _update("ApplyProximalGradientDescent", 1, _proximal_step)


def _lars(weight: Any, gradient: Any, weight_squares: Any, gradient_squares: Any, decay: Any, rate: Any, **attrs: Any) -> Any:
    """The gradient, decayed and scaled by the norms of the weight and of itself."""
    weight_norm, gradient_norm = tf.sqrt(weight_squares), tf.sqrt(gradient_squares)
    decay = tf.cast(decay, weight.dtype)
    trust = attrs["hyperpara"] * weight_norm / (gradient_norm + decay * weight_norm + attrs["epsilon"])
    trust = tf.where_v2(tf.logical_and(weight_norm > 0, gradient_norm > 0), trust, tf.ones_like(trust))
    if attrs["use_clip"]:
        trust = tf.clip_by_value(trust / tf.reshape(rate, ()), 0.0, 1.0)
    return trust * (gradient + decay * weight)


class LARSUpdate(Primitive):
    """The gradient for layer-wise rates."""

    defaults = (("epsilon", 1e-05), ("hyperpara", 0.001), ("use_clip", False))
    compute = staticmethod(_lars)


__all__ = [
    "SGD", "Adam", "ApplyAdaMax", "ApplyAdadelta", "ApplyAdagrad", "ApplyAdagradV2", "ApplyAddSign", "ApplyCenteredRMSProp",
    "ApplyFtrl", "ApplyGradientDescent", "ApplyMomentum", "ApplyPowerSign", "ApplyProximalAdagrad",
    "ApplyProximalGradientDescent", "ApplyRMSProp", "LARSUpdate",
]  # fmt: skip
