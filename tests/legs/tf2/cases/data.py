"""Datasets and iterators that functions consume, and what ends them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from tests.legs.tf2.case import EXACT, TRAINED, case

Dataset = tf.data.Dataset


@case(EXACT)
def end_of_an_iterator_in_a_loop() -> Any:
    iterator, v = iter(Dataset.range(50).batch(20)), tf.Variable(0, dtype=tf.int64)
    f = tf.function(lambda i: v.assign_add(tf.reduce_sum(next(i))))
    seen = []
    try:
        while True:
            seen.append(int(f(iterator)))
    except tf.errors.OutOfRangeError as error:
        return seen, type(error).__name__, v, str(error).splitlines()[0].partition("End of")[2][:12]


@case()
def end_of_an_iterator_that_nobody_catches() -> Any:
    iterator = iter(Dataset.range(2))
    f = tf.function(lambda i: next(i))
    return [f(iterator), f(iterator), f(iterator)]


@case(EXACT)
def iterator_passed_to_functions_and_read_outside() -> Any:
    iterator = iter(Dataset.range(10))
    one, two = tf.function(lambda i: next(i) * 10), tf.function(lambda i: (next(i), next(i)))
    return one(iterator), next(iterator), two(iterator), iterator.get_next(), one(iterator), list(map(int, iterator))


@case(EXACT)
def iterator_that_a_function_captures() -> Any:
    iterator, v = iter(Dataset.range(6).map(lambda i: i * i)), tf.Variable(0, dtype=tf.int64)
    f = tf.function(lambda: v.assign_add(next(iterator)))
    return [int(f()) for _ in range(4)], v


@case()
def loop_over_an_iterator() -> Any:
    iterator, v = iter(Dataset.range(20).map(lambda i: tf.cast(i, tf.float32))), tf.Variable([1.0, 2.0])

    @tf.function
    def several(iterator: Iterator[Any], times: tf.Tensor) -> tf.Tensor:
        for _ in tf.range(times):
            v.assign(v * 0.5 + next(iterator))
        return tf.reduce_sum(v)

    seen = [several(iterator, tf.constant(3)), several(iterator, tf.constant(4)), v.numpy().copy()]
    v.assign([0.0, 0.0])
    return [*seen, several(iterator, tf.constant(0)), several(iterator, tf.constant(1)), next(iterator)]


@case(EXACT)
def end_within_a_loop() -> Any:
    iterator, v = iter(Dataset.range(5)), tf.Variable(0, dtype=tf.int64)

    @tf.function
    def several(iterator: Iterator[Any]) -> tf.Tensor:
        for _ in tf.range(3):
            v.assign_add(next(iterator) + 1)
        return v.read_value()

    seen: list[Any] = [several(iterator)]
    try:
        seen.append(several(iterator))
    except tf.errors.OutOfRangeError as error:
        seen.append(type(error).__name__)
    return seen, v


@case(EXACT)
def dataset_iterated_inside_of_a_function() -> Any:
    v = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def f(dataset: Dataset) -> Any:
        largest = tf.constant(-1, tf.int64)
        for one in dataset:
            v.assign_add(one)
            largest = tf.maximum(largest, one)
        return largest, v.read_value()

    return f(Dataset.range(5)), f(Dataset.range(3)), v


@case(EXACT)
def dataset_with_an_index_and_a_break() -> Any:
    @tf.function
    def f(dataset: Dataset) -> Any:
        total = tf.constant(0, tf.int64)
        for i, (a, b) in dataset.enumerate():
            total += a * b
            if i >= 3:
                break
        return total

    return f(Dataset.zip((Dataset.range(10), Dataset.range(1, 11))))


@case(EXACT)
def dataset_made_inside_of_a_function() -> Any:
    v = tf.Variable([1, 2, 3], dtype=tf.int64)

    @tf.function
    def f() -> Any:
        total = tf.constant(0, tf.int64)
        for one in Dataset.from_tensor_slices(v):
            total += one
        return total, Dataset.range(5).reduce(tf.constant(0, tf.int64), lambda a, b: a + b)

    seen = [f()]
    v.assign([10, 20, 30])
    return [*seen, f()]


@case(EXACT)
def optional_next() -> Any:
    iterator = iter(Dataset.range(2))

    @tf.function
    def f(iterator: Iterator[Any]) -> tf.Tensor:
        found = iterator.get_next_as_optional()
        return found.get_value() if found.has_value() else tf.constant(-1, tf.int64)

    return f(iterator), f(iterator), f(iterator), f(iterator)


@case(EXACT)
def variable_captured_by_map() -> Any:
    v = tf.Variable(1, dtype=tf.int64)
    add = tf.function(lambda a: v.assign_add(a))
    add(tf.constant(9, tf.int64))
    seen = [int(one) for one in Dataset.range(3).map(lambda i: i * v)]
    add(tf.constant(90, tf.int64))
    seen += [int(one) for one in Dataset.range(3).map(lambda i: i * v)]
    return [*seen, v]


@case(EXACT)
def variable_written_by_map() -> Any:
    v = tf.Variable(0, dtype=tf.int64)
    add = tf.function(lambda a: v.assign_add(a))
    seen = [int(one) for one in Dataset.range(3).map(lambda i: v.assign_add(i + 1))]
    return seen, add(tf.constant(100, tf.int64)), [int(one) for one in Dataset.range(2).map(lambda i: v.assign_add(i))], v


@case(EXACT)
def shuffled_with_a_seed() -> Any:
    dataset = Dataset.range(10).shuffle(10, seed=3).batch(4)
    f = tf.function(lambda a: tf.reduce_sum(a * tf.range(1, tf.size(a, tf.int64) + 1)))
    return [f(batch) for _ in range(2) for batch in dataset]


@case(EXACT)
def interleaved_padded_and_windowed() -> Any:
    lengths = Dataset.range(1, 5).map(lambda n: tf.range(n)).padded_batch(2)
    windows = Dataset.range(6).window(3).flat_map(lambda window: window.batch(3))
    several = Dataset.range(3).interleave(lambda i: Dataset.range(i * 10, i * 10 + 3), cycle_length=2)
    f = tf.function(lambda a: a * 2)
    return [f(one) for dataset in (lengths, windows, several) for one in dataset]


@case(EXACT)
def batches_of_ragged_and_sparse_tensors() -> Any:
    rows = Dataset.range(4).map(lambda n: tf.range(n)).apply(tf.data.experimental.dense_to_ragged_batch(2))
    spots = Dataset.from_tensor_slices(tf.sparse.from_dense([[1, 0, 2], [0, 0, 3]]))
    f, g = tf.function(lambda r: tf.reduce_sum(r, 1)), tf.function(lambda s: tf.sparse.to_dense(s))
    return [f(one) for one in rows], [g(one) for one in spots]


@case(EXACT)
def generator_of_python() -> Any:
    given: list[int] = []

    def numbers() -> Iterator[int]:
        for i in range(5):
            given.append(i)
            yield i

    dataset = Dataset.from_generator(numbers, output_signature=tf.TensorSpec([], tf.int32))
    f = tf.function(lambda a: a * 2)
    return [f(one) for one in dataset], given


@case()
def generator_that_raises_inside_of_a_function() -> Any:
    def numbers() -> Iterator[int]:
        yield 1
        raise KeyError("no more")

    @tf.function
    def f(dataset: Dataset) -> tf.Tensor:
        total = tf.constant(0)
        for one in dataset:
            total += one
        return total

    return f(Dataset.from_generator(numbers, output_signature=tf.TensorSpec([], tf.int32)))


@case(EXACT)
def examples_parsed_in_a_function() -> Any:
    def example(number: int) -> bytes:
        figures = tf.train.Feature(float_list=tf.train.FloatList(value=[number, number + 0.5]))
        name = tf.train.Feature(bytes_list=tf.train.BytesList(value=[f"n{number}".encode()]))
        return tf.train.Example(features=tf.train.Features(feature={"figures": figures, "name": name})).SerializeToString()

    path = Path(tempfile.mkdtemp(dir=".")) / "records"
    with tf.io.TFRecordWriter(str(path)) as writer:
        for number in range(4):
            writer.write(example(number))
    kinds = {"figures": tf.io.FixedLenFeature([2], tf.float32), "name": tf.io.VarLenFeature(tf.string)}

    @tf.function
    def parse(batch: tf.Tensor) -> Any:
        parsed = tf.io.parse_example(batch, kinds)
        return tf.reduce_sum(parsed["figures"], 0), tf.sparse.to_dense(parsed["name"])

    return [parse(batch) for batch in tf.data.TFRecordDataset(str(path)).batch(2)]


@case(EXACT)
def place_in_a_dataset_saved() -> Any:
    iterator, step = iter(Dataset.range(10)), tf.function(lambda i: next(i))
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    seen = [step(iterator), step(iterator)]
    path = checkpoint.save(str(Path(tempfile.mkdtemp(dir=".")) / "place"))
    seen += [step(iterator), step(iterator)]
    checkpoint.restore(path)
    return [*seen, step(iterator)]


@case(EXACT)
def two_iterators_at_once() -> Any:
    a, b = iter(Dataset.range(5)), iter(Dataset.range(100, 105))
    f = tf.function(lambda a, b: next(a) + next(b) * 1000 + next(a))
    return f(a, b), next(a), f(a, b), next(b)


@case(EXACT)
def structures_of_a_dataset() -> Any:
    arrays = {"x": np.arange(6).reshape(3, 2), "nested": (np.array(["a", "b", "c"]), np.array([True, False, True]))}
    f = tf.function(lambda item: {"sum": tf.reduce_sum(item["x"]), "word": item["nested"][0], "not": ~item["nested"][1]})
    return [f(item) for item in Dataset.from_tensor_slices(arrays)]


@case()
def loops_over_iterators_of_every_kind() -> Any:
    """Pairs and nests, one that is at its end, one that is left early, texts beside numbers, sizes that differ, no dimensions."""
    v = tf.Variable(1.0)

    @tf.function
    def total(iterator: Any) -> tf.Tensor:
        found = tf.zeros([])
        for pair in iterator:
            found += v * tf.cast(tf.add_n([tf.reduce_sum(tf.cast(one, tf.float32)) for one in tf.nest.flatten(pair)]), tf.float32)
            v.assign_add(0.5)
        return found

    @tf.function
    def until(iterator: Any, most: float) -> tf.Tensor:
        found = tf.zeros([])
        for one in iterator:
            if one < 0:
                continue
            found += v * one
            if found > most:
                break
        return found

    @tf.function
    def texts(iterator: Any) -> Any:
        found, said = tf.zeros([]), tf.constant("")
        for number, text in iterator:
            found += tf.sin(number) * v
            said = tf.strings.join([said, text])
        return found, said

    numbers = tf.data.Dataset.from_tensor_slices([3.0, -1.0, 2.0, 4.0, 1.0])
    nests = tf.data.Dataset.from_tensor_slices({"a": tf.ones([5, 2]), "b": (tf.range(5), [True] * 5)})
    several, ended, left = iter(nests.batch(2)), iter(nests.take(0)), iter(numbers)
    named = iter(tf.data.Dataset.from_tensor_slices(([1.0, 2.0], ["a", "b"])))
    sums = [total(several), total(several), total(ended), total(iter(nests.batch(2, drop_remainder=True)))]
    return sums, v, until(left, 4.0), next(left), until(left, 100.0), texts(named)


@case(TRAINED)
def epoch_in_a_function() -> Any:
    model = tf.keras.Sequential(
        [tf.keras.layers.Dense(4, "tanh"), tf.keras.layers.Dropout(0.2, seed=1), tf.keras.layers.Dense(1)]
    )
    optimizer, mean = tf.keras.optimizers.Adam(0.01), tf.keras.metrics.Mean()
    x = tf.reshape(tf.sin(tf.range(40.0)), [10, 4])
    model(x)
    optimizer.build(model.trainable_variables)

    @tf.function
    def epoch(iterator: Any) -> Any:
        for a, b in iterator:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((model(a, training=True) - b) ** 2)
            optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True))
            mean.update_state(loss)
        return mean.result()

    dataset = tf.data.Dataset.from_tensor_slices((x, x[:, :1])).batch(4)
    return [epoch(iter(dataset)) for _ in range(2)], model.get_weights(), optimizer.iterations
