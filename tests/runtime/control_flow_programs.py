"""Programs of conditionals, cases, loops, assertions, assignments and Python functions, drawn from a seed.

Only what TensorFlow orders is read: what a program changes are totals, which nothing in it reads and whose sums are exact in any
order.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.python.ops import control_flow_ops

Tensor = Any
DEEPEST = 5
"""Conditionals and loops inside each other."""
LEAST_ASSERTED = -1e6
"""A bound that no value of a program reaches; the values that fail an assertion on purpose are drawn elsewhere."""


@dataclass
class Program:
    """A graph of one seed.  is_functional: of control flow version 2.  middle: values that are fed and fetched."""

    is_functional: bool
    use_resource: bool
    feeds: list[dict[Tensor, Any]] = field(default_factory=list)
    fetches: list[Tensor] = field(default_factory=list)
    middle: list[Tensor] = field(default_factory=list)
    read: list[Any] = field(default_factory=list)
    totals: list[Any] = field(default_factory=list)
    calls: Counter[int] = field(default_factory=Counter)


def draw(seed: int) -> Program:
    """Builds the program in the default graph; the kind of control flow is the caller's to set (`is_functional`)."""
    rng = random.Random(seed)
    made = Program(is_functional=seed % 2 == 1, use_resource=rng.random() < 0.5 or seed % 2 == 1)
    _Drawing(rng, made).program()
    return made


class _Drawing:
    def __init__(self, rng: random.Random, made: Program) -> None:
        self.rng, self.made = rng, made
        self.depth, self.loops = 0, 0
        self.known: list[list[Tensor]] = [[]]
        """Values of the scopes that are open, the outermost first: what an inner one may read."""

    def program(self) -> None:
        made, rng = self.made, self.rng
        self.x, self.n, self.b = (
            tf.placeholder(tf.float32, [], "x"),
            tf.placeholder(tf.int32, [], "n"),
            tf.placeholder(tf.bool, [], "b"),
        )
        made.read = [self.variable("read", 0.75)]
        made.totals = [self.variable(f"total_{number}", 0.0) for number in range(3)]
        self.known[0] = [self.x]
        tops = []
        for _ in range(rng.randint(1, 3)):
            tops.append(self.value(rng.randint(2, DEEPEST)))
            self.known[0].append(tops[-1])
        made.middle = [tf.identity(top, f"middle_{index}") for index, top in enumerate(tops)]
        result = tf.add_n(made.middle, "result")
        effects = [self.effect(2) for _ in range(rng.randint(0, 2))]
        made.fetches = [result, *made.middle, *effects, *self.gradients(result)]
        made.feeds = [
            {self.x: x, self.n: n, self.b: b} for x, n, b in ((0.5, 0, True), (-1.5, 1, False), (2.5, 2, True), (-0.25, 3, False))
        ]

    def variable(self, name: str, value: float) -> Any:
        return tf.get_variable(name, initializer=value, use_resource=self.made.use_resource, trainable=name == "read")

    def gradients(self, result: Tensor) -> list[Tensor]:
        """None where TensorFlow cannot build them."""
        with tf.get_default_graph().as_default():
            try:
                found = tf.gradients(result, [self.x, *self.made.read])
            except (LookupError, ValueError, TypeError, AttributeError, RuntimeError):
                return []
        return [tf.convert_to_tensor(gradient) for gradient in found if gradient is not None]

    # Values: scalars of float32.

    def value(self, depth: int) -> Tensor:
        if depth <= 0 or self.rng.random() < 0.15:
            return self.leaf()
        kinds: list[Callable[[int], Tensor]] = [
            self.conditional, self.conditional, self.case, self.loop, self.waiting, self.waiting, self.sum, self.product,
            self.checked, self.printed, self.called,
        ]  # fmt: skip
        if not self.made.is_functional:
            kinds.append(self.switched)
        return self.rng.choice(kinds)(depth)

    def leaf(self) -> Tensor:
        number = round(self.rng.uniform(-2, 2), 2)
        kinds: list[Callable[[], Tensor]] = [
            lambda: tf.constant(number),
            lambda: tf.fill([], np.float32(number)),
            lambda: tf.ones([]),
            lambda: tf.reduce_sum(tf.zeros([2]) + number),
            lambda: tf.random.uniform([], number, number),
            lambda: tf.reduce_max(tf.range(3.0)),
            lambda: tf.placeholder_with_default(np.float32(number), []),
            lambda: self.python(),
            lambda: tf.identity(self.made.read[0]),
            lambda: self.made.read[0] * number,
            lambda: self.made.read[0].read_value(),
            lambda: tf.cast(self.n, tf.float32) * 0.5,
            lambda: self.any_known() * number,
            lambda: self.any_known(),
        ]
        return self.rng.choice(kinds)()

    def any_known(self) -> Tensor:
        return self.rng.choice([value for scope in self.known for value in scope])

    def python(self, *inputs: Tensor) -> Tensor:
        """A Python function that counts its calls."""
        number, calls = len(self.made.calls), self.made.calls
        calls[number] = 0

        def count(*values: Any) -> np.float32:
            calls[number] += 1
            return np.float32(1.0 + sum(values))

        result = tf.py_func(count, list(inputs), tf.float32)
        result.set_shape([])
        return result

    def called(self, depth: int) -> Tensor:
        return self.python(self.value(depth - 1))

    def sum(self, depth: int) -> Tensor:
        return self.value(depth - 1) + self.value(depth - 1)

    def product(self, depth: int) -> Tensor:
        return tf.tanh(self.value(depth - 1)) * self.value(depth - 1)

    def printed(self, depth: int) -> Tensor:
        return tf.Print(self.value(depth - 1), [self.x], summarize=0, first_n=0)

    def waiting(self, depth: int) -> Tensor:
        """A value, most often without an input, that waits for what makes no value of its own."""
        waits = [self.waited(depth - 1) for _ in range(self.rng.randint(1, 2))]
        with tf.control_dependencies(waits):
            return self.leaf() if self.rng.random() < 0.7 else self.value(depth - 1)

    def waited(self, depth: int) -> Any:
        kinds: list[Callable[[], Any]] = [
            lambda: self.effect(depth), lambda: self.effect(depth), lambda: self.value(depth), lambda: self.assertion(),
            lambda: self.any_known(), lambda: tf.no_op(), lambda: tf.group(self.effect(0), self.leaf()),
            lambda: self.predicate(), lambda: self.python(),
        ]  # fmt: skip
        made = self.rng.choice(kinds)()
        return made.op if isinstance(made, tf.Tensor) and self.rng.random() < 0.5 else made

    def effect(self, depth: int) -> Any:
        """An operation that adds to a total, now or in a branch; locked, as TensorFlow may lose one of two unlocked updates."""
        if depth > 0 and self.rng.random() < 0.4:
            return self.guarded(lambda: self.effect(depth - 1))
        total, number = self.rng.choice(self.made.totals), float(self.rng.randint(1, 9))
        kinds = [lambda: total.assign_add(number, use_locking=True), lambda: total.assign_sub(number, use_locking=True)]
        if self.loops == 0:
            kinds.append(lambda: tf.assign_add(total, tf.round(tf.clip_by_value(self.leaf(), -4.0, 4.0)), use_locking=True))
        made = self.rng.choice(kinds)()
        return made.op if hasattr(made, "op") else made

    def guarded(self, make: Callable[[], Any]) -> Any:
        def taken() -> Tensor:
            with tf.control_dependencies([make()]):
                return tf.constant(0)

        other = taken if self.rng.random() < 0.3 else lambda: tf.constant(1)
        return self.inside(lambda: tf.cond(self.predicate(), taken, other))

    def assertion(self) -> Any:
        kinds: list[Callable[[], Any]] = [
            lambda: tf.debugging.assert_greater(self.any_known(), LEAST_ASSERTED),
            lambda: tf.debugging.assert_less(self.any_known(), -LEAST_ASSERTED),
            lambda: tf.debugging.assert_all_finite(self.any_known(), "finite"),
            lambda: tf.Assert(self.n >= 0, [self.n]),
            lambda: tf.Assert(self.any_known() > LEAST_ASSERTED, [self.x]),
        ]
        return self.rng.choice(kinds)()

    def checked(self, depth: int) -> Tensor:
        with tf.control_dependencies([self.assertion()]):
            return tf.identity(self.value(depth - 1)) if self.rng.random() < 0.5 else self.leaf()

    def predicate(self) -> Tensor:
        kinds: list[Callable[[], Tensor]] = [
            lambda: self.b, lambda: tf.logical_not(self.b), lambda: self.n > self.rng.randint(-1, 3),
            lambda: self.x < self.rng.choice([-1.0, 0.0, 1.0]), lambda: tf.logical_and(self.b, self.n > 1),
            lambda: tf.equal(self.n, self.rng.randint(0, 3)), lambda: self.any_known() > 0.1,
            lambda: tf.constant(self.rng.random() < 0.5), lambda: tf.reduce_any([self.b, self.x > 0]),
        ]  # fmt: skip
        return self.rng.choice(kinds)()

    # Scopes.

    def inside(self, make: Callable[[], Any]) -> Any:
        self.known.append([])
        try:
            return make()
        finally:
            self.known.pop()

    def branch(self, depth: int) -> Callable[[], Tensor]:
        def build() -> Tensor:
            return self.inside(lambda: self.several(depth))

        return build

    def several(self, depth: int) -> Tensor:
        """A value of a branch, where others have been made before it that it may read."""
        for _ in range(self.rng.randint(0, 1)):
            self.known[-1].append(self.value(depth - 1))
        return self.value(depth)

    def conditional(self, depth: int) -> Tensor:
        return tf.cond(self.predicate(), self.branch(depth - 1), self.branch(depth - 1))

    def switched(self, depth: int) -> Tensor:
        """A conditional of before tf.cond: a Switch whose sides meet in a Merge, outside of any conditional's context."""
        dead_if_true, dead_if_false = control_flow_ops.switch(self.value(depth - 1), self.predicate())
        with tf.control_dependencies([dead_if_true] if self.rng.random() < 0.5 else []):
            one = tf.identity(dead_if_true) if self.rng.random() < 0.5 else self.python(dead_if_true)
        return control_flow_ops.merge([one, dead_if_false * 0.5])[0]

    def case(self, depth: int) -> Tensor:
        pairs = [(self.predicate(), self.branch(depth - 1)) for _ in range(self.rng.randint(1, 3))]
        if self.rng.random() < 0.3:
            if self.made.is_functional and self.rng.random() < 0.5:
                return tf.switch_case(self.n, [build for _, build in pairs])
            pairs[-1] = (tf.constant(True), pairs[-1][1])
            return tf.case(pairs)
        return tf.case(pairs, default=self.branch(depth - 1))

    def loop(self, depth: int) -> Tensor:
        times = self.rng.choice([lambda: self.rng_times, lambda: self.n])()
        start = self.value(depth - 2)
        turns = self.rng.choice([1, 10])
        self.loops += 1

        def body(i: Tensor, total: Tensor) -> tuple[Tensor, Tensor]:
            def build() -> tuple[Tensor, Tensor]:
                self.known[-1].append(total)
                return i + 1, tf.tanh(total) * 0.5 + self.value(depth - 1)

            return self.inside(build)

        try:
            return tf.while_loop(lambda i, total: i < times, body, [tf.constant(0), start], parallel_iterations=turns)[1]
        finally:
            self.loops -= 1

    @property
    def rng_times(self) -> int:
        return self.rng.randint(0, 3)
