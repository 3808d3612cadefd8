"""Classes of tensorflow_probability that take what those of ``tf.contrib.distributions`` took.

Source: tensorflow/contrib/distributions of TF 1.15, whose signatures and values are recorded in tests/fixtures/shim.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import tensorflow as tf
import tensorflow_probability as tfp

tfd = tfp.distributions
Arguments = dict[str, Any]


class Probabilities:
    """``logits`` and ``probs`` of a distribution that was given the other one, which TF 1.15 computed."""

    logits_parameter: Callable[[], Any]
    probs_parameter: Callable[[], Any]

    @property
    def logits(self) -> Any:
        return self.logits_parameter()

    @property
    def probs(self) -> Any:
        return self.probs_parameter()


def older(base: type, *mixins: type, class_name: str = "") -> Callable[[Callable[..., Arguments]], Any]:
    """Make a class below `base` of a function that has TF 1.15's parameters and gives the arguments of `base`."""

    def make(arguments: Callable[..., Arguments]) -> Any:
        def __init__(self: Any, *given: Any, **named: Any) -> None:
            super(made, self).__init__(**arguments(*given, **named))

        def copy(self: Any, **changed: Any) -> Any:
            """A distribution of the same family, in the parameters of tensorflow_probability."""
            return base(**{**self.parameters, **changed})

        names = {"__init__": __init__, "copy": copy, "__module__": arguments.__module__, "__doc__": base.__doc__}
        made = type(base)(class_name or arguments.__name__, (*mixins, base), names)
        made.__signature__ = inspect.signature(arguments)
        return made

    return make


def of_probability(distribution: Any) -> Any:
    """A distribution of ``tf.distributions`` as that of tensorflow_probability; others as they are.

    What tensorflow_probability builds of distributions (a mixture, say) takes its own alone.
    """
    kinds = type(distribution).__mro__
    if isinstance(distribution, tfd.Distribution) or not any(
        kind.__module__.startswith("tensorflow.python.ops.") for kind in kinds
    ):
        return distribution
    name = next(kind.__name__ for kind in kinds if hasattr(tfd, kind.__name__))
    known = inspect.signature(getattr(tfd, name)).parameters
    found = {one: _current(distribution, one, value) for one, value in distribution.parameters.items() if one in known}
    return getattr(tfd, name)(**found)


def _current(distribution: Any, name: str, value: Any) -> Any:
    """A parameter as the distribution has it: those with softplus in their name were given something else."""
    is_given = value is not None and name not in ("name", "dtype", "validate_args", "allow_nan_stats")
    return getattr(distribution, name) if is_given else value


def without(arguments: Arguments, name: str) -> Arguments:
    """Arguments but for one that tensorflow_probability does not have."""
    return {one: value for one, value in arguments.items() if one != name}


def diagonal(scale_diag: Any, scale_identity_multiplier: Any, loc: Any) -> Any:
    """The diagonal of a scale: [..., k]; loc tells k where there is nothing but a multiplier.  None for ones."""
    if scale_identity_multiplier is None:
        return scale_diag
    multiplier = tf.convert_to_tensor(scale_identity_multiplier)[..., tf.newaxis]
    if scale_diag is None and loc is None:
        raise ValueError("scale_identity_multiplier needs loc or scale_diag, which tell the number of dimensions")
    return multiplier * tf.ones_like(loc) if scale_diag is None else scale_diag + multiplier


def _divergence(a: Any, b: Any, name: str | None = None) -> Any:
    return tfd.kl_divergence(of_probability(a), of_probability(b), name=name)


def _let_both_meet() -> None:
    """Let ``tf.distributions`` know those of tensorflow_probability, for isinstance and for divergences between both."""
    ours, theirs = tf.distributions.Distribution, tfd.Distribution
    ours.register(theirs)
    for pair in ((theirs, theirs), (theirs, ours), (ours, theirs)):
        tf.distributions.RegisterKL(*pair)(_divergence)
    tfd.RegisterKL(theirs, ours)(_divergence)


_let_both_meet()
