"""Before: dx = SymbolicGradient(x, dy; f).  After: the nodes of f once more, and behind them those of its gradient.

Source: TensorFlow's gradient of a function of TensorFlow 1 (core/common_runtime/gradients.cc): the gradient function that is
registered for f, else the gradients of its nodes one by one; zeros where an argument has no influence.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf
from tensorflow.python.ops import gradients_util

from npu_runtime.graph.ops import NOT_LOWERED
from npu_runtime.importers.tensorflow.inline_call import Expansion

GRADIENT = "SymbolicGradient"


def function_of(tf_graph: Any, name: str) -> str:
    """The function whose body is the gradient of `name`: the one registered for it, or itself where there is none."""
    registered = getattr(tf_graph._get_function(name), "grad_func_name", None)
    return str(registered) if registered else name


def lower_gradient(expansion: Expansion) -> None:
    """The body of the registered gradient, or one made here; without either the node stays, for the host."""
    call = expansion.call
    is_registered = expansion.function(0) != call.attrs["f"]
    specs = [expansion.spec_of_input(position) for position in range(len(call.inputs))]
    body = expansion.load(0, specs if is_registered else specs[: len(call.outputs)])
    try:
        if not is_registered:
            _extend(body)
    except LookupError as error:  # an op without a gradient
        call.attrs[NOT_LOWERED] = str(error)
        expansion.nodes.append(call)
        return
    results, effects = expansion.inline(body, "", call.inputs, expansion.waits)
    expansion.finish(results, [*call.controls, *effects])


def _extend(body: Any) -> None:
    """Make a graph of a function that of its gradient: it takes gradients of the results too and gives those of the arguments."""
    with body.as_default():
        above = [tf.placeholder(tensor.dtype, tensor.shape) for tensor in body.outputs]
        found = gradients_util._GradientsHelper(
            body.outputs, body.inputs, grad_ys=above, src_graph=body, unconnected_gradients=tf.UnconnectedGradients.ZERO
        )
        found = [tf.convert_to_tensor(gradient) for gradient in found]
    body.inputs = [*body.inputs, *above]
    body.outputs = found
