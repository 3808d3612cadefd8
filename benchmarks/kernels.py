"""Time of each kernel against TensorFlow's CPU kernel, both in this process, interleaved: python -m benchmarks.kernels

A line a case: milliseconds of ours and of TensorFlow (medians), and their ratio; below 1 ours is faster. Inputs live in
TensorFlow variables and the fetch is the op itself, so neither side copies tensors in or out.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import time
from collections.abc import Callable, Iterable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.python.framework import op_def_registry
from tensorflow.python.framework.op_def_library import apply_op
from threadpoolctl import threadpool_info

from npu_runtime.kernels.base import all_kernels
from npu_runtime.kernels.threads import parallel
from tests.kernels.harness import Case, arr, call, case, case_ids

IMAGES = [
    ("3x3 28 128", (32, 28, 28, 128), (3, 3, 128, 128), 1),
    ("3x3 56 64", (32, 56, 56, 64), (3, 3, 64, 64), 1),
    ("3x3 14 256", (32, 14, 14, 256), (3, 3, 256, 256), 1),
    ("3x3/2 56 64", (32, 56, 56, 64), (3, 3, 64, 128), 2),
    ("3x3 32 16", (128, 32, 32, 16), (3, 3, 16, 16), 1),
    ("5x5 28 1", (64, 28, 28, 1), (5, 5, 1, 32), 1),
    ("5x5 14 32", (64, 14, 14, 32), (5, 5, 32, 64), 1),
    ("7x7/2 224 3", (16, 224, 224, 3), (7, 7, 3, 64), 2),
    ("1x1 56 64", (32, 56, 56, 64), (1, 1, 64, 256), 1),
    ("1x1/2 56 256", (16, 56, 56, 256), (1, 1, 256, 512), 2),
]


def _out(extent: int, stride: int) -> int:
    return -(-extent // stride)


def convolutions() -> Iterable[Case]:
    """Every convolution of IMAGES, forward and both gradients; none by the input of a first layer."""
    for name, x, w, stride in IMAGES:
        attrs: dict[str, Any] = {"strides": [1, stride, stride, 1], "padding": "SAME", "id": name}
        dy = arr(x[0], _out(x[1], stride), _out(x[2], stride), w[3], seed=2)
        yield case("Conv2D", arr(*x), arr(*w, seed=1), **attrs)
        if x[3] > 3:
            yield case("Conv2DBackpropInput", np.array(x, np.int32), arr(*w, seed=1), dy, **attrs)
        yield case("Conv2DBackpropFilter", arr(*x), np.array(w, np.int32), dy, **attrs)


def products() -> Iterable[Case]:
    for m, k, n in ((1024, 1024, 1024), (64, 3136, 1024), (64, 1024, 10), (4096, 512, 512)):
        yield case("MatMul", arr(m, k), arr(k, n, seed=1), id=f"{m}x{k}x{n}", transpose_a=False, transpose_b=False)
    yield case("MatMul", arr(64, 3136), arr(64, 1024), id="3136x64x1024 transposed", transpose_a=True, transpose_b=False)
    yield case("BatchMatMulV2", arr(256, 128, 64), arr(256, 128, 64), id="256 x 128x64x128", adj_x=False, adj_y=True)


def pools() -> Iterable[Case]:
    for name, x, size, stride in (("2x2/2 28 32", (64, 28, 28, 32), 2, 2), ("3x3/2 112 64", (16, 112, 112, 64), 3, 2)):
        attrs: dict[str, Any] = {"ksize": [1, size, size, 1], "strides": [1, stride, stride, 1], "padding": "SAME", "id": name}
        image = np.maximum(arr(*x), 0)
        result = all_kernels()["MaxPool"].function(image, **{k: v for k, v in attrs.items() if k != "id"})
        dy = arr(*result.shape, seed=1)
        yield case("MaxPool", image, **attrs)
        yield case("MaxPoolGrad", image, result, dy, **attrs)
        yield case("AvgPool", image, **attrs)
        yield case("AvgPoolGrad", np.array(x, np.int32), dy, **attrs)


def rows_and_norms() -> Iterable[Case]:
    x, vector, nothing = arr(32, 56, 56, 64), arr(64, low=0.1, seed=1), np.zeros(0, np.float32)
    yield case("Softmax", arr(4096, 1000), id="4096x1000")
    labels = arr(4096, dtype="int32", low=0, high=1000)
    yield case("SparseSoftmaxCrossEntropyWithLogits", arr(4096, 1000), labels, id="4096x1000")
    yield case("FusedBatchNormV3", x, vector, vector, nothing, nothing, id="32x56x56x64", is_training=True)
    grad = [arr(32, 56, 56, 64, seed=2), x, vector, vector, vector, nothing]
    yield case("FusedBatchNormGradV3", *grad, id="32x56x56x64", is_training=True)
    attrs: dict[str, Any] = {"depth_radius": 2, "bias": 2.0, "alpha": 1e-4, "beta": 0.75, "id": "32x27x27x96"}
    image = arr(32, 27, 27, 96)
    yield case("LRN", image, **attrs)
    yield case("LRNGrad", image, image, image, **attrs)
    yield case("BiasAdd", x, vector, id="32x56x56x64", data_format="NHWC")
    yield case("BiasAddGrad", x, id="32x56x56x64", data_format="NHWC")
    image = arr(16, 56, 56, 128)
    attrs = {"strides": [1, 1, 1, 1], "padding": "SAME", "id": "3x3 56 128"}
    sizes, w = np.array(image.shape, np.int32), arr(3, 3, 128, 1)
    yield case("DepthwiseConv2dNative", image, w, **attrs)
    yield case("DepthwiseConv2dNativeBackpropInput", sizes, w, image, **attrs)
    yield case("DepthwiseConv2dNativeBackpropFilter", image, np.array(w.shape, np.int32), image, **attrs)


def tensorflow_call(one: Case, threads: int) -> tuple[Callable[[], Any], tf.Session]:
    """A callable that runs the op alone, and its session."""
    with tf.Graph().as_default() as graph, tf.device("/cpu:0"):
        op_def = op_def_registry.get(one.op)
        keywords: dict[str, Any] = {attr.name: None for attr in op_def.attr if attr.HasField("default_value")} | one.attrs
        for arg, value in zip(op_def.input_arg, one.inputs, strict=True):
            keywords.pop(arg.type_attr, None)
            is_shape = value.dtype.kind == "i" and value.ndim == 1 and value.size == 4
            keywords[arg.name] = tf.constant(value) if is_shape else tf.Variable(value, use_resource=True).read_value()
        results = tf.nest.flatten(apply_op(one.op, **keywords))
        initializer = tf.global_variables_initializer()
    config = tf.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=1)
    session = tf.Session(graph=graph, config=config)
    session.run(initializer)
    return session.make_callable(results[0].op), session


def our_call(one: Case) -> Callable[[], Any]:
    """The kernel on its arrays, into buffers allocated once."""
    inputs = one.flat()
    results = call(one, inputs)
    if not all_kernels()[one.op].takes_out:
        return lambda: call(one, inputs)
    out = results[0] if len(results) == 1 else tuple(results)
    return lambda: call(one, inputs, out=out)


def interleaved(
    first: Callable[[], Any], second: Callable[[], Any], repeats: int, clock: Callable[[], float]
) -> tuple[float, float]:
    """Median milliseconds of each; alternating, so that other load on the machine meets both."""
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(repeats + 2):
        for run, kept in zip((first, second), times, strict=True):
            start = clock()
            run()
            if turn >= 2:
                kept.append((clock() - start) * 1e3)
    return statistics.median(times[0]), statistics.median(times[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="regular expression on the case's name")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--threads", type=int, default=parallel.n_threads())
    parser.add_argument("--cpu-time", action="store_true", help="processor time instead of wall time; use it with one thread")
    options = parser.parse_args()
    parallel.set_n_threads(options.threads)
    clock = time.process_time if options.cpu_time else time.perf_counter
    cores = sorted({str(library.get("architecture")) for library in threadpool_info() if library["user_api"] == "blas"})
    print(f"{options.threads} threads; BLAS kernels: {', '.join(cores)}; OPENBLAS_CORETYPE={os.environ.get('OPENBLAS_CORETYPE')}")
    cases = [*products(), *convolutions(), *pools(), *rows_and_norms()]
    for name, one in zip(case_ids(cases), cases, strict=True):
        if re.search(options.only, name):
            theirs, session = tensorflow_call(one, options.threads)
            mine_ms, theirs_ms = interleaved(our_call(one), theirs, options.repeats, clock)
            session.close()
            print(f"{name:52} {mine_ms:9.3f} ms {theirs_ms:9.3f} ms  {mine_ms / theirs_ms:5.2f}", flush=True)


if __name__ == "__main__":
    main()
