"""Operators that only a host has: Python, tables, files, strings, summaries, queues; and those of images, inside of a step."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from tests.legs.tf2.case import EXACT, TRAINED, case
from tests.legs.tf2.cases.small_networks import X, Y, network

keras = tf.keras


def _folder() -> Path:
    return Path(tempfile.mkdtemp(dir="."))


@case()
def python_in_a_step() -> Any:
    v, seen = tf.Variable(1.0), []

    def double(t: tf.Tensor) -> tf.Tensor:
        seen.append(float(t))
        return t * 2

    @tf.function
    def f(a: tf.Tensor) -> tf.Tensor:
        v.assign_add(tf.reduce_sum(a))
        b = tf.py_function(double, [v * 1.0], tf.float32)
        b.set_shape([])
        return b + v

    return f(tf.ones([3])), f(tf.ones([3])), v, seen


@case()
def python_that_reads_and_writes_a_variable() -> Any:
    v = tf.Variable([1.0, 2.0])

    def look(t: tf.Tensor) -> tf.Tensor:
        before = v.numpy().sum()
        v.assign(v * 10)
        return t + before

    @tf.function
    def f(a: tf.Tensor) -> Any:
        with tf.control_dependencies([v.assign_add([1.0, 1.0])]):
            b = tf.py_function(look, [a], tf.float32)
        with tf.control_dependencies([b]):
            return b, v.read_value()

    return f(tf.constant(0.5)), f(tf.constant(0.25)), v


@case()
def python_with_a_gradient() -> Any:
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def f() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.py_function(lambda t: tf.sin(t) * t, [v], tf.float32))
        return loss, tape.gradient(loss, v)

    return f(), f()


@case()
def numpy_in_a_step() -> Any:
    v, calls = tf.Variable([3.0, 1.0, 2.0]), []

    def sort(array: np.ndarray) -> np.ndarray:
        calls.append(array.shape)
        return np.sort(array)

    @tf.function
    def f(a: tf.Tensor) -> tf.Tensor:
        ordered = tf.numpy_function(sort, [v + a], tf.float32)
        return v.assign(tf.ensure_shape(ordered, [3]))

    return f(tf.constant([0.0, 5.0, 0.0])), f(tf.constant([1.0, 1.0, 1.0])), len(calls)


@case()
def python_that_raises() -> Any:
    v = tf.Variable(1.0)

    def fail(t: tf.Tensor) -> tf.Tensor:
        raise ValueError("not this one")

    @tf.function
    def f(a: tf.Tensor) -> tf.Tensor:
        return tf.py_function(fail, [a * v], tf.float32) + 1

    return f(tf.constant(2.0))


@case()
def after_python_that_raises() -> Any:
    v, say = tf.Variable(1.0), {"no": True}

    def maybe(t: tf.Tensor) -> tf.Tensor:
        if say["no"]:
            raise ZeroDivisionError("once")
        return t * 2

    @tf.function
    def f(a: tf.Tensor) -> tf.Tensor:
        b = tf.py_function(maybe, [a], tf.float32)
        return v.assign_add(b)

    try:
        f(tf.constant(2.0))
    except Exception as error:
        said = type(error).__name__
    say["no"] = False
    return said, v.numpy(), f(tf.constant(2.0)), v


@case(EXACT)
def table() -> Any:
    keys = tf.lookup.KeyValueTensorInitializer(["a", "b"], [3, 4])
    table, v = tf.lookup.StaticHashTable(keys, -1), tf.Variable([1.0, 2.0, 3.0, 4.0, 5.0])

    @tf.function
    def f(words: tf.Tensor) -> Any:
        ids = table.lookup(words)
        v.scatter_add(tf.IndexedSlices(tf.ones([2]), tf.maximum(ids, 0)))
        return tf.gather(v, tf.maximum(ids, 0)), ids, table.size()

    return f(tf.constant(["b", "a"])), table.lookup(tf.constant("a")), f(tf.constant(["a", "c"])), v


@case(EXACT)
def tables_that_change() -> Any:
    counts = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, 0)
    dense = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, -1.0, empty_key=-1, deleted_key=-2)

    @tf.function
    def f(words: tf.Tensor, numbers: tf.Tensor) -> Any:
        counts.insert(words, counts.lookup(words) + 1)
        dense.insert(numbers, tf.cast(numbers, tf.float32) * 0.5)
        return counts.lookup(words), dense.lookup(numbers + 1), counts.size()

    seen = [f(tf.constant(["a", "b"]), tf.constant([1, 2], tf.int64)), f(tf.constant(["a"]), tf.constant([3], tf.int64))]
    counts.insert(tf.constant(["b"]), tf.constant([50], tf.int64))
    counts.remove(tf.constant(["a"]))
    return [*seen, f(tf.constant(["a", "b"]), tf.constant([4, 5], tf.int64)), tf.sort(dense.export()[1])]


@case(TRAINED)
def layers_with_tables() -> Any:
    words = tf.constant(["red", "green", "blue", "red", "black", "green", "red", "blue"])
    texts = tf.constant(["red green", "blue", "red red black", "green", "blue blue", "black", "green red", "white"])
    lookup, vectorize = keras.layers.StringLookup(), keras.layers.TextVectorization(output_sequence_length=3)
    lookup.adapt(words)
    vectorize.adapt(texts)
    word, text = keras.Input((), dtype="string"), keras.Input((), dtype="string")
    hidden = keras.layers.Embedding(8, 4)(lookup(word)), keras.layers.Flatten()(keras.layers.Embedding(10, 4)(vectorize(text)))
    model = keras.Model([word, text], keras.layers.Dense(1)(keras.layers.Concatenate()(hidden)))
    model.compile(keras.optimizers.Adam(0.01), "mse")
    history = model.fit([words, texts], tf.range(8.0), batch_size=4, epochs=3, shuffle=False, verbose=0).history
    return history["loss"], model.predict([words, texts], verbose=0), lookup.get_vocabulary(), lookup(words), vectorize(texts)


@case(TRAINED)
def layers_that_adapt() -> Any:
    normal, buckets = keras.layers.Normalization(), keras.layers.Discretization(num_bins=3)
    normal.adapt(X)
    buckets.adapt(X[:, :1])
    hashed = keras.layers.Hashing(5)
    model = keras.Sequential([keras.Input((6,)), normal, keras.layers.Dense(2)])
    model.compile(keras.optimizers.SGD(0.05), "mse")
    losses = model.fit(X, Y, batch_size=8, shuffle=False, verbose=0).history["loss"]
    f = tf.function(
        lambda x, words: (normal(x), buckets(x[:, :1]), hashed(words), keras.layers.CategoryEncoding(3)(buckets(x[:, :1])))
    )
    return losses, f(tf.constant(X[:3]), tf.constant([["a"], ["b"]])), model.get_weights()


@case(EXACT)
def printed_from_a_step() -> Any:
    v, path = tf.Variable([1.0, 2.0]), _folder() / "printed"

    @tf.function
    def f(a: tf.Tensor) -> tf.Tensor:
        v.assign_add(a)
        tf.print("v is", v, "and a", a[0], tf.shape(a), output_stream=f"file://{path}")
        return v + 1

    f(tf.ones([2]))
    f(tf.ones([2]))
    tf.print("outside", v, output_stream=f"file://{path}")
    return path.read_text().splitlines(), v


@case(EXACT)
def printed_in_the_order_of_the_script() -> Any:
    v, path = tf.Variable(0), _folder() / "printed"

    @tf.function
    def f() -> None:
        for i in tf.range(3):
            v.assign_add(i)
            with tf.control_dependencies([tf.print("turn", i, "sum", v, output_stream=f"file://{path}")]):
                v.assign_sub(1)

    f()
    return path.read_text().splitlines()


def _scalars(folder: Path) -> list[Any]:
    found = []
    for file in sorted(folder.rglob("events*")):
        for event in tf.compat.v1.train.summary_iterator(str(file)):
            found += [
                (event.step, value.tag, tf.make_ndarray(value.tensor))
                for value in event.summary.value
                if value.HasField("tensor")
            ]
    return found


@case(TRAINED)
def summaries_written_from_a_step() -> Any:
    folder, v = _folder(), tf.Variable([1.0, 2.0])
    writer, step = tf.summary.create_file_writer(str(folder)), tf.Variable(0, dtype=tf.int64)

    @tf.function
    def f(a: tf.Tensor) -> tf.Tensor:
        v.assign_add(a)
        with writer.as_default():
            tf.summary.scalar("sum", tf.reduce_sum(v), step=step)
            with tf.summary.record_if(tf.equal(step % 2, 0)):
                tf.summary.scalar("even", v[0], step=step)
        return step.assign_add(1)

    for _ in range(3):
        f(tf.ones([2]))
    with writer.as_default(step=10):
        tf.summary.scalar("outside", v[1])
    writer.flush()
    return [(number, tag, value) for number, tag, value in _scalars(folder)]


@case(TRAINED)
def summaries_of_keras() -> Any:
    folder, model = _folder(), network()
    board = keras.callbacks.TensorBoard(str(folder), histogram_freq=0, update_freq=2, write_graph=False)
    model.fit(X, Y, batch_size=8, epochs=2, shuffle=False, verbose=0, validation_data=(X[:8], Y[:8]), callbacks=[board])
    return [(step, tag, value) for step, tag, value in _scalars(folder) if "loss" in tag]


@case(EXACT)
def files_written_and_read() -> Any:
    path = str(_folder() / "file")

    @tf.function
    def f(text: tf.Tensor) -> tf.Tensor:
        with tf.control_dependencies([tf.io.write_file(path, text)]):
            return tf.strings.length(tf.io.read_file(path))

    return f(tf.constant("some text")), f(tf.constant("more")), Path(path).read_text()


@case(EXACT)
def queues() -> Any:
    queue = tf.queue.FIFOQueue(10, [tf.float32], [[]])
    v = tf.Variable(1.0)

    @tf.function
    def f(a: tf.Tensor) -> tf.Tensor:
        queue.enqueue(a * v)
        v.assign_add(1.0)
        return tf.cast(queue.size(), tf.float32)

    seen = [f(tf.constant(2.0)), f(tf.constant(2.0))]
    return [*seen, queue.dequeue(), tf.function(lambda: queue.dequeue() + v)()]


@case()
def images_in_a_step() -> Any:
    image = tf.reshape(tf.range(2 * 6 * 6 * 3.0), [2, 6, 6, 3]) / 216

    @tf.function
    def f(a: tf.Tensor) -> Any:
        sizes = tf.image.resize(a, [4, 8]), tf.image.resize(a, [3, 3], "nearest"), tf.image.resize(a, [5, 5], "bicubic")
        colours = (
            tf.image.rgb_to_grayscale(a),
            tf.image.adjust_contrast(a, 0.5),
            tf.image.adjust_hue(a, 0.1),
            tf.image.rgb_to_hsv(a),
        )
        parts = (
            tf.image.flip_left_right(a),
            tf.image.rot90(a),
            tf.image.central_crop(a, 0.5),
            tf.image.per_image_standardization(a),
        )
        boxes = tf.image.crop_and_resize(a, [[0.0, 0.0, 0.5, 0.5]], [1], [2, 2])
        return sizes, colours, parts, boxes, tf.image.ssim(a, a * 0.9, 1.0, filter_size=3), tf.image.total_variation(a)

    return f(image)


@case()
def boxes_and_encoded_images() -> Any:
    @tf.function
    def f(a: tf.Tensor, boxes: tf.Tensor, scores: tf.Tensor) -> Any:
        kept = tf.image.non_max_suppression(boxes, scores, 3, 0.5)
        decoded = tf.io.decode_png(tf.io.encode_png(a))
        return (
            kept,
            tf.gather(boxes, kept),
            decoded,
            tf.image.draw_bounding_boxes(tf.cast(a, tf.float32)[None], boxes[None], [[1.0, 0.0, 0.0]]),
        )

    boxes = tf.constant([[0.0, 0.0, 0.5, 0.5], [0.0, 0.0, 0.5, 0.45], [0.5, 0.5, 1.0, 1.0]])
    return f(tf.cast(tf.reshape(tf.range(75), [5, 5, 3]), tf.uint8), boxes, tf.constant([0.9, 0.8, 0.7]))


@case(TRAINED)
def augmentation_in_a_model() -> Any:
    layers = [
        keras.layers.RandomFlip(seed=1),
        keras.layers.RandomRotation(0.1, seed=2),
        keras.layers.RandomTranslation(0.1, 0.1, seed=3),
        keras.layers.RandomZoom(0.1, seed=4),
        keras.layers.RandomContrast(0.2, seed=5),
        keras.layers.Rescaling(2.0, -1.0),
    ]
    model = keras.Sequential([keras.Input((8, 8, 1)), *layers, keras.layers.Flatten(), keras.layers.Dense(2)])
    model.compile(keras.optimizers.SGD(0.01), "mse")
    images = np.random.RandomState(3).rand(16, 8, 8, 1).astype(np.float32)
    losses = model.fit(images, Y[:16], batch_size=8, epochs=2, shuffle=False, verbose=0).history["loss"]
    return losses, model.get_weights()[-2:], model.predict(images[:2], verbose=0)


@case()
def images_drawn_at_random() -> Any:
    image = tf.reshape(tf.range(48.0), [4, 4, 3]) / 48

    @tf.function
    def f(seed: tf.Tensor) -> Any:
        turned = tf.image.stateless_random_flip_left_right(image, seed), tf.image.stateless_random_crop(image, [2, 2, 3], seed)
        lit = tf.image.stateless_random_brightness(image, 0.2, seed), tf.image.stateless_random_saturation(image, 0.5, 1.5, seed)
        return turned, lit, tf.image.random_flip_up_down(image, seed=1), tf.image.random_crop(image, [3, 3, 3], seed=2)

    return f(tf.constant([1, 2])), f(tf.constant([3, 4]))


@case(EXACT)
def dates_numbers_and_codes_as_strings() -> Any:
    @tf.function
    def f(text: tf.Tensor) -> Any:
        parts = tf.strings.regex_replace(text, "[0-9]+", "#"), tf.strings.substr(text, 0, 3), tf.io.encode_base64(text)
        code = tf.strings.unicode_decode(text, "UTF-8").to_tensor(), tf.io.decode_raw(tf.constant("abcd"), tf.uint8)
        return (
            parts,
            code,
            tf.strings.join([text, text], "-"),
            tf.strings.format("{} is", [tf.constant(3)]),
            tf.strings.bytes_split(text).to_tensor(),
        )

    return f(tf.constant(["2024-05", "Zürich 1"]))
