"""Profiles of PyTorch's steps, from calls that torch recorded: the time of the bound, read back by the reader of profiles."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from npu_formats.device.chip import load_chip
from npu_runtime.importers.pytorch.operator_call import OperatorCall, TensorUse
from npu_runtime.observers.profiler.collection import write_profile
from npu_runtime.observers.profiler.settings import ProfilingOptions
from npu_runtime.simulation import eager_device
from npu_runtime.simulation.eager_device import EagerDevice, HostCall
from npu_runtime.simulation.eager_step_document import EagerStep, document_of
from tests.importers.recorded_calls import recorded_step
from tests.profiler.eager_runs import UPDATES, host_calls, run_steps
from tests.profiler.reader import Profile, check_raw, check_steps, check_summary, check_tables, check_timeline, us
from tf2npu.profiles.reader import read_profile

BEGAN_NS = 1_700_000_000_123_456_789
ALL = ProfilingOptions(training_trace=True, aicpu=True, hccl=True)


def written(device: EagerDevice, folder: Path) -> Profile:
    return Profile(write_profile(device.record().run, ALL, folder, BEGAN_NS).folder)


@pytest.mark.parametrize("name", ["gpt", "lstm", "resnet18"])
def test_the_profile_shows_the_time_that_a_prediction_gives_for_an_operator_a_task(name: str, tmp_path: Path):
    document = document_of(EagerStep(recorded_step(name)[0], 0), ["Ascend910A"])
    profile = written(run_steps(name, 3), tmp_path)
    step = read_profile(profile.folder)
    assert step.step_ms == pytest.approx(document["bounds_ms"][1], abs=5e-5)  # the gap between steps and two ticks
    predicted = Counter((task["name"], task["op_type"]) for task in document["tasks"] if task["engine"] != "copy")
    assert Counter((task.name, task.op_type) for task in step.tasks) == predicted
    assert sum(task.duration_us for task in step.tasks) == pytest.approx(
        sum(t["duration_us"] for t in document["tasks"]), rel=1e-3
    )


@pytest.mark.parametrize("name", ["gpt", "resnet18"])
def test_every_file_is_as_its_readers_want_it(name: str, tmp_path: Path):
    profile = written(run_steps(name, 3), tmp_path)
    check_tables(profile)
    check_summary(profile, "PipeUtilization")
    check_steps(profile)
    check_timeline(profile.events())
    check_raw(profile, 0)


def test_the_backward_pass_ends_before_the_first_task_of_the_optimizer(tmp_path: Path):
    profile = written(run_steps("resnet18", 2), tmp_path)
    second = profile.table("step_trace")[1]
    rows = [row for row in profile.table("op_summary") if us(row["Task Start Time(us)"]) >= us(second["FP Start(us)"])]
    updates = [us(row["Task Start Time(us)"]) for row in rows if row["Op Name"].startswith(UPDATES)]
    assert us(second["FP Start(us)"]) == us(rows[0]["Task Start Time(us)"])
    assert 0 <= min(updates) - us(second["BP End(us)"]) < 1


def test_a_slice_names_the_line_of_the_script(tmp_path: Path):
    profile = written(run_steps("gpt", 1), tmp_path)
    slices = [event for event in profile.events() if event["ph"] == "X" and "Task Type" in event.get("args", {})]
    lines = {call.source for call in recorded_step("gpt")[0]}
    assert slices and all(event["args"]["Source"] in lines for event in slices)


def test_steps_that_differ_in_values_and_in_memory_alone_are_worked_out_once(monkeypatch):
    worked = []
    bound = eager_device.operators_bound
    monkeypatch.setattr(eager_device, "operators_bound", lambda *told: worked.append(1) or bound(*told))
    device = EagerDevice(load_chip("Ascend910A"))
    for step in range(200):
        device.step([HostCall(_moved(call, 10_000 * step, step)) for call in recorded_step("gan")[0]])
    (model,) = device.record().run.models
    assert len(worked) == 1
    assert [step.number for step in model.iterations] == list(range(1, 201))
    assert len(model.tasks) == len(model.iterations[0].runs) == len(model.iterations[-1].runs)
    device.step([HostCall(call) for call in recorded_step("gan")[0][:-1]])
    assert len(worked) == 2


def _moved(value, by: int, step: int):
    """The same with other numbers of memory, and with another learning rate."""
    if isinstance(value, TensorUse):
        return value._replace(storage=value.storage + by)
    if isinstance(value, OperatorCall):
        return OperatorCall(*(_moved(one, by, step) for one in value))
    if isinstance(value, tuple):
        return tuple(_moved(one, by, step) for one in value)
    if isinstance(value, dict):
        return {key: _moved(one, by, step) for key, one in value.items()}
    return value / (step + 2) if isinstance(value, float) and value not in (0.0, 1.0) else value


def test_a_long_run_keeps_the_tasks_of_its_latest_steps(monkeypatch, tmp_path: Path):
    n_tasks = len(run_steps("gan", 1).record().run.models[0].tasks)
    monkeypatch.setattr(eager_device, "MOST_KEPT", 3 * n_tasks)
    record = run_steps("gan", 10).record()
    kept = [step.number for step in record.run.models[0].iterations if step.is_kept]
    assert kept == [8, 9, 10] == sorted(record.calls)
    profile = Profile(write_profile(record.run, ALL, tmp_path, BEGAN_NS).folder)
    assert len(profile.table("op_summary")) == 3 * n_tasks


def test_steps_of_ever_new_shapes_do_not_pile_up(monkeypatch):
    calls, n_before = host_calls("gan")
    n_tasks = len(run_steps("gan", 1).record().run.models[0].tasks)
    monkeypatch.setattr(eager_device, "MOST_TASKS", 2 * n_tasks)
    device = EagerDevice(load_chip("Ascend910A"))
    for step in range(5):
        device.step(calls[: len(calls) - step], n_before)
    (model,) = device.record().run.models
    assert [step.is_kept for step in model.iterations] == [False, False, False, True, True]
    assert len(model.tasks) <= 2 * n_tasks


def test_the_memory_of_long_runs_is_kept_for_their_latest_steps(monkeypatch):
    calls, n_before = host_calls("gan")
    monkeypatch.setattr(eager_device, "MOST_MEMORY", 2 * len(calls))
    device = EagerDevice(load_chip("Ascend910A"))
    for step in range(5):
        device.step([replace(call, n_bytes=1000 * step) for call in calls], n_before)
    record = device.record()
    assert {number: set(n_bytes) for number, n_bytes in record.memory.items()} == {4: {3000}, 5: {4000}}
    assert len(record.run.models[0].tasks) == len(record.run.models[0].iterations[0].runs)  # the steps are equal all the same


def test_the_same_steps_give_the_same_bytes(tmp_path: Path):
    files = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        folder.mkdir()
        profile = written(run_steps("gan", 3), folder)
        files.append({path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()})
        assert profile.names()
    assert files[0] == files[1]
