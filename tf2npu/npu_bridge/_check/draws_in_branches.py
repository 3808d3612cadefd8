"""Random numbers inside of branches, loops and functions: they can be neither fetched nor fed, so they are made repeatable.

There an operation that draws is built as its stateless form with the seed that it would have had: it gives the same numbers in
each run of a check, and in each step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorflow.python.framework import dtypes, ops
from tensorflow.python.ops import gen_random_ops, gen_stateless_random_ops

_FORMS: dict[str, Callable[..., Any]] = {
    "random_uniform": gen_stateless_random_ops.stateless_random_uniform,
    "random_standard_normal": gen_stateless_random_ops.stateless_random_normal,
    "truncated_normal": gen_stateless_random_ops.stateless_truncated_normal,
}
_LARGEST_SEED = 2**31 - 1


def install() -> None:
    """Build the stateless form wherever a graph's operation would stand in a branch, a loop or a function."""
    for name, stateless in _FORMS.items():
        setattr(gen_random_ops, name, _repeatable(getattr(gen_random_ops, name), stateless))


def _repeatable(original: Callable[..., Any], stateless: Callable[..., Any]) -> Callable[..., Any]:
    def draw(shape: Any, dtype: Any, seed: int = 0, seed2: int = 0, name: str | None = None) -> Any:
        graph = ops.get_default_graph()
        is_inside = graph.building_function or graph._get_control_flow_context() is not None
        if not is_inside:
            return original(shape, dtype, seed=seed, seed2=seed2, name=name)
        seeds = ops.convert_to_tensor([(seed or 0) % _LARGEST_SEED, (seed2 or 0) % _LARGEST_SEED], dtypes.int32)
        return stateless(shape, seeds, dtype=dtype, name=name)

    return draw
