"""Random numbers inside of branches, loops and functions: they can be neither fetched nor fed, so they are made repeatable.

There an operation that draws is built as its stateless form with the seed that it would have had: it gives the same numbers in
each run of a check, and in each step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorflow.python.eager import context
from tensorflow.python.framework import dtypes, ops
from tensorflow.python.ops import control_flow_v2_func_graphs, gen_random_ops, gen_stateless_random_ops

_FORMS: dict[str, Callable[..., Any]] = {
    "random_uniform": gen_stateless_random_ops.stateless_random_uniform,
    "random_standard_normal": gen_stateless_random_ops.stateless_random_normal,
    "truncated_normal": gen_stateless_random_ops.stateless_truncated_normal,
}
_BRANCHES = (
    control_flow_v2_func_graphs.CondBranchFuncGraph, control_flow_v2_func_graphs.WhileBodyFuncGraph,
    control_flow_v2_func_graphs.WhileCondFuncGraph,
)  # fmt: skip
_LARGEST_SEED = 2**31 - 1


def install(is_inside: Callable[[Any], bool]) -> None:
    """Build the stateless form wherever a draw can be neither fetched nor fed.  is_inside: whether it cannot in a graph."""
    for name, stateless in _FORMS.items():
        setattr(gen_random_ops, name, _repeatable(getattr(gen_random_ops, name), stateless, is_inside))


def is_in_function(graph: Any) -> bool:
    """Whether a graph's operations stand in a branch, a loop or a function."""
    return bool(graph.building_function) or graph._get_control_flow_context() is not None


def is_in_branch(graph: Any) -> bool:
    """The same of a function of TensorFlow 2, whose own operations can be fetched: whether it is one of a branch or a loop."""
    while graph is not None and not isinstance(graph, _BRANCHES):
        graph = getattr(graph, "outer_graph", None)
    return graph is not None


def _repeatable(
    original: Callable[..., Any], stateless: Callable[..., Any], is_inside: Callable[[Any], bool]
) -> Callable[..., Any]:  # fmt: skip
    def draw(shape: Any, dtype: Any, seed: int = 0, seed2: int = 0, name: str | None = None) -> Any:
        if context.executing_eagerly() or not is_inside(ops.get_default_graph()):
            return original(shape, dtype, seed=seed, seed2=seed2, name=name)
        seeds = ops.convert_to_tensor([(seed or 0) % _LARGEST_SEED, (seed2 or 0) % _LARGEST_SEED], dtypes.int32)
        return stateless(shape, seeds, dtype=dtype, name=name)

    return draw
