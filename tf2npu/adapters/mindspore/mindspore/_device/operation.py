"""Operations on tensors: nodes of the graph that is being built, or outside of one small graphs that are kept (PYNATIVE_MODE)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from mindspore._device.precision import cell_type
from mindspore._device.program import run_traced
from mindspore._device.trace import tracing
from mindspore.common.tensor import Tensor
from npu_bridge.npu_init import tf

MANY_CALLS = 1000
"""Operators that Python calls one by one before a line says what that costs: a loop over data, and not a few calls."""
_calls = [0]


def raw(value: Any) -> Any:
    """The graph's tensors in the place of MindSpore's."""
    if isinstance(value, (tuple, list)):  # a ParameterTuple takes parameters alone
        return [*map(raw, value)] if isinstance(value, list) else tuple(map(raw, value))
    return value.raw() if isinstance(value, Tensor) else value


def wrap(value: Any) -> Any:
    """MindSpore's tensors in the place of the graph's."""
    if isinstance(value, (tuple, list)):
        return tuple(map(wrap, value))
    return Tensor(value) if isinstance(value, tf.Tensor) else value


def apply(key: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of `function` for the graph's tensors of the arguments, as MindSpore's.

    key: tells this function from all others, with the attributes that it has bound.
    """
    if tracing():
        return wrap(function(*raw(arguments)))
    _calls[0] += 1
    if _calls[0] == MANY_CALLS:
        print(
            f"mindspore: {MANY_CALLS} operators were run one by one, each as a graph of its own, which is slow: "
            "context.set_context(mode=context.GRAPH_MODE) runs a cell as one graph",
            file=sys.stderr,
        )
    return run_traced(("operator", key, cell_type()), lambda *given: wrap(function(*raw(given))), arguments)
