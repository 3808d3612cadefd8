"""Cost of a task of the AI cores: a product with what is fused behind it, or element-wise work alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

from npu_formats.device.chip import Chip
from npu_runtime.cost.cube import default_tiling, product_cost
from npu_runtime.cost.fitted import Fitted, load_fitted
from npu_runtime.cost.task_cost import TaskCost, Traffic
from npu_runtime.cost.tiling import Product, Tiling
from npu_runtime.cost.vector import vector_cost
from npu_runtime.cost.vector_schedule import VectorSchedule


@dataclass(frozen=True)
class CoreWork:
    """product: None for a task without one.  read_bytes, written_bytes: what enters and leaves beside the product's operands and
    result; written_bytes is less than zero where the result stays inside.  instructions: of the vector units.  flops: useful
    ones.
    """

    product: Product | None
    read_bytes: float
    written_bytes: float
    instructions: float
    flops: float = 0.0


def core_cost(
    work: CoreWork, chip: Chip, tiling: Tiling | None = None, fitted: Fitted | None = None, schedule: VectorSchedule | None = None
) -> TaskCost:  # fmt: skip
    """The cost of a task of the AI cores.  tiling: of the product, schedule: of the vector units, default ones if absent."""
    fitted = fitted or load_fitted()
    written = max(0.0, work.written_bytes)
    tail = vector_cost(work.read_bytes, written, work.instructions, chip, fitted, flops=work.flops, schedule=schedule)
    if work.product is None:
        return tail
    return _joined(product_cost(work.product, chip, tiling, fitted, _kept_bytes(work)), tail, fitted)


def repeated(cost: TaskCost, turns: int, fitted: Fitted | None = None) -> TaskCost:
    """The cost of a task that does the work of `cost` so many times, one behind the other, and starts once."""
    if turns == 1:
        return cost
    start_us = (fitted or load_fitted()).start_us
    traffic = {level: Traffic(turns * moved.read, turns * moved.written) for level, moved in cost.traffic.items()}
    return replace(
        cost, us=start_us + turns * (cost.us - start_us), total_cycles=turns * cost.total_cycles, flops=turns * cost.flops,
        cycles={pipe: turns * cycles for pipe, cycles in cost.cycles.items()}, traffic=traffic,
    )  # fmt: skip


def core_tiling(work: CoreWork, chip: Chip, fitted: Fitted | None = None) -> Tiling | None:
    """The default tiling of the product in it, None for work without one."""
    return None if work.product is None else default_tiling(work.product, chip, fitted, _kept_bytes(work))


def _kept_bytes(work: CoreWork) -> float:
    """Bytes of the product's result that stay on the cores."""
    return max(0.0, -work.written_bytes)


def _joined(product: TaskCost, tail: TaskCost, fitted: Fitted) -> TaskCost:
    """The tail begins when the product's parts leave: its bytes and instructions come on top, its start does not."""
    traffic = {
        level: product.traffic.get(level, Traffic()) + tail.traffic.get(level, Traffic()) for level in (*product.traffic, "ub")
    }
    cycles = {pipe: product.cycles.get(pipe, 0.0) + tail.cycles.get(pipe, 0.0) for pipe in (*product.cycles, *tail.cycles)}
    longer = product if product.us >= tail.us else tail
    return replace(
        product, us=product.us + tail.us - fitted.start_us, cycles=cycles, traffic=traffic, flops=product.flops + tail.flops,
        total_cycles=product.total_cycles + tail.total_cycles / max(1, tail.n_blocks) * product.n_blocks, bound=longer.bound,
    )  # fmt: skip
