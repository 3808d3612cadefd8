"""The simulated clock holds to what streams and events mean, over random models."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from npu_runtime.cost.fitted import load_fitted
from npu_runtime.cost.task_cost import CUBE, TaskCost
from npu_runtime.device.chip import load_chip
from npu_runtime.simulation.compiled_model import CompiledModel, Launch
from npu_runtime.simulation.device import Issue, SimulatedDevice
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
