"""Cost of a task of the AI CPU."""

from __future__ import annotations

from npu_formats.device.chip import Chip
from npu_runtime.cost.task_cost import AI_CPU, TaskCost, Traffic

START_US = 30.0
"""Microseconds of the smallest task.  Source: a sum over 1 to 576 numbers takes 30 to 32 us on a die of the A3, whatever its size
(FlagGems-vllm, pull request 818).  Assumed for the other chips."""
BYTES_PER_US = 8000.0
"""Bytes that one core reads and writes in a microsecond.  Assumed: 8 GB/s is what a thread of a server's CPU gets in
element-wise work; nothing is published."""
FLOPS_PER_US = 4000.0
"""Floating-point operations of one core in a microsecond.  Assumed: two a cycle at 2 GHz, since these kernels are compiled C++
without a word for vectors; nothing is published."""
RANDOMS_PER_US = 3000.0
"""Random numbers that one core makes in a microsecond.  Assumed, with a bound: the published step of BERT-Large (C4, 357 ms)
needs 1.2e9 bits of dropout masks, all of them in its forward third, so four cores make 2500 a microsecond each, or more."""


def ai_cpu_cost(read_bytes: float, written_bytes: float, flops: float, chip: Chip, *, random_numbers: float = 0.0) -> TaskCost:
    """Microseconds of a task whose work all cores of the AI CPU share.

    random_numbers: how many are drawn; a dropout mask draws one for each of its bits.
    """
    longest = max((read_bytes + written_bytes) / BYTES_PER_US, flops / FLOPS_PER_US, random_numbers / RANDOMS_PER_US)
    us = START_US + longest / chip.ai_cpu_cores
    bound = "AI CPU" if us > 2 * START_US else "start"
    return TaskCost(AI_CPU, us, traffic={"hbm": Traffic(read_bytes, written_bytes)}, flops=flops, bound=bound)
