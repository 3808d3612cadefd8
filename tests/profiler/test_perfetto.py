"""Our timelines in Perfetto itself: nothing is dropped on import, and what was put in is found by SQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from npu_runtime.observers.profiler.collection import write_profile
from npu_runtime.observers.profiler.settings import ProfilingOptions
from npu_runtime.simulation.run_record import DeviceRun
from tests.profiler import runs
from tests.profiler.perfetto import opened
from tests.profiler.reader import Profile

BEGAN_NS = 1_700_000_000_123_456_789
ALL = ProfilingOptions(training_trace=True, aicpu=True, hccl=True)


def exported(run: DeviceRun, folder: Path, name: str) -> Path:
    profile = write_profile(run, ALL, folder, BEGAN_NS).folder
    (found,) = (profile / "mindstudio_profiler_output").glob(f"{name}_*.json")
    return found


@pytest.mark.whole(but=("a rank of two",))
@pytest.mark.parametrize(
    "run",
    [runs.lenet_run(3), runs.three_graphs(3), runs.two_ranks(3)[1]],
    ids=["one graph", "three graphs", "a rank of two"],
)
def test_perfetto_imports_all_of_a_timeline(run: DeviceRun, tmp_path: Path):
    (tmp_path / "page").mkdir()
    timeline = exported(run, tmp_path, "msprof")
    table = Profile(timeline.parents[1]).table("step_trace")
    with opened(timeline, tmp_path / "page") as trace:
        assert trace.errors() == []
        n_tasks = sum(len(step.runs) for model in run.models for step in model.iterations)
        sql = "select count(*) from slice s join thread_track t on s.track_id = t.id join thread using (utid)"
        assert trace.query(f"{sql} where thread.name glob 'Stream *'") == [[n_tasks]]
        n_steps = sum(len(model.iterations) for model in run.models)
        assert trace.query("select count(*) from slice where name glob 'Iteration [0-9]*'") == [[n_steps]]
        bounds = [row for row in table if row["Data Aug Bound(us)"] != "N/A"]
        assert trace.query("select count(*) from flow") == [[n_tasks + len(bounds)]]


def test_three_iterations_of_the_steps_alone(tmp_path: Path):
    (tmp_path / "page").mkdir()
    with opened(exported(runs.lenet_run(3), tmp_path, "step_trace"), tmp_path / "page") as trace:
        assert trace.errors() == []
        rows = trace.query("select name, dur from slice where name glob 'Iteration [0-9]*' order by ts")
    assert [name for name, _ in rows] == ["Iteration 1", "Iteration 2", "Iteration 3"]
    steps = runs.lenet_run(3).models[0].iterations
    assert rows[1][1] == pytest.approx((steps[1].end - steps[0].end) * 1000, abs=20)
