"""Random numbers in functions: the same as TensorFlow's for every kind of seed, on both sides of a function's edge."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import tensorflow as tf

from tests.legs.tf2.case import SAME_SUMS, case

random = tf.random


@case(SAME_SUMS)
def generator_in_and_out_of_a_function() -> Any:
    generator = random.Generator.from_seed(7)
    f = tf.function(lambda: generator.normal([3]))
    return f(), generator.normal([2]), f(), generator.state, f(), generator.uniform([2])


@case(SAME_SUMS)
def generator_of_each_kind_of_number() -> Any:
    generator = random.Generator.from_seed(3)

    @tf.function
    def f() -> Any:
        counts = generator.binomial([2], [5.0, 6.0], [0.5, 0.2])
        whole = generator.uniform([4], 0, 1000, tf.int32), generator.uniform_full_int([2], tf.int64)
        return generator.truncated_normal([3]), generator.uniform([2], dtype=tf.float64), counts, whole, generator.make_seeds(2)

    return f(), f(), generator.state


@case(SAME_SUMS)
def generator_reset_and_skipped() -> Any:
    generator = random.Generator.from_seed(7)
    f = tf.function(lambda: generator.normal([2]))
    seen = [f()]
    generator.skip(10)
    seen.append(f())
    generator.reset_from_seed(7)
    seen.append(f())
    generator.reset(generator.state)
    return [*seen, f(), generator.key]


@case(SAME_SUMS)
def generator_skipped_in_a_function() -> Any:
    generator = random.Generator.from_seed(7)

    @tf.function
    def f(n: tf.Tensor) -> Any:
        generator.skip(n)
        return generator.normal([2])

    return f(tf.constant(1, tf.uint64)), generator.normal([1]), f(tf.constant(3, tf.uint64))


@case(SAME_SUMS)
def generator_of_another_algorithm() -> Any:
    generator = random.Generator.from_seed(7, alg="threefry")
    f = tf.function(lambda: generator.normal([3]))
    return f(), generator.normal([2]), f(), generator.state


@case(SAME_SUMS)
def generators_split_and_global() -> Any:
    first, second = random.Generator.from_seed(5).split(2)
    random.set_global_generator(random.Generator.from_seed(9))
    f = tf.function(lambda: (first.normal([2]), second.normal([2]), random.get_global_generator().normal([2])))
    return f(), f(), first.state


@case(SAME_SUMS)
def generator_in_a_loop() -> Any:
    generator = random.Generator.from_seed(7)

    @tf.function
    def f(n: tf.Tensor) -> tf.Tensor:
        total = tf.zeros([2])
        for _ in tf.range(n):
            total += generator.normal([2])
        return total

    return f(tf.constant(3)), f(tf.constant(2)), generator.normal([1]), generator.state


@case(SAME_SUMS)
def generator_saved_and_restored() -> Any:
    generator = random.Generator.from_seed(7)
    f = tf.function(lambda: generator.normal([2]))
    checkpoint, seen = tf.train.Checkpoint(generator=generator), [f()]
    path = checkpoint.write(str(Path(tempfile.mkdtemp(dir=".")) / "state"))
    seen.append(f())
    checkpoint.read(path)
    return [*seen, f(), generator.normal([2])]


@case(SAME_SUMS)
def generator_made_by_a_function() -> Any:
    made: list[random.Generator] = []

    @tf.function
    def f() -> tf.Tensor:
        if not made:
            made.append(random.Generator.from_seed(11))
        return made[0].normal([2])

    return f(), f(), made[0].normal([2])


@case(SAME_SUMS)
def seed_of_the_program() -> Any:
    random.set_seed(4)
    f = tf.function(lambda: (random.normal([2]), random.uniform([2])))
    seen = [f(), f(), random.normal([2])]
    random.set_seed(4)
    return [*seen, f(), random.normal([2])]


@case(SAME_SUMS)
def seed_of_an_operator() -> Any:
    f = tf.function(lambda: (random.normal([2], seed=1), random.uniform([2], seed=2), random.truncated_normal([2], seed=3)))
    return f(), f(), random.normal([2], seed=1)


@case(SAME_SUMS)
def both_seeds_by_two_functions() -> Any:
    random.set_seed(8)
    first, second = tf.function(lambda: random.uniform([2], seed=1)), tf.function(lambda: random.uniform([2], seed=1))
    return first(), second(), first(), second()


@case(SAME_SUMS)
def stateless() -> Any:
    @tf.function
    def f(seed: tf.Tensor) -> Any:
        other = random.split(seed, 2)
        numbers = random.stateless_normal([3], seed), random.stateless_uniform([3], seed, 0, 10, tf.int32)
        more = random.stateless_truncated_normal([2], other[0]), random.stateless_categorical([[0.1, 0.5, 0.4]], 5, other[1])
        return numbers, more, random.fold_in(seed, 7), random.stateless_uniform([2], seed, dtype=tf.float64)

    return f(tf.constant([1, 2])), f(tf.constant([3, 4])), random.stateless_normal([3], [1, 2])


@case(SAME_SUMS)
def stateless_of_rarer_kinds() -> Any:
    @tf.function
    def f(seed: tf.Tensor) -> Any:
        counts = random.stateless_poisson([3], seed, 2.0), random.stateless_binomial([3], seed, 10.0, 0.3)
        shuffled = random.experimental.stateless_shuffle(tf.range(6), seed)
        return random.stateless_gamma([3], seed, [0.5, 1.0, 2.0]), counts, shuffled

    return f(tf.constant([1, 2])), f(tf.constant([3, 4]))


@case(SAME_SUMS)
def drawn_and_shuffled() -> Any:
    @tf.function
    def f() -> Any:
        drawn = random.categorical([[0.1, 0.5, 0.4], [5.0, 0.0, 0.0]], 5, seed=3)
        return (
            drawn,
            random.shuffle(tf.range(8), seed=4),
            random.uniform([4], 0, 100, tf.int64, seed=5),
            random.gamma([2], 1.5, seed=6),
        )

    return f(), f()


@case(SAME_SUMS)
def sampled_candidates() -> Any:
    @tf.function
    def f() -> Any:
        true = tf.constant([[1], [2]], tf.int64)
        return random.uniform_candidate_sampler(true, 1, 4, True, 20, seed=1), random.log_uniform_candidate_sampler(
            true, 1, 4, True, 20, seed=2
        )

    return f(), f()


@case(SAME_SUMS)
def dropout() -> Any:
    layer, x = tf.keras.layers.Dropout(0.5, seed=3), tf.ones([4, 6])
    f = tf.function(
        lambda x: (tf.nn.dropout(x, 0.3, seed=1), tf.nn.dropout(x, 0.3, noise_shape=[4, 1], seed=2), layer(x, training=True))
    )
    stateless = tf.function(lambda x: tf.nn.experimental.stateless_dropout(x, 0.4, [1, 2]))
    return f(x), layer(x, training=True), f(x), stateless(x), tf.nn.dropout(x, 0.5, seed=9)


@case(SAME_SUMS)
def dropout_of_the_operator_library() -> Any:
    from npu_device import gen_npu_ops

    @tf.function
    def f(x: tf.Tensor, rate: float) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            mask = gen_npu_ops.drop_out_gen_mask_v3(tf.shape(x), rate, 5, 7, None)
            y = gen_npu_ops.drop_out_do_mask_v3(x, mask, rate, None)
        return mask, y, tape.gradient(y, x)

    return f(tf.random.stateless_uniform([3, 7, 5], [1, 2]), 0.6), f(tf.ones([33]), 0.9), f(tf.ones([33]), 0.9)


@case(SAME_SUMS)
def layers_that_draw() -> Any:
    keras_layers, x = tf.keras.layers, tf.reshape(tf.range(24.0), [2, 3, 4])
    drawing = [
        keras_layers.GaussianNoise(0.3, seed=1),
        keras_layers.GaussianDropout(0.3, seed=2),
        keras_layers.AlphaDropout(0.3, seed=3),
        keras_layers.SpatialDropout1D(0.3),
    ]
    f = tf.function(lambda x: [layer(x, training=True) for layer in drawing])
    return f(x), f(x), [layer(x, training=True) for layer in drawing[:2]]


@case(SAME_SUMS)
def initializers() -> Any:
    made: dict[str, tf.Variable] = {}

    @tf.function
    def f() -> Any:
        if not made:
            made["kernel"] = tf.Variable(tf.keras.initializers.GlorotUniform(seed=1)([3, 2]))
            made["bias"] = tf.Variable(tf.keras.initializers.HeNormal(seed=2)([3, 2]))
        return made["kernel"] + made["bias"]

    return f(), tf.keras.initializers.Orthogonal(seed=3)([3, 3]), f()


@case(SAME_SUMS)
def in_the_input() -> Any:
    dataset = tf.data.Dataset.range(4).map(lambda i: random.uniform([2], seed=3) + tf.cast(i, tf.float32))
    f = tf.function(lambda a: a + random.uniform([2], seed=4))
    return [f(one) for one in dataset]


@case(SAME_SUMS)
def in_branches_and_loops() -> Any:
    @tf.function
    def f(n: tf.Tensor) -> tf.Tensor:
        total = tf.zeros([2])
        for i in tf.range(n):
            total += random.normal([2], seed=1) if i % 2 == 0 else random.uniform([2], seed=2)
        return total

    return f(tf.constant(3)), f(tf.constant(2)), f(tf.constant(3))
