"""One turn of a loop tried out: what its body computes of values that are given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from npu_runtime.analysis.sequence_loops import has_effect
from npu_runtime.errors import MISFITS, DeviceError
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import CONSTANT, LOOP_INPUT
from npu_runtime.graph.order import topological
from npu_runtime.kernels.base import all_kernels

Values = dict[Value, Any]
_HANDED_ON = {"Identity": 0, "StackPushV2": 1, "TensorArrayWriteV3": 3}
"""Ops that return one of their inputs, by its position; what they write is of no use in a trial."""
_WITHOUT_A_VALUE = frozenset({LOOP_INPUT, "NoOp", "ControlTrigger", "StackCloseV2", "TensorArrayGradV3"})
"""Ops of which a trial needs no result, as they are handles: what is behind those is given."""


def try_turn(body: Graph, given: Mapping[Value, Any]) -> Values | None:
    """All values of a turn of the body of a loop.

    given: those of its sources and of what it takes from stacks and arrays.  Returns: None where a node has an effect, or no
    kernel, or cannot take these values.
    """
    found = dict(given)
    for node in topological(list(body)):
        if has_effect(node):
            return None
        if any(Value(node.name, index) not in found for index in range(len(node.outputs))) and not _try_node(node, found):
            return None
    return found


def _try_node(node: Node, found: Values) -> bool:
    """Add the results of a node to what is found; whether that could be done."""
    if node.op in ("Const", CONSTANT):
        found.update({Value(node.name, i): spec.value for i, spec in enumerate(node.outputs)})
        return all(spec.value is not None for spec in node.outputs)
    if node.op in _WITHOUT_A_VALUE:
        return True
    if any(value not in found for value in node.inputs[_HANDED_ON.get(node.op, 0) :]):
        return False
    if node.op in _HANDED_ON:
        found[Value(node.name)] = found[node.inputs[_HANDED_ON[node.op]]]
        return True
    made = all_kernels().get(node.op)
    if made is None:
        return False
    try:
        with np.errstate(all="ignore"):
            result = made.function(*(found[value] for value in node.inputs), **made.bind(node.attrs))
    except (DeviceError, *MISFITS):  # the node may be one for other values: nothing is known then
        return False
    results = result if isinstance(result, tuple) else (result,)
    found.update({Value(node.name, index): value for index, value in enumerate(results)})
    return len(results) >= len(node.outputs)
