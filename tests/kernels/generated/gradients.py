"""Whole functions with the gradient graphs that TensorFlow makes of them, on the device and on TensorFlow's CPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf
from hypothesis import strategies as st

from tests.kernels.generated import batch, numbers
from tests.kernels.oracle import plain_session
from tests.runtime.device import device_of, device_session

Draw = Any
Build = Callable[..., Any]
BOUND = 1e-5
"""Of the largest magnitude of a result; TensorFlow's own distance from float64, doubled, where that is more."""


ONLY_FLOAT32 = {"max_pool3d", "huber", "atrous"}
"""Not to be had in float64: TensorFlow's own result counts as exact."""


@dataclass(frozen=True)
class Function:
    """build(*inputs) -> output.  key: what tells it from others."""

    key: str
    build: Build
    inputs: tuple[np.ndarray, ...]


def _image(draw: Draw) -> tuple[int, ...]:
    rows, columns, depth = (draw(st.sampled_from(extents)) for extents in ((4, 5, 8), (4, 6, 7), (1, 2, 3)))
    return (draw(st.integers(1, 2)), rows, columns, depth)


def _matrix(draw: Draw) -> tuple[int, ...]:
    return (draw(st.sampled_from((1, 2, 3, 8))), draw(st.sampled_from((1, 2, 5, 7))))


def _any(draw: Draw) -> tuple[int, ...]:
    return numbers.shape(draw, least=1, most=3, extents=(1, 2, 3, 5))


SHAPES: dict[str, Callable[[Draw], tuple[int, ...]]] = {"image": _image, "matrix": _matrix, "any": _any}
PADDINGS = ("SAME", "VALID")


def filters(x: Any, *of: int) -> Any:
    """A filter made of the image itself, so that its gradient flows too."""
    flat = tf.reshape(tf.tile(tf.reshape(x, [-1]), [int(np.prod(of))]), [-1])
    return tf.reshape(flat[: int(np.prod(of))], of)


def depth(x: Any) -> int:
    return int(x.shape[-1])


def definite(x: Any) -> Any:
    """A positive definite matrix of a matrix."""
    return tf.matmul(x, x, transpose_a=True) + 3.0 * tf.eye(depth(x), dtype=x.dtype)


def log_softmax_loss(x: Any) -> Any:
    return tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.nn.softmax(-x), logits=x)


ONE: dict[str, tuple[str, str, Build]] = {
    # name: (shape, kind of values, function)
    **{f.__name__: ("any", "usual", f) for f in (
        tf.tanh, tf.sigmoid, tf.nn.relu, tf.nn.elu, tf.nn.selu, tf.nn.softplus, tf.nn.softsign, tf.nn.relu6, tf.exp,
        tf.square, tf.sin, tf.cos, tf.atan, tf.erf, tf.expm1, tf.abs, tf.negative, tf.sinh, tf.cosh, tf.asinh,
        tf.nn.leaky_relu, tf.nn.swish,
        tf.zeros_like, tf.identity, tf.nn.crelu, tf.log_sigmoid)},
    **{f.__name__: ("any", "positive", f) for f in (tf.sqrt, tf.rsqrt, tf.log, tf.log1p, tf.reciprocal, tf.lgamma, tf.digamma)},
    "softmax": ("matrix", "usual", tf.nn.softmax),
    "log_softmax": ("matrix", "usual", tf.nn.log_softmax),
    "reduce_sum": ("any", "usual", lambda x: tf.reduce_sum(x, -1)),
    "reduce_mean": ("any", "usual", lambda x: tf.reduce_mean(x, 0, keepdims=True)),
    "reduce_max": ("any", "usual", lambda x: tf.reduce_max(x, -1)),
    "reduce_min": ("any", "usual", lambda x: tf.reduce_min(x, 0)),
    "reduce_prod": ("any", "usual", lambda x: tf.reduce_prod(x, -1)),
    "reduce_logsumexp": ("any", "usual", lambda x: tf.reduce_logsumexp(x, -1)),
    "reduce_euclidean_norm": ("any", "positive", lambda x: tf.math.reduce_euclidean_norm(x, -1)),
    "moments": ("matrix", "usual", lambda x: tf.concat(tf.nn.moments(x, [0]), 0)),
    "l2_normalize": ("matrix", "usual", lambda x: tf.nn.l2_normalize(x, 1)),
    "l2_loss": ("any", "usual", tf.nn.l2_loss),
    "clip_by_norm": ("any", "usual", lambda x: tf.clip_by_norm(x, 1.0)),
    "clip_by_value": ("any", "usual", lambda x: tf.clip_by_value(x, -1.0, 1.0)),
    "cumsum": ("any", "usual", lambda x: tf.cumsum(x, -1, reverse=True)),
    "cumprod": ("any", "positive", lambda x: tf.cumprod(x, -1, exclusive=True)),
    "transpose": ("any", "usual", tf.transpose),
    "reverse": ("any", "usual", lambda x: tf.reverse(x, [-1])),
    "tile": ("any", "usual", lambda x: tf.tile(x, [2] * len(x.shape))),
    "pad": ("matrix", "usual", lambda x: tf.pad(x, [[1, 2], [0, 3]])),
    "mirror": ("image", "usual", lambda x: tf.pad(x, [[0, 0], [1, 2], [2, 1], [0, 0]], "REFLECT")),
    "strided": ("matrix", "usual", lambda x: x[::2, -1::-1]),
    "newaxis": ("matrix", "usual", lambda x: x[:, None, 0]),
    "split": ("matrix", "usual", lambda x: tf.concat(tf.split(tf.concat([x, x * x], 1), 2, 1), 0)),
    "stack": ("matrix", "usual", lambda x: tf.stack(tf.unstack(x, axis=1), 0)),
    "gather": ("matrix", "usual", lambda x: tf.gather(x, [0, 0, -1 + int(x.shape[1])], axis=1)),
    "gather rows": ("matrix", "usual", lambda x: tf.gather(x, [[0], [0]])),
    "gather_nd": ("matrix", "usual", lambda x: tf.gather_nd(x, [[0, 0], [0, 0]])),
    "top_k": ("matrix", "wide", lambda x: tf.nn.top_k(x, 1).values),
    "sort": ("matrix", "usual", lambda x: tf.sort(x, 1)),
    "matrix_diag": ("matrix", "usual", tf.matrix_diag),
    "band_part": ("matrix", "usual", lambda x: tf.matrix_band_part(x, 1, 0)),
    "segment_sum": ("matrix", "usual", lambda x: tf.segment_sum(x, np.arange(int(x.shape[0])) // 2)),
    "unsorted_segment_max": ("matrix", "usual", lambda x: tf.unsorted_segment_max(x, np.zeros(int(x.shape[0]), "i"), 1)),
    "self_attention": ("matrix", "usual", lambda x: tf.matmul(tf.nn.softmax(tf.matmul(x, x, transpose_b=True)), x)),
    "tensordot": ("matrix", "usual", lambda x: tf.tensordot(x, x, [[0], [0]])),
    "einsum": ("matrix", "usual", lambda x: tf.einsum("ij,ik->ijk", x, tf.sin(x))),
    "inverse": ("matrix", "usual", lambda x: tf.matrix_inverse(definite(x))),
    "cholesky": ("matrix", "usual", lambda x: tf.cholesky(definite(x))),
    "cross_entropy": ("matrix", "usual", log_softmax_loss),
    "sparse_cross_entropy": ("matrix", "usual", lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=np.zeros(int(x.shape[0]), "i"), logits=x)),
    "sigmoid_cross_entropy": ("any", "usual", lambda x: tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.sigmoid(-x), logits=x)),
    "huber": ("any", "usual", lambda x: tf.losses.huber_loss(tf.zeros_like(x), x)),
    **{f"conv2d {s} {p}": ("image", "usual", lambda x, s=s, p=p: tf.nn.conv2d(x, filters(x, 3, 2, depth(x), 4), s, p))
       for s in (1, 2) for p in PADDINGS},
    "atrous": ("image", "usual", lambda x: tf.nn.conv2d(x, filters(x, 2, 2, depth(x), 3), 1, "SAME", dilations=[1, 2, 2, 1])),
    "conv2d_transpose": ("image", "usual", lambda x: tf.nn.conv2d_transpose(
        x, filters(x, 3, 3, 2, depth(x)), [int(x.shape[0]), 2 * int(x.shape[1]), 2 * int(x.shape[2]), 2], 2)),
    "depthwise": ("image", "usual", lambda x: tf.nn.depthwise_conv2d(x, filters(x, 3, 3, depth(x), 2), [1, 1, 1, 1], "SAME")),
    "conv3d": ("image", "usual", lambda x: tf.nn.conv3d(x[..., None], filters(x, 2, 2, 2, 1, 3), [1, 1, 1, 1, 1], "SAME")),
    **{f"{name} {p}": ("image", "usual", lambda x, f=f, p=p: f(x, 2, 2, p))
       for name, f in (("max_pool", tf.nn.max_pool2d), ("avg_pool", tf.nn.avg_pool2d)) for p in PADDINGS},
    "max_pool3d": ("image", "usual", lambda x: tf.nn.max_pool3d(x[..., None], 2, 1, "SAME")),
    "argmax pool": ("image", "usual", lambda x: tf.nn.max_pool_with_argmax(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")[0]),
    "batch_norm": ("image", "usual", lambda x: tf.nn.batch_normalization(x, *tf.nn.moments(x, [0, 1, 2]), None, None, 1e-3)),
    "layer_norm": ("matrix", "usual", lambda x: (x - tf.reduce_mean(x, 1, keepdims=True))
                   * tf.rsqrt(tf.math.reduce_variance(x, 1, keepdims=True) + 1e-2)),
    "space_to_batch": ("image", "usual", lambda x: tf.space_to_batch_nd(x, [2, 1], [[int(x.shape[1]) % 2, 0], [0, 0]])),
    "bias_add": ("image", "usual", lambda x: tf.nn.bias_add(x, x[0, 0, 0])),
    "where": ("any", "usual", lambda x: tf.where(x > 0, tf.sin(x), x * x)),
    "scatter": ("matrix", "usual", lambda x: tf.tensor_scatter_add(tf.zeros([9, int(x.shape[1])], x.dtype), [[3]], x[:1])),
    "while_loop": ("any", "usual", lambda x: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.sin(a) * x), [0, x])[1]),
    "cond": ("any", "usual", lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2.0, lambda: tf.sin(x))),
    "map_fn": ("matrix", "usual", lambda x: tf.map_fn(lambda row: row * tf.reduce_sum(row), x)),
}  # fmt: skip
TWO: dict[str, Build] = {
    "add": tf.add, "subtract": tf.subtract, "multiply": tf.multiply, "maximum": tf.maximum, "minimum": tf.minimum,
    "squared_difference": tf.squared_difference, "atan2": tf.atan2, "divide": lambda a, b: a / (tf.abs(b) + 1.0),
    "pow": lambda a, b: tf.pow(tf.abs(a) + 0.5, b), "div_no_nan": tf.math.divide_no_nan,
    "xlogy": lambda a, b: tf.math.xlogy(a, tf.abs(b) + 0.1),
}  # fmt: skip


@st.composite
def function(draw: Draw) -> Function:
    """One of ONE, or of TWO on shapes that broadcast."""
    name = numbers.in_turn((*ONE, *TWO))
    if name in TWO:
        of = _any(draw)
        shapes = (of, numbers.broadcasting(draw, of))
        return Function(name, TWO[name], tuple(numbers.array(draw, s, "float32", "usual") for s in shapes))
    shape, kind, build = ONE[name]
    return Function(name, build, (numbers.array(draw, SHAPES[shape](draw), "float32", kind),))


def compare(functions: list[Function]) -> list[str]:
    """Differences beyond the bound, in words."""
    with tf.Graph().as_default():
        nodes = [_nodes(one, np.float32) for one in functions]
        wide = [_nodes(one, np.float32 if one.key in ONLY_FLOAT32 else np.float64) for one in functions]
        with plain_session() as session:
            theirs, exact = session.run([nodes, wide])
        with device_session() as session:
            mine = session.run(nodes)
            program = device_of(session)._state.record.programs[-1]
    problems = [f"on the host: {name}: {reason}" for name, reason in sorted(program.host_nodes.items())]
    for one, *results in zip(functions, mine, theirs, exact, strict=True):
        batch.seen.add(repr((one.key, [(v.shape, v.tobytes()) for v in one.inputs])))
        batch.by_op[f"gradient of {one.key}"] += 1
        problems += [text for parts in zip(*results, strict=True) for text in _difference(one, *parts)]
    return problems


def _nodes(one: Function, dtype: Any) -> list[Any]:
    """The output and the gradient of a weighted sum of it by every input."""
    inputs = [tf.placeholder_with_default(v.astype(dtype), v.shape) for v in one.inputs]
    output = one.build(*inputs)
    weights = tf.cast(tf.reshape(tf.range(tf.size(output)) % 7 - 3, tf.shape(output)), dtype)
    gradients = tf.gradients(output, inputs, weights)
    return [output, *[g if isinstance(g, tf.Tensor) else tf.convert_to_tensor(g) for g in gradients if g is not None]]


def _difference(one: Function, mine: np.ndarray, theirs: np.ndarray, exact: np.ndarray) -> list[str]:
    if (mine.shape, mine.dtype) != (theirs.shape, theirs.dtype):
        return [f"gradient of {one.key}: {mine.dtype}{mine.shape}, not {theirs.dtype}{theirs.shape}"]
    scale = np.abs(exact).max(initial=0.0, where=np.isfinite(exact))
    with np.errstate(all="ignore"):
        own = np.abs(theirs - exact).max(initial=0.0, where=np.isfinite(exact))
        near = np.abs(mine - exact) <= max(BOUND * scale, 2 * own) + 1e-7
        wrong = ~(near | (np.isnan(mine) & np.isnan(theirs)) | (mine == theirs))
    if not wrong.any():
        return []
    place = tuple(int(n) for n in np.argwhere(wrong)[0])
    shapes = [v.shape for v in one.inputs]
    return [f"gradient of {one.key} {shapes}: {mine[place]!r}, TensorFlow {theirs[place]!r}, exactly {exact[place]!r}"]
