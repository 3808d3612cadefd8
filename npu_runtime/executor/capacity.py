"""The check that a step fits into the memory of the chosen chip and of this machine, before it is run."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from npu_formats.device.chip import Chip
from npu_runtime.errors import ResourceExhausted
from npu_runtime.graph.ir import Graph
from npu_runtime.passes.schedule.plan_memory import MemoryPlan


def check_capacity(graph: Graph, memory: MemoryPlan, variable_bytes: int, chip: Chip) -> None:
    """Nothing happens when it does.

    memory: the plan of the step; what loops keep and what the host makes is not in it.  variable_bytes: of all variables.
    Raises: ResourceExhausted at the node that is one too many, naming the largest tensors that are alive then.
    """
    if memory.arena_bytes + variable_bytes <= chip.hbm_bytes:
        return
    tensors = [f"{value} {graph.spec(value)}, {_gigabytes(n_bytes)}" for value, n_bytes in memory.largest]
    node = graph[memory.largest[0][0].node] if memory.largest else None
    raise ResourceExhausted(
        f"OOM when allocating device memory: the step needs {_gigabytes(memory.arena_bytes)} of tensors beside "
        f"{_gigabytes(variable_bytes)} of variables, {chip.name} has {_gigabytes(chip.hbm_bytes)}. Alive at the same time are: "
        f"{'; '.join(tensors) or 'none'}. Use a smaller batch, or a chip with more memory (tf2npu run --soc NAME)",
        node.name if node else "",
        node.op if node else "",
    )


_POOLS = {"graph_memory_max_size": "tensors of a step", "variable_memory_max_size": "variables"}
"""Session options of early releases that bound a pool of device memory, and what is in it."""
_FACTORS = re.compile(r"\d{1,15}(\s*\*\s*\d{1,15})*")


def over_pools(memory: MemoryPlan, variable_bytes: int, parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """A line for each pool that the script bounds and that a step would overflow.

    parameters: the session's options; bytes as a number or as text, which may be a product as in "26 * 1024 * 1024 * 1024".
    The step goes on: releases of today plan the memory by themselves.
    """
    needed = dict(zip(_POOLS, (memory.arena_bytes, variable_bytes), strict=True))
    lines = []
    for name, content in _POOLS.items():
        bound = _bytes(parameters.get(name))
        if bound is not None and needed[name] > bound:
            lines.append(
                f"{name} is {_gigabytes(bound)} and the {content} need {_gigabytes(needed[name])} here: an early release stops "
                "with out of memory; raise it, or use a smaller batch"
            )
    return tuple(lines)


def beyond_machine(needed: int, free: int | None) -> str:
    """A line for a step that needs more of this machine's memory than it has free; "" where it has enough or does not say.

    needed: bytes that the step takes beside what the process has.
    """
    if free is None or needed <= free:
        return ""
    return (
        f"this step needs about {_gigabytes(needed)} of memory and this machine has {_gigabytes(free)} free, so the system may "
        "end it: use a smaller batch, or end other programs; `tf2npu predict --shapes-only` computes nothing and does not need it"
    )


def _bytes(value: Any) -> int | None:
    text = str(value).strip() if value is not None else ""
    return math.prod(int(factor) for factor in text.split("*")) if _FACTORS.fullmatch(text) else None


def _gigabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.2f} GB"
