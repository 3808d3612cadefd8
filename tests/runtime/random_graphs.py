"""Makes random TensorFlow 1 graphs of many kinds of operations, whose values do not depend on the order in which they run.

What follows a write in the making follows it in a run; a write waits for all reads of variables so far or, where values may be
the memory of a variable, for everything so far.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

Tensor = Any
Step = Callable[["Maker"], list[Tensor]]

LARGEST = 3000
"""Elements of a value that others are made of."""
FLOATS = (tf.float32, tf.float16, tf.bfloat16)
BATCH = None
_NOT_WAITED_FOR = frozenset({"Switch", "RefSwitch", "Assign", "AssignVariableOp", "VariableV2", "VarHandleOp", "Const"})
"""Besides a branch that may be dead: the initial values, and what has none."""


class Maker:
    """A graph that grows.  shows_memory: whether ref variables are read as they are, and not by the values of a sum.

    pool: values to make others of.  shown: values to fetch.  updates: operations that write variables, in their order.
    """

    def __init__(self, seed: int, shows_memory: bool) -> None:
        self.random, self.shows_memory = np.random.default_rng(seed), shows_memory
        self.pool: list[Tensor] = []
        self.shown: list[Tensor] = []
        self.placeholders: list[Tensor] = []
        self.variables: list[Any] = []
        self.updates: list[Any] = []
        self.reads: list[Any] = []

    def grow(self, n_steps: int) -> None:
        """Add the results of some steps; those that do not fit what is there, by TensorFlow's own checks, add nothing."""
        for step in [placeholder, images, variable, *self.random.choice(STEPS, n_steps, p=WEIGHTS)]:
            with tf.control_dependencies(self.updates[-1:]):
                try:
                    self._keep([value for value in step(self) if _is_fit(value)])
                except (IndexError, TypeError, ValueError):
                    continue

    def _keep(self, made: list[Tensor]) -> None:
        """Half of the values are seen; what is only read by others may go into them."""
        self.pool += made
        seen = [value for value in made if value.dtype != tf.bool and self.random.integers(2)]
        self.shown += [value + tf.ones([], value.dtype) for value in seen]

    def one_of(self, choices: Any) -> Any:
        return choices[int(self.random.integers(len(choices)))]

    def pick(self, *, rank: int | None = None, at_least: int = 0, types: Any = (tf.float32,)) -> Tensor:
        """A value of one of the types.  Raises: IndexError if there is none."""
        fitting = [t for t in self.pool if t.dtype in types and t.shape.rank >= at_least]
        fitting = [t for t in fitting if rank is None or t.shape.rank == rank]
        return fitting[-1 - int(self.random.geometric(0.15)) % max(len(fitting), 1)]

    def partner(self, x: Tensor) -> Tensor:
        """A value of the same type that can be broadcast with x, at worst x itself."""
        same = [t for t in self.pool if t.dtype == x.dtype and _broadcasts(t, x)]
        return self.one_of(same or [x])

    def numbers(self, *shape: int) -> np.ndarray:
        return np.asarray(self.random.normal(size=shape) * 0.5, np.float32)

    def new_variable(self, *shape: int) -> Any:
        made = tf.Variable(self.numbers(*shape), use_resource=bool(self.random.integers(2)))
        self.variables.append(made)
        return made

    def read(self, made: Any) -> Tensor:
        """Its value.  The sum is of a value of its own, here and in the gradient."""
        value = made.read_value() if self.shows_memory else made.read_value() + tf.constant(self.numbers())
        self.reads.append(value.op)
        return value

    def weights(self, *shape: int) -> Tensor:
        return self.read(self.new_variable(*shape))

    def write(self, make: Callable[[], Any]) -> list[Tensor]:
        """An update behind all reads and writes so far.  Returns no values: each read is an operation of its own."""
        with tf.control_dependencies(self._so_far() if self.shows_memory else self.reads):
            made = make()
        self.updates.append(getattr(made, "op", made))
        self.variables += [v for v in tf.global_variables() if all(v is not known for known in self.variables)]
        return []

    def _so_far(self) -> list[Any]:
        operations = tf.get_default_graph().get_operations()
        return [op for op in operations if op.type not in _NOT_WAITED_FOR and op._get_control_flow_context() is None]


def _is_fit(value: Tensor) -> bool:
    return value.shape.rank is not None and np.prod([size or 5 for size in value.shape.as_list()]) <= LARGEST


def _broadcasts(a: Tensor, b: Tensor) -> bool:
    try:
        return tf.broadcast_static_shape(a.shape, b.shape).rank is not None
    except ValueError:
        return False


def placeholder(g: Maker) -> list[Tensor]:
    shape = [BATCH, *g.random.integers(1, 6, g.random.integers(0, 4))]
    g.placeholders.append(tf.placeholder(g.one_of([tf.float32, tf.float32, tf.float16, tf.int32, tf.bool]), shape))
    return g.placeholders[-1:]


def images(g: Maker) -> list[Tensor]:
    g.placeholders.append(tf.placeholder(tf.float32, [BATCH, *g.random.integers(4, 9, 2), g.random.integers(1, 4)]))
    return g.placeholders[-1:]


def variable(g: Maker) -> list[Tensor]:
    return [g.weights(*g.random.integers(1, 6, g.random.integers(0, 3)))]


def read(g: Maker) -> list[Tensor]:
    return [g.read(g.one_of(g.variables))]


UNARY: list[Callable[[Tensor], Tensor]] = [
    tf.tanh, tf.sigmoid, tf.nn.relu, tf.square, tf.negative, tf.abs, tf.nn.softplus, tf.nn.elu, tf.sin, tf.erf, tf.identity,
    tf.nn.leaky_relu, lambda x: tf.rsqrt(tf.square(x) + 0.3), lambda x: tf.clip_by_value(x, -0.5, 0.8), tf.stop_gradient,
    lambda x: 0.5 * x * (1.0 + tf.tanh(0.8 * (x + 0.045 * x * x * x))), lambda x: 0.5 * x * (1.0 + tf.erf(x * 0.7)),
]  # fmt: skip
BINARY: list[Callable[[Tensor, Tensor], Tensor]] = [
    tf.add, tf.subtract, tf.multiply, tf.maximum, tf.squared_difference, lambda x, y: x / (tf.abs(y) + 0.5),
    lambda x, y: tf.where_v2(x > y, x, y * 0.5), lambda x, y: tf.add_n([x + y, y + x, x - y]),
]  # fmt: skip
INTEGER: list[Callable[[Tensor, Tensor], Tensor]] = [
    tf.add, tf.subtract, tf.multiply, tf.maximum, lambda x, y: tf.floormod(x, tf.abs(y) + 1),
    lambda x, y: tf.cast(x > y, tf.int32),
]  # fmt: skip


def unary(g: Maker) -> list[Tensor]:
    return [g.one_of(UNARY)(g.pick(types=FLOATS))]


def binary(g: Maker) -> list[Tensor]:
    x = g.pick(types=FLOATS)
    return [g.one_of(BINARY)(x, g.partner(x))]


def integer(g: Maker) -> list[Tensor]:
    x = g.pick(types=(tf.int32,))
    return [g.one_of(INTEGER)(x, g.partner(x))]


def cast(g: Maker) -> list[Tensor]:
    x = g.pick(types=(*FLOATS, tf.int32, tf.bool))
    return [tf.cast(x, g.one_of([tf.float32, tf.float32, tf.float16, tf.bfloat16]))]


def reshape(g: Maker) -> list[Tensor]:
    x = g.pick(types=(*FLOATS, tf.int32), at_least=1)
    ways = [lambda: tf.reshape(x, [-1]), lambda: tf.expand_dims(x, 0), lambda: tf.reshape(x, [-1, *x.shape.as_list()[1:], 1]),
            lambda: tf.reshape(x, tf.concat([[-1], tf.shape(x)[1:]], 0))]  # fmt: skip
    return [g.one_of(ways)()]


def transpose(g: Maker) -> list[Tensor]:
    x = g.pick(types=(*FLOATS, tf.int32), at_least=2)
    return [tf.transpose(x, [int(axis) for axis in g.random.permutation(x.shape.rank)])]


def cut(g: Maker) -> list[Tensor]:
    x = g.pick(types=(*FLOATS, tf.int32), at_least=1)
    return [g.one_of([lambda: x[1:], lambda: x[0], lambda: x[..., ::-1], lambda: x[..., :1], lambda: x[::2]])()]


def split(g: Maker) -> list[Tensor]:
    x = g.pick(at_least=2)
    size = x.shape.as_list()[-1]
    return tf.split(x, [1, size - 1], -1) if size and size > 1 else tf.unstack(x, axis=-1)


def concat(g: Maker) -> list[Tensor]:
    x = g.pick(at_least=1)
    return [tf.concat([x, g.partner(x), x][: g.random.integers(1, 4)], int(g.random.integers(x.shape.rank)))]


def gather(g: Maker) -> list[Tensor]:
    x = g.weights(4, 3)
    return [tf.gather(x, tf.floormod(g.pick(types=(tf.int32,)), 4))]


def reduction(g: Maker) -> list[Tensor]:
    x = g.pick(types=(tf.float32, tf.float32, tf.int32))
    operation = g.one_of([tf.reduce_sum, tf.reduce_max, tf.reduce_min, *[tf.reduce_mean] * (x.dtype != tf.int32)])
    axes = [int(axis) for axis in g.random.permutation(x.shape.rank)[: g.random.integers(x.shape.rank + 1)]]
    return [operation(x, axes, keepdims=bool(g.random.integers(2)))]


def convolution(g: Maker) -> list[Tensor]:
    """No 1x1 filters: with unequal strides their gradient on TensorFlow 2.15 writes where it should not (process aborts)."""
    x = g.pick(rank=4)
    channels, n_out = x.shape.as_list()[3], int(g.random.integers(1, 4))
    strides, padding = [1, *g.random.integers(1, 3, 2), 1], g.one_of(["SAME", "VALID"])
    if g.random.integers(3) == 0:
        y = tf.nn.depthwise_conv2d(x, g.weights(3, 2, channels, 2), [1, 1, 1, 1], padding)
    else:
        y = tf.nn.conv2d(x, g.weights(*g.random.integers(2, 4, 2), channels, n_out), strides, padding)
    return [g.one_of([tf.identity, tf.nn.relu, tf.nn.leaky_relu])(tf.nn.bias_add(y, g.weights(y.shape.as_list()[3])))]


def pool(g: Maker) -> list[Tensor]:
    return [g.one_of([tf.nn.max_pool, tf.nn.avg_pool])(g.pick(rank=4), [1, 2, 2, 1], [1, 2, 1, 1], g.one_of(["SAME", "VALID"]))]


def batch_norm(g: Maker) -> list[Tensor]:
    x = g.pick(at_least=2)
    size = x.shape.as_list()[-1]
    if x.shape.rank == 4 and g.random.integers(2):
        return list(tf.nn.fused_batch_norm(x, g.weights(size), g.weights(size), epsilon=0.01))
    mean, variance = tf.nn.moments(x, g.one_of([[0], [-1]]), keep_dims=True)
    return [tf.nn.batch_normalization(x, mean, variance, g.weights(size), g.weights(size), 0.01)]


def dense(g: Maker) -> list[Tensor]:
    x = g.pick(rank=2)
    y = tf.matmul(x, g.weights(x.shape.as_list()[1], 4)) + g.weights(4)
    return [g.one_of([tf.tanh, tf.nn.relu, tf.identity])(y), y]


def softmax(g: Maker) -> list[Tensor]:
    x = g.pick(rank=2)
    labels = tf.floormod(tf.range(tf.shape(x)[0]), x.shape.as_list()[1])
    return [tf.nn.softmax(x), tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x)]


def dropout(g: Maker) -> list[Tensor]:
    return [tf.nn.dropout(g.pick(at_least=1), rate=0.4, seed=int(g.random.integers(100)))]


def conditional(g: Maker) -> list[Tensor]:
    x = g.pick()
    y, is_large = g.partner(x), tf.reduce_sum(x) > 0.1
    return [tf.cond(is_large, lambda: x * 2.0 + y, lambda: tf.tanh(x) - y)]


def loop(g: Maker) -> list[Tensor]:
    x, times = g.pick(), int(g.random.integers(1, 4))
    return [tf.while_loop(lambda i, a: i < times, lambda i, a: (i + 1, tf.tanh(a * 0.7 + tf.reduce_mean(x))), [0, x])[1] * 2.0]


def gradient(g: Maker) -> list[Tensor]:
    loss = tf.reduce_mean(tf.square(g.pick()))
    found = tf.gradients(loss, [g.pick(), g.pick(), g.one_of(g.variables)])
    return [tf.convert_to_tensor(value) for value in found if value is not None]


def assignment(g: Maker) -> list[Tensor]:
    target, x = g.one_of(g.variables), tf.tanh(tf.reduce_mean(g.pick()))
    return g.write(lambda: g.one_of([target.assign, target.assign_add, target.assign_sub])(x + tf.zeros(target.shape)))


def training(g: Maker) -> list[Tensor]:
    loss = tf.reduce_mean(tf.square(g.pick()))
    make = g.one_of(
        [tf.train.GradientDescentOptimizer, tf.train.AdamOptimizer, tf.train.RMSPropOptimizer, tf.train.AdagradOptimizer]
    )
    optimizer = make(0.02)
    found = [pair for pair in optimizer.compute_gradients(loss, g.variables) if pair[0] is not None]
    ways = [lambda x: x, lambda x: x * 0.5, lambda x: tf.clip_by_value(x, -0.1, 0.1), lambda x: tf.clip_by_norm(x, 0.3)]
    change = g.one_of(ways)
    return g.write(lambda: optimizer.apply_gradients([(change(tf.convert_to_tensor(x)), v) for x, v in found]))


_OFTEN = {unary: 6, binary: 6, reshape: 3, cut: 2, reduction: 3, convolution: 4, gradient: 3, training: 3, dense: 3, cast: 2}
STEPS: list[Step] = [
    placeholder, images, variable, read, unary, binary, integer, cast, reshape, transpose, cut, split, concat, gather, reduction,
    convolution, pool, batch_norm, dense, softmax, dropout, conditional, loop, gradient, assignment, training,
]  # fmt: skip
WEIGHTS = np.array([_OFTEN.get(step, 1.0) for step in STEPS]) / sum(_OFTEN.get(step, 1.0) for step in STEPS)
