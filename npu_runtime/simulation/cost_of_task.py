"""The cost of a lowered task on the engine that does it, among so many ranks."""

from __future__ import annotations

from dataclasses import dataclass

from npu_formats.device.chip import Chip
from npu_runtime.cost.ai_cpu import ai_cpu_cost
from npu_runtime.cost.choice import Choice, cost_with
from npu_runtime.cost.collective import RANKS_A_SERVER, collective_cost
from npu_runtime.cost.core_task import repeated
from npu_runtime.cost.memory_copy import copy_cost
from npu_runtime.cost.runtime_ops import runtime_cost
from npu_runtime.cost.task_cost import TaskCost
from npu_runtime.lowering.chip_graph import COLLECTIVE, COPY, RUNTIME, TURNS
from npu_runtime.lowering.fuse_dropout import GENERATE_MASK
from npu_runtime.lowering.lower import LoweredTask

_RANDOM = (GENERATE_MASK, "Random", "StatelessRandom", "TruncatedNormal", "StatelessTruncatedNormal", "ParameterizedTruncated")
"""Beginnings of the names of ops that draw a random number for each element."""


@dataclass(frozen=True)
class Ranks:
    """n_ranks: that compute together.  ranks_a_server: of them on one machine.  n_started: for which the graph was made, 0 for
    all: a group of fewer stays as large as it is, whatever n_ranks says.
    """

    n_ranks: int = 1
    ranks_a_server: int = RANKS_A_SERVER
    n_started: int = 0

    def in_call(self, task: LoweredTask) -> int:
        """The number of ranks that take part in a collective."""
        named = len(str(task.head.attrs.get("ranks") or "").split(","))
        return named if 1 < named < (self.n_started or self.n_ranks) else self.n_ranks


def cost_of(task: LoweredTask, chip: Chip, ranks: Ranks, choice: Choice | None = None) -> TaskCost:
    """The cost of a task on its engine.  choice: what tuning has chosen for the AI cores."""
    if task.work is not None:
        return repeated(cost_with(task.work, chip, choice), task.head.attrs.get(TURNS, 1))
    read, written = (sum(tensor.n_bytes for tensor in tensors) for tensors in (task.read, task.written))
    if task.head.pattern == COLLECTIVE:
        return collective_cost(task.head.op_type, read, ranks.in_call(task), ranks.ranks_a_server, chip)
    if task.head.pattern == COPY:
        return copy_cost(max(read, written), task.head.op, chip)
    if task.head.pattern == RUNTIME:
        return runtime_cost(task.head.op)
    n_random = sum(t.n_elements for t in task.written) if task.head.op.startswith(_RANDOM) else 0
    return ai_cpu_cost(read, written, sum(op.flops for op in task.ops), chip, random_numbers=n_random)
