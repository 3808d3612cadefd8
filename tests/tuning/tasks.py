"""Operators to tune, made by hand, and searches whose result is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from npu_formats.device.chip import Chip
from npu_runtime.cost.choice import Choice, cost_with, default_choice
from npu_runtime.cost.core_task import CoreWork, core_tiling
from npu_runtime.cost.tiling import Product, Tiling
from npu_runtime.lowering.chip_graph import CUBE, ELEMENTWISE, ChipOp, Tensor
from npu_runtime.lowering.lower import LoweredTask


def product_task(name: str, m: int, n: int, k: int) -> LoweredTask:
    """A matrix product in fp16, fused with an activation."""
    left, right = Tensor(f"{name}/a:0", (m, k), "float16"), Tensor(f"{name}/b:0", (k, n), "float16", is_variable=True)
    out = Tensor(f"{name}:0", (m, n), "float16")
    head = ChipOp(name, "MatMul", "MatMulV2", CUBE, [left, right], [out], (name,))
    relu = ChipOp(f"{name}/Relu", "Relu", "Relu", ELEMENTWISE, [out], [out], (f"{name}/Relu",))
    product = Product(m, n, k, 1, "float16", 2, left.n_bytes, right.n_bytes, flops=2.0 * m * n * k)
    return LoweredTask((head, relu), head, (left, right), (out,), CoreWork(product, 0.0, 0.0, m * n * 2 / 256))


def copy_task(name: str) -> LoweredTask:
    """A task that the AI CPU does: no search takes it."""
    tensor = Tensor(f"{name}:0", (8,), "int64")
    op = ChipOp(name, "Unique", "Unique", "AI CPU", [tensor], [tensor], (name,))
    return LoweredTask((op,), op, (tensor,), (tensor,), None)


@dataclass(frozen=True)
class Walked:
    """As a search returns it."""

    choice: Choice
    us: float
    default_us: float
    rounds: tuple[float, ...]
    evaluations: int = 1


def walk(works: Sequence[CoreWork], chip: Chip, *_: object) -> list[Walked | None]:
    """The best of the default choice and of tiles whose sides are no powers of two."""
    return [None if work.product is None else _best(work, chip) for work in works]


def _best(work: CoreWork, chip: Chip) -> Walked:
    assert work.product is not None
    sides = range(48, 288, 32)
    made = [Tiling(m, n, 32, 1, True, is_double) for m in sides for n in sides for is_double in (True, False)]
    candidates = [core_tiling(work, chip), *(one for one in made if one.fits(chip, work.product.element_bytes))]
    best = min(candidates, key=lambda one: cost_with(work, chip, one).us)
    us, default_us = cost_with(work, chip, best).us, cost_with(work, chip, None).us
    return Walked(best, us, default_us, (default_us, us))


def defaults(works: Sequence[CoreWork], chip: Chip, *_: object) -> list[Walked | None]:
    """Finds nothing better than the default."""
    found = [(default_choice(work, chip), cost_with(work, chip, None).us) for work in works]
    return [None if choice is None else Walked(choice, us, us, (us,)) for choice, us in found]


def too_late(works: Sequence[CoreWork], chip: Chip, *_: object) -> list[Walked | None]:
    """Has no time for anything."""
    return [None] * len(works)


def improvable(chip: Chip, search: Callable[..., list[Walked | None]] = walk) -> LoweredTask:
    """An operator for which `walk` finds something better than the default."""
    for m in range(48, 4096, 80):
        task = product_task("dense/MatMul", m, 3 * m + 16, 1040)
        assert task.work is not None
        found = search([task.work], chip)[0]
        if found is not None and found.us < found.default_us:
            return task
    raise AssertionError("the walk finds nothing better for any of these products")
