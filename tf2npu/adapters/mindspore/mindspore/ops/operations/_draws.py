"""Random numbers in a graph: operators that draw anew in each call and each run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore._device.operation import apply
from mindspore._device.trace import current_trace, tracing
from mindspore.common.seed import generator, get_seed
from mindspore.ops.primitive import Primitive


def drawn(operator: Primitive, function: Callable[..., Any], *given: Any) -> Any:
    """The result of a random function for a seed and the graph's tensors of `given`.

    The seed is that of the operator; without one it follows from set_seed; without that it is another in each process.
    """
    if tracing():
        current_trace().n_draws += 1
    own = next((operator.attrs[name] for name in ("seed", "Seed0", "seed2", "Seed1") if operator.attrs.get(name)), None)
    if own is None and get_seed() is not None:
        own = int(generator("random operators").randint(1, 2**31 - 1))
    key = (operator.name, repr(operator.attrs), get_seed())
    return apply(key, lambda *nodes: function(*nodes, seed=own), *given)
