"""The check that a step fits into the memory of the chosen chip, before it is run."""

from __future__ import annotations

from npu_runtime.device.chip import Chip
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


def _gigabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.2f} GB"
