"""Max pooling in the form that is faster on the NPU."""

from __future__ import annotations

import libcst as cst

from tf2npu.config import Config
from tf2npu.rules.base import Example, rule
from tf2npu.scanner.sites import Call

_LAYERS = ("tensorflow.layers.max_pooling2d", "tensorflow.layers.MaxPooling2D", "tensorflow.keras.layers.MaxPool2D",
           "tensorflow.keras.layers.MaxPooling2D")  # fmt: skip
_OP = "tensorflow.nn.max_pool"


@rule(
    id="NPU509",
    title="Max pooling with argmax",
    matches=(_OP, *_LAYERS),
    why="The gradient of max_pool_with_argmax knows where each maximum was and need not look for it again.",
    source="TensorFlow adapter porting guide: ResNet-50, max_pool_with_argmax; tf.nn.max_pool_with_argmax of TensorFlow 1.15",
    examples=(
        Example(
            "y = tf.nn.max_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], 'SAME')",
            "y = tf.nn.max_pool_with_argmax(x, [1, 3, 3, 1], [1, 2, 2, 1], 'SAME')[0]",
            config=Config(unsafe_fixes=True),
        ),
        Example.same("y = tf.nn.max_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], 'SAME')", note="only when asked for", level="info"),
        Example.same(
            "y = tf.nn.max_pool(x, [1, 1, 3, 3], [1, 1, 2, 2], 'SAME', data_format=f)",
            note="it wants NHWC",
            level="info",
            config=Config(unsafe_fixes=True),
        ),
    ),
)
def argmax_pooling(call: Call) -> None:
    """Pools with argmax where the layout is NHWC for certain."""
    if call.has_star_args:
        return call.info(_ELSEWHERE.format("the arguments come out of *args or **kwargs"))
    is_op = call.name == _OP
    layout = call.value("data_format", 4)
    if layout is not None and not _is_nhwc(layout):
        return call.info(_ELSEWHERE.format(f"data_format={call.source(layout)} may be another layout"))
    if not is_op:
        return call.info(_LAYER)
    window, strides = call.value("ksize", 1), call.value("strides", 2)
    is_written_out = all(isinstance(v, (cst.List, cst.Tuple)) and len(v.elements) == 4 for v in (window, strides))
    if not call.allows_unsafe() or not is_written_out or len([a for a in call.args if not a.keyword]) > 5:
        return call.info(_OP_BY_HAND)
    assert isinstance(call.node.func, (cst.Attribute, cst.Name))
    if not isinstance(call.node.func, cst.Attribute):
        return call.info(_OP_BY_HAND)
    call.replace(call.node.func.attr, "max_pool_with_argmax")
    value = call.arg("value")
    if value is not None:
        call.rename_keyword(value, "input")
    call.wrap(call.node, "", "[0]")
    return call.fixed("Max pooling remembers where the maxima were.")


def _is_nhwc(layout: cst.BaseExpression) -> bool:
    return isinstance(layout, cst.SimpleString) and layout.evaluated_value in ("NHWC", "channels_last")


_ELSEWHERE = (
    "max_pool_with_argmax would be faster on the NPU, but it takes NHWC only, and here {}. Where the layout is NHWC: "
    "tf.nn.max_pool_with_argmax(x, ksize=[1, h, w, 1], strides=[1, h, w, 1], padding=...)[0]."
)
_LAYER = (
    "The layer runs as it is. Faster on an NPU is "
    "tf.nn.max_pool_with_argmax(inputs, ksize=[1, h, w, 1], strides=[1, h, w, 1], padding=...)[0], with the layer's pool size "
    "and strides."
)
_OP_BY_HAND = (
    "The op runs as it is. Faster on an NPU is tf.nn.max_pool_with_argmax(x, ksize, strides, padding)[0], with ksize and strides "
    "as lists of four numbers (--unsafe-fixes writes it for lists)."
)
