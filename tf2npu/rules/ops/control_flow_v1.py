"""Loops of version 1 control flow."""

from __future__ import annotations

import re

import libcst as cst

from tf2npu.frameworks.tensorflow1.scripts import tensorflow_name
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.pipelines.input_pipeline import function_scopes, in_pipeline
from tf2npu.scanner.sites import Call

_LOOPS = (
    "while_loop", "map_fn", "scan", "foldl", "foldr", "nn.dynamic_rnn", "nn.bidirectional_dynamic_rnn", "nn.raw_rnn",
    "contrib.rnn.stack_bidirectional_dynamic_rnn", "contrib.crf.crf_log_likelihood", "contrib.crf.crf_log_norm",
    "contrib.crf.crf_decode", "keras.layers.ConvLSTM2D",
)  # fmt: skip
_DECODER = "contrib.seq2seq.dynamic_decode"  # its outputs are tensor arrays that grow until every sequence has ended
_KERAS_LAYERS = tuple(f"keras.layers.{name}" for name in ("LSTM", "GRU", "SimpleRNN", "RNN"))
_BRANCHES = ("cond", "case", "switch_case")
_CODE = "call tf.enable_control_flow_v2() and tf.enable_resource_variables() at the start of the program"
_SHAPES_VARY = re.compile(r"\b(?:boolean_mask|dynamic_partition|unique|non_max_suppression|while_loop)\(|\.where\([^,()]*\)")
_OPEN_INVARIANT = re.compile(r"\bNone\b|TensorShape\(\)|unknown_shape\(")


def _is_v2(call: Call) -> bool:
    return "enable_control_flow_v2" in call.script.text


@rule(
    id="NPU923",
    title="Control flow of version 1",
    matches=tuple(f"tensorflow.{name}" for name in (*_LOOPS, _DECODER, *_KERAS_LAYERS, *_BRANCHES)),
    why="TensorFlow 1 writes loops and branches as Switch and Merge nodes, which the NPU cannot compile where shapes change.",
    done_when="The summary of `tf2npu run` tells 0 new shapes, and names no loop among the nodes on the host.",
    source="TensorFlow adapter porting guide: tf.enable_control_flow_v2, tf.enable_resource_variables",
    examples=(
        Example.same(
            "y = tf.while_loop(c, b, [i, x], shape_invariants=[i.shape, tf.TensorShape([None])])",
            note="sizes change",
            level="manual",
            write="tf.enable_control_flow_v2()\ntf.enable_resource_variables()\n"
            "y = tf.while_loop(c, b, [i, x], shape_invariants=[i.shape, tf.TensorShape([None])])",
        ),
        Example.same("y = tf.while_loop(c, b, [i])", level="info"),
        Example.same("y = tf.cond(p, lambda: tf.boolean_mask(x, m), lambda: x)", note="sizes change", level="manual"),
        Example.same("y, _, _ = tf.contrib.seq2seq.dynamic_decode(decoder)", note="as long as the data decide", level="manual"),
        Example.same(
            "import tensorflow as tf\nfrom tensorflow.python.ops import control_flow_ops\n"
            "y = control_flow_ops.while_loop(c, b, [i])",
            note="where TensorFlow defines it",
            level="info",
        ),
        Example.same("y = decoder.dynamic_decode(x)", note="not TensorFlow's"),
        Example.same("y = tf.keras.layers.LSTM(8)(x)", level="info"),
        Example.same("y = tf.keras.layers.LSTM(8, unroll=True)(x)", note="no loop"),
        Example.same("y = tf.cond(is_training, lambda: x, lambda: y)", note="both branches have one shape"),
        Example.same("tf.enable_control_flow_v2()\ny = tf.while_loop(c, b, [i])", note="version 2 already"),
    ),
)
def control_flow_v1(call: Call) -> None:
    """Reports loops, and branches whose shapes change, unless control flow version 2 is switched on."""
    name = call.name.removeprefix("tensorflow.")
    if _is_v2(call) or in_pipeline(call):
        return
    if name in _BRANCHES:
        if _branches_vary(call):
            call.manual(
                f"The shape changes inside a branch: {_CODE}, or keep the shape (a mask in the place of boolean_mask).",
                _written(call),
            )
        return
    if name in _KERAS_LAYERS:
        unroll = call.value("unroll")
        if unroll is None or call.resolve(unroll) in ("False", "None"):
            call.info(
                f"This layer is a loop of version 1 control flow: with a fixed number of steps pass unroll=True; else {_CODE}."
            )
        return
    if name == _DECODER:
        call.manual(
            f"The result is as long as the longest sequence turns out to be: {_CODE}, or pad it to maximum_iterations.",
            _written(call),
        )
    elif name == "while_loop" and _sizes_change(call):
        call.manual(
            f"The loop's values change their shape: {_CODE}, or give them their largest size before the loop.", _written(call)
        )
    else:
        call.info(
            f"With fixed shapes the loop runs as it is. If shapes change inside it, an NPU cannot compile the loop: {_CODE}."
        )


def _written(call: Call) -> str:
    """The calls to write at the start of the program; "" where TensorFlow has no name."""
    tf = tensorflow_name(call.script)
    return f"{tf}.enable_control_flow_v2()\n{tf}.enable_resource_variables()" if tf else ""


def _sizes_change(call: Call) -> bool:
    invariants = call.value("shape_invariants", 3)
    text = call.source(invariants) if invariants is not None else ""
    return bool(_OPEN_INVARIANT.search(text)) or "dynamic_size=True" in call.source(call.node)


def _branches_vary(call: Call) -> bool:
    texts = []
    for arg in call.args:
        for scope in function_scopes(call.script, arg.value, call.scope):
            assert isinstance(scope.node, cst.CSTNode)
            texts.append(call.source(scope.node))
    return any(_SHAPES_VARY.search(text) for text in texts)
