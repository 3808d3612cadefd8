"""Cost of element-wise work, reductions and movements of data on the vector units."""

from __future__ import annotations

from npu_runtime.cost.fitted import Fitted, load_fitted
from npu_runtime.cost.task_cost import VECTOR, TaskCost, Traffic
from npu_runtime.device.chip import Chip

VECTOR_BYTES = 256
"""Bytes of one vector instruction.  Source: vec_calc_size of the platform files, 128 lanes of fp16."""
LEAST_BLOCK_BYTES = 2048
"""Bytes of the largest tensor below which a task is not cut further: 64 bursts of the 32 bytes that the unified buffer is
addressed by; less would leave a core mostly waiting."""


def vector_cost(
    read_bytes: float, written_bytes: float, instructions: float, chip: Chip, fitted: Fitted | None = None, *, flops: float = 0.0,
    row_share: float = 1.0,
) -> TaskCost:  # fmt: skip
    """Microseconds of a task that reads and writes so many bytes, all cores together.

    instructions: vector instructions of all cores, each 256 bytes wide.  row_share: share of a burst that is used, below one
    where single elements are gathered.
    """
    fitted = fitted or load_fitted()
    largest = max(read_bytes, written_bytes, instructions * VECTOR_BYTES)
    n_blocks = max(1, min(chip.n_vector_cores, int(largest / LEAST_BLOCK_BYTES)))
    hit_rate = max(0.0, 1.0 - (read_bytes + written_bytes) / chip.l2_bytes)
    in_l2 = max(read_bytes / chip.l2_read_rate, written_bytes / chip.ub_to_l2_rate) / n_blocks / row_share
    memory = (read_bytes + written_bytes) * (1.0 - hit_rate) / (chip.hbm_rate * fitted.hbm_share) / row_share
    vector = instructions / n_blocks
    busy = {"mte2": read_bytes / chip.l2_read_rate / row_share, "mte3": written_bytes / chip.ub_to_l2_rate / row_share}
    total = max(in_l2, memory, vector)
    bound = "vector" if total == vector else "mte2" if read_bytes >= written_bytes else "mte3"
    missed = Traffic(read_bytes * (1.0 - hit_rate), written_bytes * (1.0 - hit_rate))
    return TaskCost(
        VECTOR, fitted.start_us + total / chip.cube_mhz, n_blocks, total * n_blocks, {"vector": instructions, **busy},
        {"hbm": missed, "l2": Traffic(read_bytes, written_bytes), "ub": Traffic(written_bytes, read_bytes)}, flops,
        bound if total / chip.cube_mhz > fitted.start_us else "start", hit_rate,
    )  # fmt: skip
