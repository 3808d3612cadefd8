"""Documents to render: one made by hand, one with hostile names, one of many tasks, and what hypothesis makes."""

from __future__ import annotations

from hypothesis import strategies as st

from npu_formats.documents.prediction import (
    SHARES,
    Advice,
    Alternative,
    Chip,
    ChipStep,
    Document,
    Shapes,
    Shares,
    Task,
    Words,
    of_steps,
)
from tests.report.samples import HOSTILE_NAMES, texts
from tf2npu.prediction.texts import advice_kinds

CHIP = Chip(n_cores=32, peak_tflops=256.0, hbm_bytes=32 << 30, hbm_gb_per_s=1024.0, clock_mhz=1000.0)


def task(name: str, us: float, start: float, engine: str = "cube", **further) -> Task:
    """A task with shapes and counters."""
    shapes = Shapes([[32, 28, 28, 16], [3, 3, 16, 32]], [[32, 28, 28, 32]])
    return Task(
        name=name, op_type=further.pop("op_type", "Conv2D"), engine=engine, start_us=start, duration_us=us, bound="cube",
        source="train.py:12", shapes=shapes, formats=Words(["NC1HWC0", "FRACTAL_Z"], ["NC1HWC0"]),
        dtypes=Words(["float16", "float16"], ["float16"]), flops=2e9, hbm_bytes=3e6, n_blocks=32,
        cycles={"cube": 700.0, "mte2": 300.0}, total_cycles=1000.0, l2_hit_rate=0.4, members=[name], **further,
    )  # fmt: skip


def step(soc: str = "Ascend910A") -> ChipStep:
    """A step of five tasks on two streams."""
    tasks = [
        task("conv1/Conv2D", 400.0, 10.0),
        task("conv1/Relu", 50.0, 410.0, "vector", op_type="Relu"),
        task("embedding/Unique", 250.0, 470.0, "AI CPU", op_type="Unique"),
        task("dense/MatMul", 100.0, 730.0, op_type="MatMul"),
        task("gradients/copy", 30.0, 500.0, "copy", op_type="MemcpyAsync", stream=7),
    ]
    return ChipStep(
        soc=soc, chip=CHIP, precision="mixed", batch=32, step_ms=0.9, step_ms_range=(0.8, 1.0), examples_per_s=35_555.6,
        shares=Shares(0.45, 0.05, 0.1, 0.3, 0.02, 0.03, 0.05), flops=8e9, tflops=8.9, utilisation=0.0348,
        memory_peak_bytes=3 << 20, hbm_bytes=32 << 30, memory=[(0.0, 1 << 20), (10.0, 3 << 20), (700.0, 2 << 20)], tasks=tasks,
        advice=[Advice(kind, ["embedding/Unique"], "train.py:30", 0.25, {"reason": "int64"}) for kind in advice_kinds()],
        alternatives=[Alternative("Ascend910B2", "mixed", True, 32, 0.5, 64_000.0), Alternative("Ascend910A", "fp32")],
        largest_batch=512, notes=["Step 3 of 4 is shown: the one with the median time."],
    )  # fmt: skip


def sample() -> Document:
    """Two chips."""
    return of_steps([step(), step("Ascend910B2")], "prediction", "train.py")


def hostile() -> Document:
    """Every text of the document is a hostile name."""
    made = of_steps([step()], "prediction", HOSTILE_NAMES[0])
    made.soc, made.precision, made.notes = HOSTILE_NAMES[1], HOSTILE_NAMES[4], list(HOSTILE_NAMES)
    ends = ["</script><script>document.title='owned'</script>", "<!--<script>", "]]>"]
    for number, name in enumerate((*HOSTILE_NAMES, *ends)):
        bad = task(name, 10.0 + number, 20.0 * number, op_type=name)
        bad.engine = bad.bound = bad.source = name
        bad.formats, bad.dtypes, bad.cycles = Words([name], [name]), Words([name], [name]), {name: 5.0}
        made.tasks.append(bad)
        made.advice.append(Advice(name, [name], name, 1.0, {name: name}))
        made.alternatives.append(Alternative(name, name))
    return made


def large(n_tasks: int) -> Document:
    """A step of many short tasks on 20 streams."""
    tasks = [task(f"layer{n}/Add", 5.0 + n % 7, 12.0 * (n // 20), "vector", op_type="Add", stream=n % 20) for n in range(n_tasks)]
    return of_steps([ChipStep(soc="Ascend910A", chip=CHIP, step_ms=0.012 * n_tasks / 20, tasks=tasks)], "prediction", "big.py")


amounts = st.none() | st.floats(0, 1e18)
words = st.builds(Words, st.lists(texts, max_size=3), st.lists(texts, max_size=3))
shapes = st.builds(Shapes, st.lists(st.lists(st.integers(-1, 1 << 40), max_size=5), max_size=3), st.just([]))
tasks = st.builds(
    Task, name=texts, op_type=texts, engine=texts, stream=st.integers(-5, 5), start_us=st.floats(-1e6, 1e6),
    duration_us=st.floats(0, 1e9), bound=texts, source=texts, shapes=shapes, formats=words, dtypes=words, flops=amounts,
    hbm_bytes=amounts, n_blocks=st.none() | st.integers(0, 99), cycles=st.dictionaries(texts, st.floats(0, 1e9), max_size=3),
    total_cycles=amounts, l2_hit_rate=st.none() | st.floats(0, 1), members=st.lists(texts, max_size=2),
)  # fmt: skip
details = st.dictionaries(texts, texts | st.integers(-9, 9) | st.lists(texts, max_size=2) | st.booleans(), max_size=3)
advice = st.builds(Advice, texts | st.sampled_from(advice_kinds()), st.lists(texts, max_size=8), texts, amounts, details)
shares = st.builds(Shares, **{name: st.none() | st.floats(0, 1) for name in SHARES})
moments = st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e12)), max_size=4)
steps = st.builds(
    ChipStep, soc=st.none() | texts, chip=st.builds(Chip, *[st.none() | st.integers(0, 99)] * 5), precision=st.none() | texts,
    batch=st.none() | st.integers(0, 9), step_ms=amounts, step_ms_range=st.none() | st.just((1.0, 2.0)), examples_per_s=amounts,
    shares=shares, flops=amounts, tflops=amounts, utilisation=amounts, memory_peak_bytes=amounts, memory=moments,
    tasks=st.lists(tasks, max_size=4), advice=st.lists(advice, max_size=3), notes=st.lists(texts, max_size=2),
    alternatives=st.lists(st.builds(Alternative, texts, texts, st.booleans()), max_size=2),
)  # fmt: skip
documents = st.builds(of_steps, st.lists(steps, min_size=1, max_size=2), st.sampled_from(["prediction", "profile"]), texts)
