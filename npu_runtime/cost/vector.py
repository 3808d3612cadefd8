"""Cost of element-wise work, reductions and movements of data on the vector units."""

from __future__ import annotations

from npu_runtime.cost.fitted import Fitted, load_fitted
from npu_runtime.cost.task_cost import VECTOR, TaskCost, Traffic
from npu_runtime.device.chip import Chip

VECTOR_BYTES = 256
"""Bytes of one vector instruction.  Source: vec_calc_size of the platform files, 128 lanes of fp16."""
LEAST_BLOCK_BYTES = 2048
"""Bytes of the largest tensor below which a task is not cut further: 64 bursts of the 32 bytes that the unified buffer is
addressed by (platform files).  Assumed: less would leave a core mostly waiting, and no source tells where cutting ends."""


def vector_cost(
    read_bytes: float, written_bytes: float, instructions: float, chip: Chip, fitted: Fitted | None = None, *, flops: float = 0.0,
    row_share: float = 1.0,
) -> TaskCost:  # fmt: skip
    """Microseconds of a task that reads and writes so many bytes, all cores together.

    instructions: vector instructions of all cores, each 256 bytes wide.  row_share: share of a burst that is used, below one
    where single elements are gathered.
    """
    fitted = fitted or load_fitted()
    cores, moved = chip.n_vector_cores, read_bytes + written_bytes
    hit_rate = max(0.0, 1.0 - moved / chip.l2_bytes)
    load = _of_a_core(read_bytes, cores) / chip.l2_read_rate / row_share
    store = _of_a_core(written_bytes, cores) / chip.ub_to_l2_rate / row_share
    memory = moved * (1.0 - hit_rate) / (chip.hbm_rate * fitted.hbm_share) / row_share
    vector = _of_a_core(instructions * VECTOR_BYTES, cores) / VECTOR_BYTES
    total = max(load, store, memory, vector)
    us = fitted.start_us + total / chip.cube_mhz
    pipe = "vector" if total == vector else "mte2" if read_bytes >= written_bytes else "mte3"
    largest = max(read_bytes, written_bytes, instructions * VECTOR_BYTES)
    n_blocks = max(1, min(cores, int(-(-largest // LEAST_BLOCK_BYTES))))
    busy = {"vector": instructions, "mte2": read_bytes / chip.l2_read_rate / row_share,
            "mte3": written_bytes / chip.ub_to_l2_rate / row_share}  # fmt: skip
    missed = Traffic(read_bytes * (1.0 - hit_rate), written_bytes * (1.0 - hit_rate))
    traffic = {"hbm": missed, "l2": Traffic(read_bytes, written_bytes), "ub": Traffic(written_bytes, read_bytes)}
    bound = pipe if us > 2 * fitted.start_us else "start"
    return TaskCost(VECTOR, us, n_blocks, total * n_blocks, busy, traffic, flops, bound, hit_rate)


def _of_a_core(n_bytes: float, n_cores: int) -> float:
    """Bytes of the core that has most to do."""
    return max(n_bytes / n_cores, min(n_bytes, float(LEAST_BLOCK_BYTES)))
