"""A step has the same parts whether it is predicted or read from a profile: one truth about its time."""

from __future__ import annotations

import json
import os

import pytest

from npu_formats.device.chip import load_chip
from npu_formats.documents import prediction
from npu_runtime.cost.ai_cpu import ai_cpu_cost
from npu_runtime.cost.core_task import CoreWork, core_cost
from npu_runtime.cost.fitted import load_fitted
from npu_runtime.cost.runtime_ops import runtime_cost
from npu_runtime.cost.task_cost import TaskCost
from npu_runtime.cost.tiling import Product
from npu_runtime.observers.prediction.shares import shares_of
from npu_runtime.observers.profiler.collection import write_profile
from npu_runtime.observers.profiler.settings import ProfilingOptions
from npu_runtime.simulation.run_record import DeviceRun, DeviceTask, Iteration, ModelRun, TaskRun
from tests import fork_server
from tests.predicted_steps import scripts
from tests.profiles import trees
from tests.shim.conftest import plain_environment
from tf2npu.profiles.reader import read_profile

BEGAN_NS = 1_700_000_000_123_456_789
OPTIONS = ProfilingOptions(training_trace=True, aicpu=True, hccl=True)
APART = 2e-3
"""A profile rounds times to 10 ns, and ratios to three decimals."""


def some_tasks(soc: str) -> list[DeviceTask]:
    """Tasks of every engine: small ones that a start is most of, large ones that compute or move data."""
    chip = load_chip(soc)
    of_vector = "AI_VECTOR_CORE" if chip.is_split else "AI_CORE"
    costs: list[tuple[str, str, TaskCost]] = [
        ("MatMulV2", "AI_CORE", core_cost(CoreWork(Product(2048, 2048, 2048, 2), 0, 0, 0, 1e9), chip)),
        ("Conv2D", "AI_CORE", core_cost(CoreWork(Product(64, 64, 64, 2), 0, 0, 0, 1e6), chip)),
        ("Cast", of_vector, core_cost(CoreWork(None, 4e8, 2e8, 100.0), chip)),
        ("Mul", of_vector, core_cost(CoreWork(None, 1e5, 1e5, 4e6), chip)),
        ("ApplyAdam", of_vector, core_cost(CoreWork(None, 400, 400, 10), chip)),
        ("Switch", "AI_CPU", runtime_cost("Switch")),
        ("Unique", "AI_CPU", ai_cpu_cost(1000, 1000, 0, chip)),
        ("HcomAllReduce", "COMMUNICATION", TaskCost("HCCL", 40.0)),
        ("Adam", of_vector, core_cost(CoreWork(None, 4e6, 2e6, 1e4), chip)),
    ]
    return [DeviceTask(f"{n}/{op}", op, kind, 0, n, cost) for n, (op, kind, cost) in enumerate(costs)]


def steps_of(tasks: list[DeviceTask], n: int = 4) -> list[Iteration]:
    """Each step is issued when the one before has ended, starts 20 us later, and has gaps of 1.5 us."""
    made, now = [], 1000.0
    for number in range(1, n + 1):
        issued, before, runs = (now, now + load_fitted().issue_us), now, []
        now += 20.0
        for task in tasks:
            runs.append(TaskRun(task, now, now + task.cost.us))
            now = runs[-1].end + 1.5
        beside = TaskRun(tasks[6], runs[0].start + 5.0, runs[0].start + 5.0 + tasks[6].cost.us)
        now = runs[-1].end
        made.append(Iteration(number, before, now, [*runs, beside], issued, runs[0].start, now - 10.0))
    return made


@pytest.mark.parametrize("soc", ["Ascend910A", "Ascend910B1"])
def test_a_step_of_every_engine(soc, tmp_path):
    tasks = some_tasks(soc)
    steps = steps_of(tasks)
    run = DeviceRun(soc, models=[ModelRun(1, "train", tasks, (5.0, 900.0), steps)])
    predicted = shares_of(steps[2], steps[2].end - steps[1].end)
    found = read_profile(write_profile(run, OPTIONS, tmp_path, BEGAN_NS).folder)
    measured = {name: getattr(found.shares, name) for name in prediction.SHARES}
    assert measured == pytest.approx(predicted, abs=APART)
    assert all(predicted[name] > 0.01 for name in prediction.SHARES), predicted


CHOSEN = scripts.FEED.replace("model(x, y)", "model(*(tf.gather(one, tf.where(y >= 0)[:, 0]) for one in (x, y)))")
"""Only a run tells how many examples are chosen."""


@pytest.mark.parametrize("source", [scripts.FEED, CHOSEN], ids=["known shapes", "shapes that a run tells"])
def test_a_script_that_is_predicted_and_profiled(source, tmp_path):
    """Between the steps of training runs nothing else, so a step of the profile is the one that is predicted."""
    script, out, profiles = tmp_path / "train.py", tmp_path / "prediction.json", tmp_path / "profiles"
    script.write_text(scripts.BEGIN + source)
    variables = {**plain_environment(), **{name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}}
    asked = {"TF2NPU_PREDICT": json.dumps({"out": str(out), "socs": ["Ascend910A"]})}
    recorded = {
        "PROFILING_MODE": "true",
        "PROFILING_OPTIONS": json.dumps({"output": str(profiles), "training_trace": "on", "task_trace": "on"}),
    }
    profiles.mkdir()
    for more in (asked, recorded):
        done = fork_server.python([script], {**variables, **more}, tmp_path)
        assert done.returncode == 0, done.stderr[-3000:]
    predicted, found = prediction.load(out.read_bytes()), read_profile(next(profiles.glob("PROF_*")))
    assert found.step_ms == pytest.approx(predicted.step_ms, rel=1e-3)
    for name in prediction.SHARES:
        assert getattr(found.shares, name) == pytest.approx(getattr(predicted.shares, name), abs=APART), name


def test_the_time_of_a_task_without_that_of_its_cores_is_its_launch(tmp_path):
    """ApplyAdam lasts 12.4 us, of which its cores work 0.03."""
    cells = {"aicore_time": 0.03, "task_type": "AI_CORE", "op_type": "ApplyAdam", "task_duration": 12.4, "mte2_ratio": 0.9}
    lines = [trees.row(trees.NEW, op_name="adam", task_id=1, total_cycles=960, task_start_time=20 * n, **cells) for n in range(4)]
    trees.put(tmp_path / "op_summary_1.csv", trees.NEW, lines)
    found = read_profile(tmp_path)
    assert found.shares.launch == pytest.approx(12.37 / 20) and found.shares.memory == pytest.approx(0.03 / 20)
    assert found.shares.host == pytest.approx(7.6 / 20)  # until the next step begins
    assert found.tasks[0].bound == "start"
