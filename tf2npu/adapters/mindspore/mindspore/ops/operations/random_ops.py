"""Primitives that draw random numbers, anew in each call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore.common.dtype import int64, np_type
from mindspore.ops.operations._draws import drawn
from mindspore.ops.primitive import Primitive
from npu_bridge.npu_init import tf


def _random(name: str, function: Callable[..., Any], **defaults: Any) -> type[Primitive]:
    """A class of primitives of seeds.  function: of the call's arguments and a seed."""

    def call(self: Primitive, *given: Any) -> Any:
        others = {key: value for key, value in self.attrs.items() if key not in ("seed", "seed2")}
        return drawn(self, lambda *nodes, seed: function(*nodes, seed=seed, **others), *given)

    own = tuple({**defaults, **{key: 0 for key in ("seed", "seed2") if key not in defaults}}.items())
    return type(name, (Primitive,), {"defaults": own, "__call__": call, "__module__": "mindspore.ops"})


def _laplace(shape: Any, seed: Any) -> Any:
    """Numbers of the Laplace distribution: those of two exponential ones, subtracted."""
    one, other = (tf.random_uniform((2, *shape), 1e-7, 1.0, seed=seed)[i] for i in range(2))
    return tf.math.log(one) - tf.math.log(other)


StandardNormal = _random("StandardNormal", lambda shape, seed: tf.random_normal(shape, seed=seed))
StandardLaplace = _random("StandardLaplace", _laplace)
UniformReal = _random("UniformReal", lambda shape, seed: tf.random_uniform(shape, seed=seed))
UniformInt = _random(
    "UniformInt", lambda shape, low, high, seed: tf.random_uniform(shape, low, high, dtype=tf.int32, seed=seed)
)  # fmt: skip


def _gamma(shape: Any, alpha: Any, beta: Any, seed: Any) -> Any:
    """Numbers of the gamma distribution, one for each element of the shape, of alpha and of beta together."""
    alpha, beta = (tf.convert_to_tensor(one) for one in (alpha, beta))
    whole = tf.broadcast_static_shape(tf.TensorShape(shape), tf.broadcast_static_shape(alpha.shape, beta.shape))
    return tf.random_gamma((), tf.broadcast_to(alpha, whole), beta, seed=seed)


def _poisson(shape: Any, mean: Any, seed: Any) -> Any:
    """Numbers of events, one for each element of the shape and of the mean together."""
    mean = tf.convert_to_tensor(mean)
    whole = tf.broadcast_static_shape(tf.TensorShape(shape), mean.shape)
    return tf.random_poisson(tf.broadcast_to(mean, whole), (), dtype=tf.int32, seed=seed)


Gamma, Poisson = _random("Gamma", _gamma), _random("Poisson", _poisson)


def _categories(weights: Any, number: int, seed: Any) -> Any:
    """Numbers of columns, drawn by weights that need not sum to one."""
    rows = tf.math.log(tf.reshape(weights, (-1, weights.shape[-1])))
    found = tf.multinomial(rows, number, seed=seed, output_dtype=tf.int32)
    return tf.reshape(found, [*weights.shape.as_list()[:-1], number])


Multinomial = _random("Multinomial", _categories)


class RandomCategorical(Primitive):
    """Numbers of columns, drawn by logarithms of weights."""

    defaults = (("dtype", int64),)

    def __call__(self, logits: Any, num_sample: int, own: int = 0) -> Any:
        kind = tf.as_dtype(np_type(self.attrs["dtype"]))
        return drawn(self, lambda rows, seed: tf.cast(tf.multinomial(rows, num_sample, seed=own or seed), kind), logits)


def _choice(mask: Any, count: int, seed: Any) -> Any:
    """Places where a mask is true, in random order, and which rows are such places: with fewer than `count`, zeros fill up.

    Each element gets a random weight, those of the mask above all others; the `count` greatest are taken.
    """
    flat = tf.reshape(mask, (-1,))
    taken = min(count, flat.shape[0])
    weights = tf.random_uniform(flat.shape, seed=seed) + tf.cast(flat, tf.float32)
    places = tf.nn.top_k(weights, taken)[1]
    found = tf.gather(flat, places)
    rows = tf.transpose(tf.unravel_index(places, tf.constant(mask.shape.as_list(), tf.int32)))
    rows = tf.where_v2(tf.expand_dims(found, -1), tf.reshape(rows, (taken, mask.shape.rank)), tf.zeros((), tf.int32))
    rest = count - taken
    return tf.pad(rows, [[0, rest], [0, 0]]), tf.pad(found, [[0, rest]])


RandomChoiceWithMask = _random("RandomChoiceWithMask", _choice, count=256)


def _candidates(name: str, sampler: Callable[..., Any], **defaults: Any) -> type[Primitive]:
    """A class of primitives that draw classes: (classes, expected counts of the true ones, and of those that were drawn)."""

    def draw(true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: Any, **_: Any) -> Any:
        found = sampler(tf.cast(true_classes, tf.int64), num_true, num_sampled, unique, range_max, seed=seed)
        return tf.cast(found[0], true_classes.dtype), *found[1:]

    return _random(name, draw, **defaults)


UniformCandidateSampler = _candidates(
    "UniformCandidateSampler", tf.nn.uniform_candidate_sampler, num_true=1, num_sampled=5, unique=True, range_max=5, seed=0,
    remove_accidental_hits=False,
)  # fmt: skip
LogUniformCandidateSampler = _candidates(
    "LogUniformCandidateSampler", tf.nn.log_uniform_candidate_sampler, num_true=1, num_sampled=5, unique=True, range_max=5, seed=0
)  # fmt: skip

__all__ = [
    "Gamma", "LogUniformCandidateSampler", "Multinomial", "Poisson", "RandomCategorical", "RandomChoiceWithMask",
    "StandardLaplace", "StandardNormal", "UniformCandidateSampler", "UniformInt", "UniformReal",
]  # fmt: skip
