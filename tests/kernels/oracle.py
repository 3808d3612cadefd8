"""The same call by TensorFlow's CPU kernel."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.python.framework import op_def_registry
from tensorflow.python.framework.op_def_library import apply_op

from tests.kernels.harness import Case, Var
from tests.needs import has_avx512

OF_ONEDNN = (
    "AvgPool", "Conv2D", "Conv3D", "DepthwiseConv2d", "FusedBatchNorm", "MaxPool", "Softmax", "_Fused",
)  # fmt: skip
"""Beginnings of the names of ops that oneDNN computes.  TensorFlow 2.15 has not their 16-bit floats where there is no AVX-512: it
aborts in a gradient by a filter, gives memory that nobody has written as statistics of a normalisation, and sums a mean up in
16 bits.  They are computed in fp32 there, and rounded once."""


def run(one: Case, n_runs: int = 1) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """(outputs, values of the Var inputs that still have one) after the last of n_runs runs. Raises what TensorFlow raises."""
    if one.op == "Softmax" and one.inputs[0].dtype == np.float32 and not has_avx512():
        outputs, alive = run(replace(one, inputs=(one.inputs[0].astype(np.float64),)), n_runs)  # oneDNN's sums 70,000 in a row
        return [made.astype(np.float32) for made in outputs], alive
    narrow = [value.dtype for value in one.inputs if _is_narrow(value)]
    if one.op.startswith(OF_ONEDNN) and narrow and not has_avx512():
        outputs, alive = run(replace(one, inputs=tuple(map(_widened, one.inputs))), n_runs)
        types = [arg.type_attr for arg in op_def_registry.get(one.op).output_arg]
        return [made.astype(narrow[0]) if name == "T" else made for made, name in zip(outputs, types, strict=True)], alive
    with tf.Graph().as_default(), tf.device("/cpu:0"):
        fetches, targets, variables = node(one)
        return _execute(fetches, targets, variables, n_runs)


BFLOAT16 = tf.bfloat16.as_numpy_dtype


def _is_narrow(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype in (BFLOAT16, np.float16)


def _widened(value: Any) -> Any:
    if isinstance(value, list):
        return [_widened(part) for part in value]
    return value.astype(np.float32) if _is_narrow(value) else value


def node(one: Case) -> tuple[list[Any], list[Any], list[Any]]:
    """(outputs to fetch, operations without an output, variables) of the call, put into the current graph."""
    op_def = op_def_registry.get(one.op)
    keywords: dict[str, Any] = {attr.name: None for attr in op_def.attr if attr.HasField("default_value")} | one.attrs
    for arg in op_def.input_arg:  # apply_op infers these, and refuses to be told
        keywords.pop(arg.type_attr, None)
        keywords.pop(arg.number_attr, None)
        keywords.pop(arg.type_list_attr, None)
    variables = []
    for arg, value in zip(op_def.input_arg, one.inputs, strict=True):
        made, variable = _input(value)
        keywords[arg.name] = made
        variables += variable
    result = apply_op(one.op, name=one.op.lstrip("_"), **keywords)
    flat = tf.nest.flatten(result)
    fetches = [t for t in flat if isinstance(t, tf.Tensor) and t.dtype not in (tf.resource, tf.variant)]
    return fetches, [t for t in flat if not isinstance(t, tf.Tensor)], variables


def _input(value: Any) -> tuple[Any, list[Any]]:
    if isinstance(value, Var):
        variable = tf.Variable(value.value, use_resource=value.kind == "resource")
        return (variable.handle if value.kind == "resource" else variable._ref()), [variable]
    if isinstance(value, list):
        return [tf.constant(v) for v in value], []
    return tf.constant(value), []


def _execute(fetches: list[Any], targets: list[Any], variables: list[Any], n_runs: int) -> tuple[list[Any], list[Any]]:
    with plain_session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(n_runs):
            outputs, _ = sess.run([fetches, targets])
        is_alive = sess.run([tf.is_variable_initialized(v) for v in variables])
        alive = [v for v, still in zip(variables, is_alive, strict=True) if still]
        return [np.array(v) for v in outputs], [np.array(v) for v in sess.run(alive)]


def plain_session() -> tf.Session:
    """A session that runs the kernels themselves, not what Grappler makes of them."""
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return tf.Session(config=config)
