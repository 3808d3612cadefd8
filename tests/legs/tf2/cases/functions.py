"""Functions in all their forms: arguments and results of many kinds, control flow, recursion, retracing, threads."""

from __future__ import annotations

import collections
import functools
import threading
from typing import Any

import numpy as np
import tensorflow as tf

from tests.legs.tf2.case import EXACT, case


@case()
def retraced_forty_times() -> Any:
    f = tf.function(lambda a: tf.reduce_sum(a * a))
    return [f(tf.range(float(n))) for n in range(1, 41)]


@case()
def unknown_sizes() -> Any:
    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
    def f(a: tf.Tensor) -> tf.Tensor:
        return tf.reduce_mean(a, 0) * tf.cast(tf.shape(a)[0], tf.float32)

    return [f(tf.reshape(tf.range(3.0 * n), [n, 3])) for n in (1, 2, 5, 2, 1)]


@case()
def structures_in_and_out() -> Any:
    Pair = collections.namedtuple("Pair", "first second")

    @tf.function
    def f(pair: Any, *more: Any, scale: Any = 2.0, nothing: Any = None) -> Any:
        return {"pair": Pair(pair.second * scale, pair.first), "more": list(more), "nothing": nothing, "constant": 3}

    one = f(Pair(tf.ones([2]), tf.constant([1, 2])), tf.constant(1.0), [np.float32(3)], scale=3)
    return one["pair"].first, one["pair"].second, one["more"], one["nothing"] is None, one["constant"], type(one["pair"]).__name__


@case(EXACT)
def python_arguments() -> Any:
    traced = []

    @tf.function
    def f(a: Any, times: Any, is_on: Any = True) -> Any:
        traced.append(times)
        return a * times if is_on else a

    seen = [f(tf.constant(2), 3), f(tf.constant(2), 3), f(tf.constant(2), 4, is_on=False), f(2, 3), f(np.int32(5), 3)]
    return seen, traced


@case(EXACT)
def results_that_are_arguments_or_constants() -> Any:
    f = tf.function(lambda a, b: (a, a, tf.constant([1, 2]), b, 7, "text", [a + b]))
    return f(tf.constant(1), tf.constant(2))


@case(EXACT)
def no_results_and_no_arguments() -> Any:
    v = tf.Variable(0)

    @tf.function
    def f() -> None:
        v.assign_add(1)

    return f() is None, f() is None, v, tf.function(lambda: tf.zeros([0, 2]))().shape, tf.function(lambda: ())() == ()


@case()
def concrete_function() -> Any:
    v = tf.Variable([2.0])
    f = tf.function(lambda a: a * v).get_concrete_function(tf.TensorSpec([None], tf.float32))
    seen = [f(tf.constant([1.0, 2.0])), f(a=tf.constant([3.0]))]
    v.assign([5.0])
    return [*seen, f(tf.constant([1.0])), len(f.captured_inputs)]


@case()
def wrapped_partial_and_method() -> Any:
    class Scaled:
        def __init__(self, by: float) -> None:
            self.by = tf.Variable(by)

        @tf.function
        def of(self, a: Any) -> Any:
            return a * self.by

    double = functools.partial(tf.function(lambda a, b: a * b), b=tf.constant(2.0))
    one, other = Scaled(3.0), Scaled(4.0)
    return double(tf.constant(5.0)), one.of(tf.constant(1.0)), other.of(tf.constant(1.0)), one.of(tf.constant(2.0))


@case(EXACT)
def nested_five_deep() -> Any:
    v = tf.Variable(1.0)

    def deeper(inner: Any) -> Any:
        return tf.function(lambda a: inner(v.assign_add(a)) + 1)

    f = tf.function(lambda a: a * v)
    for _ in range(5):
        f = deeper(f)
    return f(tf.constant(1.0)), v, f(tf.constant(0.5)), v


@case(EXACT)
def recursion_that_ends_while_tracing() -> Any:
    @tf.function
    def factorial(n: int) -> Any:
        return tf.constant(1) if n <= 1 else n * factorial(n - 1)

    return factorial(5), factorial(3)


@case()
def recursion_that_does_not_end() -> Any:
    @tf.function
    def f(n: tf.Tensor) -> tf.Tensor:
        return tf.cond(n > 0, lambda: f(n - 1) + 1, lambda: n)

    return f(tf.constant(3))


@case()
def branches_that_write() -> Any:
    v, w = tf.Variable(1.0), tf.Variable(1.0)

    @tf.function
    def f(a: tf.Tensor) -> tf.Tensor:
        if a > 0:
            v.assign_add(a)
            result = v * 2
        elif a < -5:
            w.assign(a)
            result = tf.constant(0.0)
        else:
            result = w + a
        return result

    return [(f(tf.constant(a)), v.numpy(), w.numpy()) for a in (1.0, -1.0, -9.0, 2.0, -2.0)]


@case()
def switch_and_case() -> Any:
    v = tf.Variable([0.0, 0.0, 0.0])
    branches = [lambda i=i: v[i].assign(v[i] + float(i) + 1) for i in range(3)]

    @tf.function
    def f(i: tf.Tensor) -> tf.Tensor:
        tf.switch_case(i, branches)
        return tf.case([(i < 1, lambda: v[0] * 2), (i > 1, lambda: v[2])], default=lambda: tf.constant(-1.0))

    return [f(tf.constant(i)) for i in (0, 1, 2, 7, 0)], v


@case()
def loops_that_write() -> Any:
    v = tf.Variable(0.0)

    @tf.function
    def f(n: tf.Tensor) -> tf.Tensor:
        for i in tf.range(n):
            if i % 2 == 0:
                v.assign_add(2.0)
            else:
                v.assign_sub(0.5)
        return v.read_value()

    seen = [f(tf.constant(5)), f(tf.constant(2)), f(tf.constant(0))]
    v.assign(100.0)
    return [*seen, f(tf.constant(1)), v]


@case()
def loops_that_are_left_early() -> Any:
    @tf.function
    def f(limit: tf.Tensor) -> Any:
        total, turns = tf.constant(0.0), tf.constant(0)
        while total < 1000:
            total += 1.5
            turns += 1
            if total > limit:
                break
            if turns % 2 == 0:
                continue
            total *= 1.5
        return total, turns

    return f(tf.constant(3.0)), f(tf.constant(40.0)), f(tf.constant(-1.0))


@case()
def loops_of_growing_values() -> Any:
    @tf.function
    def f(n: tf.Tensor) -> tf.Tensor:
        grown = tf.constant([1.0])
        for _ in tf.range(n):
            tf.autograph.experimental.set_loop_options(shape_invariants=[(grown, tf.TensorShape([None]))])
            grown = tf.concat([grown, grown[-1:] * 2], 0)
        return grown

    return f(tf.constant(4)), f(tf.constant(1)), f(tf.constant(0))


@case()
def tensor_arrays() -> Any:
    @tf.function
    def f(a: tf.Tensor) -> Any:
        array = tf.TensorArray(tf.float32, 0, dynamic_size=True, clear_after_read=False)
        for i in tf.range(tf.shape(a)[0]):
            array = array.write(i, a[i] * tf.cast(i, tf.float32))
        return array.stack(), array.read(1), array.size(), array.gather([0, 2]), array.concat()

    return f(tf.reshape(tf.range(8.0), [4, 2]))


@case()
def maps_and_folds() -> Any:
    v = tf.Variable(2.0)

    @tf.function
    def f(a: tf.Tensor) -> Any:
        mapped = tf.map_fn(lambda x: x * v, a)
        return mapped, tf.foldl(lambda x, y: x + y * v, a), tf.scan(lambda x, y: x * v + y, a), tf.foldr(lambda x, y: x - y, a)

    return f(tf.constant([1.0, 2.0, 3.0]))


@case()
def vectorized_map() -> Any:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    f = tf.function(lambda a: tf.vectorized_map(lambda x: tf.linalg.matvec(v, x) + tf.reduce_sum(x), a))
    return f(tf.constant([[1.0, 0.0], [0.0, 1.0], [2.0, 3.0]]))


@case(EXACT)
def four_threads_on_one_function() -> Any:
    v = tf.Variable(tf.zeros([8]))
    f = tf.function(lambda a: v.assign_add(a))
    failed: list[str] = []

    def work() -> None:
        try:
            for _ in range(25):
                f(tf.ones([8]))
        except Exception as error:
            failed.append(repr(error))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return v, failed


@case()
def two_functions_of_two_threads_on_one_variable() -> Any:
    v, results = tf.Variable(tf.zeros([4])), {}
    functions = {"add": tf.function(lambda: v.assign_add(tf.ones([4]))), "read": tf.function(lambda: tf.reduce_max(v) >= 0.0)}

    def work(name: str) -> None:
        results[name] = [functions[name]() for _ in range(20)][-1]

    threads = [threading.Thread(target=work, args=(name,)) for name in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return v, results["read"]


@case()
def ragged() -> Any:
    f = tf.function(lambda r: (tf.reduce_sum(r, 1), r * 2, r.row_lengths(), tf.ragged.stack([r, r]).to_tensor()))
    return f(tf.ragged.constant([[1.0, 2.0], [3.0], []]))


@case()
def sparse() -> Any:
    @tf.function
    def f(s: tf.SparseTensor) -> Any:
        product = tf.sparse.sparse_dense_matmul(s, tf.ones([3, 2]))
        return product, tf.sparse.to_dense(tf.sparse.add(s, s)), tf.sparse.reduce_sum(s), tf.sparse.transpose(s)

    return f(tf.sparse.from_dense([[1.0, 0, 2], [0, 3, 0]]))


@case()
def indexed_slices() -> Any:
    f = tf.function(lambda values: tf.IndexedSlices(values * 2, tf.constant([0, 3]), tf.constant([4, 1])))
    result = f(tf.ones([2, 1]))
    return result.values, result.indices, tf.convert_to_tensor(result)


@case(EXACT)
def strings() -> Any:
    @tf.function
    def f(s: tf.Tensor) -> Any:
        words = tf.strings.split(s)
        return tf.strings.upper(s), words.to_tensor(), tf.strings.length(s), tf.strings.to_hash_bucket_fast(s, 10)

    return f(tf.constant(["a few words", "more"])), tf.function(lambda: tf.strings.as_string(tf.constant([1.5, 2.0])))()


@case()
def mixed_strings_and_numbers() -> Any:
    v = tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def f(s: tf.Tensor) -> Any:
        numbers = tf.strings.to_number(tf.strings.split(s, ",").to_tensor("0"))
        return v.assign_add(tf.reduce_sum(numbers, 0)), tf.strings.reduce_join(
            tf.strings.as_string(v, precision=1), separator=";"
        )

    return f(tf.constant(["1,2,3", "4,5,6"])), f(tf.constant(["1,1,1"])), v


@case()
def double_precision_and_complex() -> Any:
    f = tf.function(lambda a: (tf.cast(a, tf.float64) / 3, tf.signal.rfft(a), tf.linalg.inv(tf.linalg.diag(a))))
    return f(tf.constant([1.0, 2.0, 4.0, 8.0]))


@case(EXACT)
def run_eagerly_switched_on_and_off() -> Any:
    v = tf.Variable(1.0)
    f = tf.function(lambda a: v.assign_add(a))
    seen = [f(tf.constant(1.0))]
    tf.config.run_functions_eagerly(True)
    try:
        seen.append(f(tf.constant(2.0)))
        seen.append(v.numpy())
    finally:
        tf.config.run_functions_eagerly(False)
    return [*seen, f(tf.constant(4.0)), v]


@case()
def compiled_by_xla() -> Any:
    v = tf.Variable([1.0, 2.0])
    f = tf.function(lambda a: tf.reduce_sum(tf.tanh(a * v)), jit_compile=True)
    return f(tf.constant([1.0, 2.0])), f(tf.constant([0.5, 0.25]))


@case()
def other_contexts_inside() -> Any:
    v = tf.Variable(2.0)

    @tf.function
    def f(a: tf.Tensor) -> Any:
        with tf.device("CPU:0"), tf.name_scope("scope"):
            b = a * v
        with tf.control_dependencies([v.assign_add(1.0)]):
            c = tf.identity(v)
        with tf.init_scope():
            eager = tf.constant(3.0)
        return b, c, eager, tf.executing_eagerly()

    return f(tf.constant(5.0)), v


@case()
def names_of_the_result() -> Any:
    result = tf.function(lambda a: a * 2)(tf.ones([2, 3]))
    same = result.shape.as_list(), result.dtype.name, "CPU:0" in result.device, hasattr(result, "numpy")
    return same, result.numpy().flags.writeable, len(result), [row.numpy().sum() for row in result], (result + 1).numpy()


@case()
def arguments_that_are_arrays_and_change() -> Any:
    f = tf.function(lambda a: tf.reduce_sum(a * 2))
    array = np.ones([3], np.float32)
    seen = [f(array)]
    array[:] = 5
    return [*seen, f(array), f(tf.constant(array))]


@case()
def printed_by_python_while_tracing() -> Any:
    traced = []

    @tf.function(reduce_retracing=True)
    def f(a: tf.Tensor) -> tf.Tensor:
        traced.append(a.shape.rank)
        return tf.reduce_sum(a)

    return [f(tf.ones([n])) for n in (1, 2, 3, 4)], len(traced), f.experimental_get_tracing_count()


@case()
def generic_attributes_are_seen() -> Any:
    f = tf.function(lambda a: tf.sort(a, direction="DESCENDING"), autograph=False)
    return (
        f(tf.constant([2.0, 3.0, 1.0])),
        tf.function(lambda a: tf.unique(a))(tf.constant([1, 2, 1])),
        f.pretty_printed_concrete_signatures() != "",
    )


@case()
def sizes_that_depend_on_values() -> Any:
    @tf.function
    def f(a: tf.Tensor) -> Any:
        kept = tf.boolean_mask(a, a > 1)
        return (
            kept * 2,
            tf.where(a > 1),
            tf.range(tf.cast(a[0], tf.int32)),
            tf.reduce_sum(kept),
            tf.unique(tf.cast(kept, tf.int32)),
        )

    return f(tf.constant([3.0, 0.0, 2.0, 2.0])), f(tf.constant([1.0, 0.0, 1.0, 1.0]))


@case()
def nothing_to_compute() -> Any:
    f = tf.function(lambda a: a)
    return (
        f(tf.constant([1.0])),
        f(tf.constant("text")),
        tf.function(lambda: tf.constant(4))(),
        tf.function(lambda: None)() is None,
    )


@case()
def many_small_functions() -> Any:
    functions = [tf.function(lambda a, i=i: a * float(i) + float(i)) for i in range(30)]
    return [f(tf.constant(2.0)) for f in functions], [f(tf.constant(3.0)) for f in reversed(functions)]


@case()
def dropped_and_made_again() -> Any:
    v, seen = tf.Variable(0.0), []
    for i in range(10):
        f = tf.function(lambda a, i=i: v.assign_add(a * i))
        seen.append(f(tf.constant(1.0)))
        del f
    return seen, v
