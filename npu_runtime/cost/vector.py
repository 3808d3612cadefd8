"""Cost of element-wise work, reductions and movements of data on the vector units."""

from __future__ import annotations

from npu_formats.device.chip import Chip
from npu_runtime.cost.fitted import Fitted, load_fitted
from npu_runtime.cost.task_cost import VECTOR, TaskCost, Traffic
from npu_runtime.cost.vector_schedule import VECTOR_BYTES, Shares, VectorSchedule, default_schedule


def vector_cost(
    read_bytes: float, written_bytes: float, instructions: float, chip: Chip, fitted: Fitted | None = None, *, flops: float = 0.0,
    row_share: float = 1.0, schedule: VectorSchedule | None = None,
) -> TaskCost:  # fmt: skip
    """Microseconds of a task that reads and writes so many bytes, all cores together.

    instructions: vector instructions of all cores, each 256 bytes wide.  row_share: share of a burst that is used, below one
    where single elements are gathered.  schedule: the default one if absent.
    """
    fitted = fitted or load_fitted()
    schedule, moved = schedule or default_schedule(chip), read_bytes + written_bytes
    shares = Shares(read_bytes, written_bytes, instructions * VECTOR_BYTES, schedule)
    hit_rate = max(0.0, 1.0 - moved / chip.l2_bytes)
    load = shares.of(read_bytes) / chip.l2_read_rate / row_share
    store = shares.of(written_bytes) / chip.ub_to_l2_rate / row_share
    memory = moved * (1.0 - hit_rate) / (chip.hbm_rate * fitted.hbm_share) / row_share
    vector = shares.of(instructions * VECTOR_BYTES) / VECTOR_BYTES
    is_overlapping = schedule.buffers > 1
    total = max(load, store, memory, vector) if is_overlapping else vector + max(load + store, memory)
    us = fitted.start_us + total / chip.cube_mhz
    pipe = "vector" if vector >= max(load, store, memory) else "mte2" if read_bytes >= written_bytes else "mte3"
    busy = {"vector": instructions, "mte2": read_bytes / chip.l2_read_rate / row_share,
            "mte3": written_bytes / chip.ub_to_l2_rate / row_share}  # fmt: skip
    missed = Traffic(read_bytes * (1.0 - hit_rate), written_bytes * (1.0 - hit_rate))
    traffic = {"hbm": missed, "l2": Traffic(read_bytes, written_bytes), "ub": Traffic(written_bytes, read_bytes)}
    bound = pipe if us > 2 * fitted.start_us else "start"
    return TaskCost(VECTOR, us, shares.n_blocks, total * shares.n_blocks, busy, traffic, flops, bound, hit_rate)
