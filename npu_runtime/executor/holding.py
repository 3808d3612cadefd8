"""A kernel that is handed variables has them to itself: no other thread reads or writes them meanwhile.

Reads of a resource variable take a reference, which makes the next writer copy; so every value that is read is one that stood
between two updates.  Source: TensorFlow's resource kernels hold the variable's mutex for the same reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from npu_runtime.device.variable import Variable
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import LOOP_INPUT, PASSING, READING, STEP_RESOURCES, VARIABLES, WHILE


def variable_inputs(graph: Graph, node: Node) -> tuple[int, ...]:
    """Positions of the inputs at which a kernel is handed a variable and not its value."""
    if node.op.startswith(STEP_RESOURCES):
        return ()
    return tuple(i for i, value in enumerate(node.inputs) if i in node.ref_inputs or graph.spec(value).dtype == "resource")


def writes_variables(graph: Graph, node: Node) -> bool:
    """Whether running the node changes a variable, on the device or on the host; of a loop, whether a node inside does."""
    loop = node.attrs.get("loop") if node.op == WHILE else None
    if loop is not None:
        return any(writes_variables(loop.graph, inner) for inner in loop.graph)
    handed = variable_inputs(graph, node) if node.op not in (*READING, *PASSING) else ()
    return any(_comes_from_variable(graph, node.inputs[i]) for i in handed)


def _comes_from_variable(graph: Graph, value: Value) -> bool:
    """Not so: handles of tables, iterators, queues."""
    source = graph[value.node]
    while source.op in PASSING and source.inputs:
        source = graph[source.inputs[0].node]
    return source.op in (*VARIABLES, LOOP_INPUT)


def holding(function: Callable[..., Any], positions: Sequence[int]) -> Callable[..., Any]:
    """The function, run while the variables at these positions are locked, always in the same order."""

    def one(*inputs: Any, **keywords: Any) -> Any:
        with inputs[position].lock:
            return function(*inputs, **keywords)

    def several(*inputs: Any, **keywords: Any) -> Any:
        held = sorted({inputs[i] for i in positions}, key=_number)
        for variable in held:
            variable.lock.acquire()
        try:
            return function(*inputs, **keywords)
        finally:
            for variable in held:
                variable.lock.release()

    position = positions[0]
    return one if len(positions) == 1 else several


def _number(variable: Variable) -> int:
    return variable.number
