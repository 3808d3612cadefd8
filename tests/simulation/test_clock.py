"""The simulated clock holds to what streams and events mean, over random models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from npu_formats.device.chip import load_chip
from npu_runtime.cost.fitted import load_fitted
from npu_runtime.cost.runtime_ops import loop_turn_cost
from npu_runtime.cost.task_cost import CUBE, TaskCost
from npu_runtime.simulation.clock import MOST_RUNS
from npu_runtime.simulation.compiled_model import CompiledModel, Launch
from npu_runtime.simulation.device import MOST_KEPT, Issue, SimulatedDevice
from npu_runtime.simulation.run_record import DeviceTask, Iteration

CHIP = load_chip("Ascend910A")


def _task(number: int, stream: int, us: float) -> DeviceTask:
    return DeviceTask(f"task{number}", "MatMulV2", "AI_CORE", stream, number, TaskCost(CUBE, us, 32, us * 1000))


@st.composite
def models(draw: st.DrawFn) -> CompiledModel:
    """Up to twelve tasks on three streams that wait for any before them."""
    launches: list[Launch] = []
    for number in range(draw(st.integers(1, 12))):
        task = _task(number, draw(st.integers(0, 2)), draw(st.floats(0.5, 50)))
        waits = draw(st.sets(st.integers(0, max(0, number - 1)), max_size=3)) if number else set()
        launches.append(Launch(task, tuple(sorted(waits))))
    return CompiledModel("model", launches, fp=0, bp=len(launches) - 1, input_bytes=draw(st.sampled_from([0.0, 1e6])))


def _steps(model: CompiledModel, issues: Sequence[Issue]) -> list[Iteration]:
    device = SimulatedDevice(CHIP)
    loaded = device.load(model)
    return [device.step(loaded, model, issue) for issue in issues]


@given(models())
def test_a_stream_does_one_task_at_a_time_and_waits_are_kept(model: CompiledModel):
    for step in _steps(model, [Issue()] * 3):
        ends = {run.task.task_id: run.end for run in step.runs}
        for stream in {run.task.stream for run in step.runs}:
            runs = sorted((run.start, run.end) for run in step.runs if run.task.stream == stream)
            assert all(end <= start for (_, end), (start, _) in pairwise(runs))
        for run in step.runs:
            assert all(ends[position] <= run.start for position in model.launches[run.task.task_id].waits)
            assert run.start >= step.issued[1]


@given(models())
def test_a_step_takes_its_longest_chain_at_least_and_all_its_tasks_at_most(model: CompiledModel):
    (step,) = _steps(model, [Issue(copies_inputs=False)])
    chain: list[float] = []
    for launch in model.launches:
        chain.append(launch.task.cost.us + max([chain[position] for position in launch.waits], default=0.0))
    took = step.end - (step.get_next or step.issued)[1]
    assert max(chain) <= took + 1e-6
    assert took <= sum(launch.task.cost.us for launch in model.launches) + 1e-6


@given(models())
def test_a_batch_out_of_a_queue_is_taken_within_the_step_and_faster_than_one_from_the_host(model: CompiledModel):
    (queued,), (copied,) = (_steps(model, [Issue(copies_inputs=way)]) for way in (False, True))
    if model.input_bytes:
        assert queued.get_next and copied.get_next and queued.get_next[0] == copied.get_next[0]
        assert queued.get_next[0] < queued.get_next[1] < copied.get_next[1]
        assert all(run.start >= queued.get_next[1] for run in queued.runs)
    else:
        assert queued == copied


@given(models())
def test_steps_follow_one_another_and_are_the_same(model: CompiledModel):
    first, second, third = _steps(model, [Issue()] * 3)
    assert first.end <= second.issued[0] and second.start == first.end and third.start == second.end
    assert abs((third.end - third.start) - (second.end - second.start)) < 1e-6
    again = _steps(model, [Issue()] * 3)
    assert [[(run.start, run.end) for run in step.runs] for step in again] == [
        [(run.start, run.end) for run in step.runs] for step in (first, second, third)
    ]


@given(models())
def test_a_sunk_step_saves_the_issue_and_the_copy(model: CompiledModel):
    on_host = _steps(model, [Issue()] * 2)[1]
    sunk = _steps(model, [Issue(), Issue(is_issued=False, copies_inputs=False)])[1]
    saved = (on_host.end - on_host.start) - (sunk.end - sunk.start)
    assert saved >= load_fitted().issue_us - 1e-6
    assert (saved > load_fitted().issue_us + 1e-6) == bool(model.input_bytes)


@given(models(), st.integers(0, 5))
def test_a_loop_runs_its_body_as_often_as_it_turned(model: CompiledModel, turns: int):
    loop = Launch(_task(99, 0, 1.0), (), tuple(model.launches))
    device = SimulatedDevice(CHIP)
    made = CompiledModel("loop", [loop])
    loaded = device.load(made)
    step = device.step(loaded, made, Issue(), {"task99": turns})
    assert len(step.runs) == 1 + turns * len(model.launches)
    assert all(a.end <= b.start for a, b in pairwise(step.runs))


def _loop_model(body: Sequence[float], inner: Sequence[float] = ()) -> CompiledModel:
    """A loop of such tasks, the last of which holds a loop of its own if there are `inner` tasks, and a task behind it."""
    tasks = tuple(Launch(_task(10 + number, 0, us), ()) for number, us in enumerate(body))
    nested = Launch(_task(5, 0, 1.0), (), tuple(Launch(_task(50 + n, 0, us), ()) for n, us in enumerate(inner)))
    loop = Launch(_task(0, 0, 2.0), (), (*tasks, nested) if inner else tasks)
    return CompiledModel("model", [loop, Launch(_task(1, 0, 3.0), (0,))])


def _looped(model: CompiledModel, turns: dict[str, int]) -> Iteration:
    device = SimulatedDevice(CHIP)
    return device.step(device.load(model), model, Issue(), turns)


@given(st.lists(st.floats(0.5, 50), min_size=1, max_size=6), st.integers(0, 3000))
def test_a_loop_takes_as_long_as_its_turns_however_many_they_are(body: list[float], turns: int):
    step = _looped(_loop_model(body), {"task0": turns})
    expected = 2.0 + 3.0 + turns * (loop_turn_cost().us + sum(body))
    assert abs((step.end - step.issued[1]) - expected) < 1e-6 * expected
    for number, us in enumerate(body):
        runs = [run for run in step.runs if run.task.name == f"task{10 + number}"]
        assert sum(run.count for run in runs) == turns
        assert abs(sum(run.end - run.start for run in runs) - turns * us) < 1e-6 * max(1.0, turns * us)


def test_few_turns_are_recorded_one_by_one():
    step = _looped(_loop_model([1.0] * 100), {"task0": 100})
    assert len(step.runs) == 2 + 100 * 100 and all(run.count == 1 for run in step.runs)


def test_the_record_of_loops_is_bounded_whatever_they_do():
    step = _looped(_loop_model([1.0, 2.0], [0.5, 4.0]), {"task0": 10**6, "task5": 10**6})
    assert len(step.runs) < 2 * MOST_RUNS
    counts = Counter[str]()
    for run in step.runs:
        counts[run.task.name] += run.count
    assert (counts["task10"], counts["task5"], counts["task51"]) == (10**6, 10**6, 10**12)
    a_turn = loop_turn_cost().us
    expected = 5.0 + 10**6 * (a_turn + 4.0 + 10**6 * (a_turn + 4.5))
    assert abs(step.end - step.issued[1] - expected) < 1e-6 * expected
    assert all(before.end <= after.start + 1e-3 for before, after in pairwise(step.runs))


def test_a_record_of_many_steps_keeps_the_latest():
    model, device = _loop_model([1.0] * 100), SimulatedDevice(CHIP)
    loaded = device.load(model)
    for number in range(60):  # turns that change are steps that cannot be told by one another
        device.step(loaded, model, Issue(), {"task0": 100 + number})
    kept = [step.number for step in loaded.iterations if step.is_kept]
    assert kept == list(range(kept[0], 61)) and 10 <= len(kept) < 60
    assert sum(len(step.runs) for step in loaded.iterations) <= MOST_KEPT
    assert [step.number for step in loaded.iterations] == list(range(1, 61))
