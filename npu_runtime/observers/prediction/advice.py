"""Advice: what would make a step faster, and by how much: the step is run on the clock again with what is advised.

A task that runs beside others saves only what nothing else covers.  Where more examples in a batch are what is advised, the time
saved is that of one step's examples, with twice the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from npu_runtime.cost.core_task import core_cost
from npu_runtime.cost.fitted import load_fitted
from npu_runtime.cost.task_cost import AI_CPU, CUBE, VECTOR
from npu_runtime.cost.tiling import FRACTAL, Product
from npu_runtime.cost.vector import vector_cost
from npu_runtime.lowering.fuse_dropout import GENERATE_MASK
from npu_runtime.lowering.lower import LoweredTask
from npu_runtime.observers.prediction.chip_step import ChipStep, StepCompiler
from npu_runtime.observers.prediction.round_trips import round_trips
from npu_runtime.simulation.device_compiler import Target
from npu_runtime.simulation.run_record import DeviceTask

LEAST_SHARE = 0.005
"""The share of a step below which an advice is not given: half a percent is less than the model itself can tell."""
LEAST_SHARE_OF_STARTS = 0.1
"""The share of a step that twice the batch has to save for an advice on small kernels: all steps have a few of them."""
SHOWN_OPERATORS = 10
"""Operators that an advice names at most, the costliest first."""
MIXED = "allow_mix_precision"
HALF_MODES = (MIXED, "allow_fp32_to_fp16")
"""Modes that are tried where products run in 32 bits: the second changes nothing but the products, which needs fewer casts."""
Advice = dict[str, Any]


class _Task(NamedTuple):
    device: DeviceTask
    lowered: LoweredTask


class Adviser:
    """step: as it is.  compiler: costs it otherwise.  doubled: the step of twice as many examples, None where there is none."""

    def __init__(self, step: ChipStep, compiler: StepCompiler, doubled: ChipStep | None = None) -> None:
        self.step, self.compiler, self.doubled = step, compiler, doubled
        self.tasks = [_Task(*pair) for pair in compiler.pairs(step)]

    def all(self) -> list[Advice]:
        """The advice that saves most first."""
        rules: Sequence[Callable[[], Iterable[Advice]]] = (
            self.ai_cpu, self.unaligned, self.small_kernels, self.conversions, self.wide_products, self.inputs, self.dynamic,
            self.few_blocks,
        )  # fmt: skip
        found = [advice for rule in rules for advice in rule()]
        least = self._least_us() / 1000
        return sorted((a for a in found if a["saves_ms"] >= least), key=lambda a: (-a["saves_ms"], a["kind"], a["source"]))

    def _least_us(self) -> float:
        return self.step.us * LEAST_SHARE

    def _saved(self, times: Mapping[int, float]) -> float:
        """Microseconds of a step that other times of tasks save; 0 where their sum is too little for an advice."""
        summed = sum(t.device.cost.us - times[id(t.device)] for t in self.tasks if id(t.device) in times)
        return max(0.0, self.step.us - self.compiler.us_with(self.step, times)) if summed >= self._least_us() else 0.0

    def _advice(self, kind: str, tasks: Iterable[_Task], saves_us: float, **details: Any) -> list[Advice]:
        if saves_us < self._least_us():
            return []
        ordered = sorted((task.device for task in tasks), key=lambda task: -task.cost.us)
        names = list(dict.fromkeys(task.name for task in ordered))[:SHOWN_OPERATORS]
        source = next((task.source for task in ordered if task.source), "")
        return [{"kind": kind, "operators": names, "source": source, "saves_ms": saves_us / 1000, "details": details}]

    def ai_cpu(self) -> Iterable[Advice]:
        """The same bytes moved by the AI cores, for each line of the script."""
        slow = [t for t in self.tasks if t.device.cost.engine == AI_CPU and t.device.op_type != GENERATE_MASK]
        for tasks in _groups(slow, lambda task: task.device.source).values():
            saved = self._saved({id(t.device): self._us_on_cores(t.device) for t in tasks})
            types = ", ".join(sorted({t.device.op_type for t in tasks}))
            yield from self._advice("ai_cpu", tasks, saved, op_types=types, count=len(tasks))

    def _us_on_cores(self, task: DeviceTask) -> float:
        moved = task.cost.traffic.get("hbm")
        us = vector_cost(moved.read, moved.written, 0.0, self.step.chip).us if moved else task.cost.us
        return min(us, task.cost.us)

    def unaligned(self) -> Iterable[Advice]:
        """The next smaller multiple of 16 for each such size: padding is computed as if it were there."""
        sizes: dict[int, list[_Task]] = {}
        for task in self.tasks:
            product = task.lowered.work.product if task.lowered.work else None
            for size in {product.m, product.n, product.k} if product else ():
                if size % FRACTAL and size > FRACTAL:
                    sizes.setdefault(size, []).append(task)
        for size, tasks in sorted(sizes.items()):
            smaller = size // FRACTAL * FRACTAL
            saved = self._saved({id(t.device): self._us_with_size(t, size, smaller) for t in tasks})
            yield from self._advice(
                "unaligned_shapes", tasks, saved, size=size, smaller=smaller, padded=smaller + FRACTAL, count=len(tasks)
            )

    def _us_with_size(self, task: _Task, size: int, smaller: int) -> float:
        work = task.lowered.work
        assert work is not None and work.product is not None
        cost = core_cost(replace(work, product=_with_size(work.product, size, smaller)), self.step.chip)
        return min(cost.us, task.device.cost.us)

    def small_kernels(self) -> Iterable[Advice]:
        """Twice the batch: the starts are paid half as often for each example."""
        small = [t for t in self.tasks if t.device.cost.engine in (CUBE, VECTOR) and t.device.cost.bound == "start"]
        half = load_fitted().start_us / 2
        saved = self._saved({id(t.device): t.device.cost.us - half for t in small})
        if saved > self.step.us * LEAST_SHARE_OF_STARTS:
            yield from self._advice("small_kernels", small, saved, count=len(small))

    def conversions(self) -> Iterable[Advice]:
        """The time without conversions that are there and back; the others bring data to the units that read it."""
        vain = round_trips([task.lowered for task in self.tasks])
        tasks = [task for task in self.tasks if id(task.lowered) in vain]
        saved = self._saved({id(t.device): 0.0 for t in tasks})
        yield from self._advice("format_conversions", tasks, saved, count=len(tasks))

    def wide_products(self) -> Iterable[Advice]:
        """The whole step in the mode of 16 bits that is fastest."""
        wide = [t for t in self.tasks if t.device.cost.engine == CUBE and any(x.dtype == "float32" for x in t.device.inputs[:2])]
        if wide:
            steps = [self.compiler.run(Target(self.step.chip, mode), self.step.sunk) for mode in HALF_MODES]
            best = min(steps, key=lambda step: step.us)
            yield from self._advice("fp32_cube", wide, self.step.us - best.us, precision_mode=best.mode)

    def inputs(self) -> Iterable[Advice]:
        """The copy of the batch beside the step before."""
        saved = self.step.us - self.compiler.us_with(self.step, {}, copies_inputs=False)
        yield from self._advice("input_pipeline", (), saved, wait_ms=saved / 1000)

    def dynamic(self) -> Iterable[Advice]:
        """The time without the cost of issuing tasks one by one."""
        tasks = [task for task in self.tasks if task.device.is_dynamic]
        issue_us = load_fitted().issue_us
        saved = self._saved({id(t.device): t.device.cost.us - issue_us for t in tasks})
        yield from self._advice("dynamic_shapes", tasks, saved, count=len(tasks))

    def few_blocks(self) -> Iterable[Advice]:
        """Twice the batch, where that occupies more cores: each example has half of the time then.  Starts are not counted."""
        cores, start_us = self.step.chip.n_cores, load_fitted().start_us
        doubled = {run.task.name: run.task.cost for run in self.doubled.iteration.runs} if self.doubled else {}
        tasks = [t for t in self.tasks if 0 < t.device.cost.n_blocks < cores and t.device.cost.bound != "start"]
        tasks = [t for t in tasks if t.device.name in doubled and doubled[t.device.name].n_blocks > t.device.cost.n_blocks]
        saved = self._saved({id(t.device): (doubled[t.device.name].us + start_us) / 2 for t in tasks})
        yield from self._advice("few_blocks", tasks, saved, count=len(tasks), n_cores=cores)


def _groups(tasks: Iterable[_Task], key: Callable[[_Task], str]) -> dict[str, list[_Task]]:
    found: dict[str, list[_Task]] = {}
    for task in tasks:
        found.setdefault(key(task), []).append(task)
    return found


def _with_size(product: Product, size: int, smaller: int) -> Product:
    """The product with another size on every side that has this one; its operands shrink as it does."""
    m, n, k = (smaller if side == size else side for side in (product.m, product.n, product.k))
    left, right = (m * k) / (product.m * product.k), (n * k) / (product.n * product.k)
    return replace(product, m=m, n=n, k=k, a_bytes=product.a_bytes * left, b_bytes=product.b_bytes * right)
