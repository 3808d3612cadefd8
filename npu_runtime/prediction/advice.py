"""Advice: what would make a step faster, and by how much, computed by costing the step with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from npu_runtime.cost.core_task import core_cost
from npu_runtime.cost.fitted import load_fitted
from npu_runtime.cost.task_cost import AI_CPU, CUBE, VECTOR
from npu_runtime.cost.tiling import FRACTAL, Product
from npu_runtime.cost.vector import vector_cost
from npu_runtime.lowering.assign_formats import TRANS_DATA
from npu_runtime.lowering.fuse_dropout import GENERATE_MASK
from npu_runtime.lowering.lower import LoweredTask
from npu_runtime.prediction.chip_step import ChipStep, StepCompiler
from npu_runtime.simulation.device_compiler import Target
from npu_runtime.simulation.run_record import TaskRun

LEAST_SHARE = 0.005
"""The share of a step below which an advice is not given: half a percent is less than the model itself can tell."""
SHOWN_OPERATORS = 10
"""Operators that an advice names at most, the costliest first."""
MIXED = "allow_mix_precision"
Advice = dict[str, Any]


class Adviser:
    """step: as it is.  compiler: costs it otherwise."""

    def __init__(self, step: ChipStep, compiler: StepCompiler) -> None:
        self.step, self.compiler = step, compiler
        tasks = compiler.lowered(Target(step.chip, step.mode)).tasks
        self.runs = [run for run in step.iteration.runs if run.task.task_id < len(tasks)]
        self.lowered = tasks

    def all(self) -> list[Advice]:
        """The advice that saves most first."""
        rules: Sequence[Callable[[], list[Advice]]] = (
            self.ai_cpu, self.unaligned, self.small_kernels, self.conversions, self.wide_products, self.inputs, self.dynamic,
            self.few_blocks,
        )  # fmt: skip
        found = [advice for rule in rules for advice in rule()]
        least = self.step.us * LEAST_SHARE / 1000
        return sorted((a for a in found if a["saves_ms"] >= least), key=lambda a: (-a["saves_ms"], a["kind"], a["source"]))

    def _advice(self, kind: str, runs: Sequence[TaskRun], saves_us: float, **details: Any) -> Advice:
        ordered = sorted(runs, key=lambda run: run.start - run.end)
        names = list(dict.fromkeys(run.task.name for run in ordered))[:SHOWN_OPERATORS]
        source = next((run.task.source for run in ordered if run.task.source), "")
        return {"kind": kind, "operators": names, "source": source, "saves_ms": saves_us / 1000, "details": details}

    def _by_source(self, runs: Sequence[TaskRun]) -> list[list[TaskRun]]:
        found: dict[str, list[TaskRun]] = {}
        for run in runs:
            found.setdefault(run.task.source, []).append(run)
        return list(found.values())

    def ai_cpu(self) -> list[Advice]:
        """The same bytes moved by the AI cores."""
        slow = [r for r in self.runs if r.task.cost.engine == AI_CPU and r.task.op_type != GENERATE_MASK]
        return [
            self._advice("ai_cpu", runs, sum(self._saved_on_cores(run) for run in runs), count=len(runs),
                         reason=f"{runs[0].task.op_type} has no kernel for the AI cores")
            for runs in self._by_source(slow)
        ]  # fmt: skip

    def _saved_on_cores(self, run: TaskRun) -> float:
        moved = run.task.cost.traffic.get("hbm")
        cost = vector_cost(moved.read, moved.written, 0.0, self.step.chip) if moved else None
        return max(0.0, run.task.cost.us - cost.us) if cost else 0.0

    def unaligned(self) -> list[Advice]:
        """The next smaller multiple of 16, costed: padding is computed as if it were there."""
        found = []
        for run in self.runs:
            task = self.lowered[run.task.task_id]
            product = task.work.product if task.work else None
            axis = next((a for a in ("n", "k", "m") if product and getattr(product, a) % FRACTAL), None)
            if product and axis and getattr(product, axis) > FRACTAL:
                saved = run.task.cost.us - self._aligned(task, product, axis)
                size = getattr(product, axis)
                found.append(
                    self._advice("unaligned_shapes", [run], saved, axis=axis, size=size, padded=-(-size // FRACTAL) * FRACTAL)
                )
        return found

    def _aligned(self, task: LoweredTask, product: Product, axis: str) -> float:
        assert task.work is not None
        from dataclasses import replace

        size = getattr(product, axis) // FRACTAL * FRACTAL
        return core_cost(replace(task.work, product=replace(product, **{axis: size})), self.step.chip).us

    def small_kernels(self) -> list[Advice]:
        """Twice the batch: the starts are paid half as often for each example."""
        small = [r for r in self.runs if r.task.cost.engine in (CUBE, VECTOR) and r.task.cost.bound == "start"]
        saved = len(small) * load_fitted().start_us / 2
        return [self._advice("small_kernels", small, saved, count=len(small))] if small and saved > self.step.us / 10 else []

    def conversions(self) -> list[Advice]:
        """Without the conversions."""
        runs = [run for run in self.runs if run.task.op_type == TRANS_DATA]
        return [self._advice("format_conversions", runs, sum(r.end - r.start for r in runs), count=len(runs))] if runs else []

    def wide_products(self) -> list[Advice]:
        """The whole step in mixed precision."""
        wide = [r for r in self.runs if r.task.cost.engine == CUBE and any(t.dtype == "float32" for t in r.task.inputs[:2])]
        if not wide or self.step.mode.startswith(MIXED):
            return []
        saved = self.step.us - self.compiler.run(Target(self.step.chip, MIXED)).us
        return [self._advice("fp32_cube", wide, max(0.0, saved), precision_mode=MIXED)]

    def inputs(self) -> list[Advice]:
        """The copy of the batch beside the step before."""
        get_next = self.step.iteration.get_next
        saved = get_next[1] - get_next[0] if get_next else 0.0
        return [self._advice("input_pipeline", [], saved, wait_ms=saved / 1000)] if saved else []

    def dynamic(self) -> list[Advice]:
        """The start of tasks that the host must issue one by one."""
        runs = [run for run in self.runs if run.task.is_dynamic]
        return [self._advice("dynamic_shapes", runs, len(runs) * load_fitted().issue_us, count=len(runs))] if runs else []

    def few_blocks(self) -> list[Advice]:
        """All cores at work, were the work cut finely enough."""
        cores = self.step.chip.n_cores
        runs = [r for r in self.runs if 0 < r.task.cost.n_blocks < cores // 2 and r.task.cost.bound != "start"]
        saved = sum((r.end - r.start - load_fitted().start_us) * (1 - r.task.cost.n_blocks / cores) for r in runs)
        return [self._advice("few_blocks", runs, max(0.0, saved), count=len(runs), n_cores=cores)] if runs else []
