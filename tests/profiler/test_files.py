"""The files of a profile, read strictly: columns, formulas, no overlap, nesting, paired flows, whole records."""

from __future__ import annotations

import random
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npu_runtime.observers.profiler.aic_metrics import GROUPS
from npu_runtime.observers.profiler.collection import write_profile
from npu_runtime.observers.profiler.settings import ProfilingOptions
from npu_runtime.simulation.run_record import DeviceRun, DeviceTask, ModelRun
from tests.how_many import drawn
from tests.profiler import runs
from tests.profiler.reader import (
    COUNTERS,
    SPLIT_COUNTERS,
    Profile,
    check_raw,
    check_steps,
    check_summary,
    check_tables,
    check_timeline,
    us,
)

BEGAN_NS = 1_700_000_000_123_456_789
ALL = ProfilingOptions(training_trace=True, aicpu=True, hccl=True)


def profile_of(run: DeviceRun, folder: Path, options: ProfilingOptions = ALL) -> Profile:
    return Profile(write_profile(run, options, folder, BEGAN_NS).folder)


def check_all(profile: Profile, device: int = 0) -> None:
    check_tables(profile)
    check_summary(profile, "PipeUtilization")
    check_steps(profile)
    check_timeline(profile.events())
    check_timeline(profile.events("step_trace"))
    check_raw(profile, device)


@pytest.mark.parametrize("name", ["lenet_run", "three_graphs", "planted", "odd_tasks"])
def test_all_files_of_a_run(name: str, tmp_path: Path):
    profile = profile_of(getattr(runs, name)(), tmp_path)
    check_all(profile)
    written = {
        "op_summary.csv", "op_statistic.csv", "step_trace.csv", "task_time.csv", "api_statistic.csv", "aicpu.csv",
        "fusion_op.csv", "msprof.json", "step_trace.json", "README.txt",
    }  # fmt: skip
    assert written <= profile.names()


def test_each_rank_has_a_folder_with_its_reduces(tmp_path: Path):
    for run in runs.two_ranks():
        profile = profile_of(run, tmp_path)
        check_all(profile, run.device_id)
        columns = profile.columns("step_trace")
        assert columns[10:] == ["Reduce Start(us)", "Reduce Duration(us)"] * 2
        threads = {event["args"]["name"] for event in profile.events() if event["name"] == "thread_name"}
        assert {"Communication", "Communication(Not Overlapped)", "Computing", "Free"} <= threads
        (total,) = profile.table("communication_statistic")
        assert (total["OP Type"], total["Count"], total["Ratio(%)"]) == ("HcomAllReduce", "8", "100.0")
        assert f'"rank_id": {run.rank_id}' in profile.raw("host/info.json").decode()
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("group", GROUPS)
def test_the_columns_of_each_group_of_counters(group: str, tmp_path: Path):
    profile = profile_of(runs.lenet_run(2), tmp_path, replace(ALL, aic_metrics=group))
    check_summary(profile, group)
    names = COUNTERS[group].split(",")
    cells = [row[name] for row in profile.table("op_summary") if row["Task Type"] == "AI_CPU" for name in names]
    assert set(cells) == {"N/A"}


def test_bandwidths_are_bytes_by_time(tmp_path: Path):
    run = runs.lenet_run(1)
    row = profile_of(run, tmp_path, replace(ALL, aic_metrics="Memory")).table("op_summary")[1]
    cost = run.models[0].tasks[1].cost
    seconds = cost.total_cycles / 1e9
    for column, level, direction in [
        ("main_mem_read_bw", "hbm", "read"),
        ("l1_write_bw", "l1", "written"),
        ("ub_read_bw", "ub", "read"),
    ]:
        expected = getattr(cost.traffic[level], direction) / seconds / 2**30
        assert float(row[f"{column}(GB/s)"]) == pytest.approx(expected, abs=0.001)


def test_level_0_tells_names_and_times_alone(tmp_path: Path):
    profile = profile_of(runs.lenet_run(2), tmp_path, replace(ALL, task_trace="l0"))
    for row in profile.table("op_summary"):
        assert row["Block Num"] == "0"
        assert {row[name] for name in ("OP Type", "OP State", "Task Type", "Input Shapes", "Output Formats")} == {"N/A"}
    assert "aicore_time(us)" not in profile.columns("op_summary")
    assert "op_statistic.csv" not in profile.names()


def test_off_leaves_steps_and_calls(tmp_path: Path):
    profile = profile_of(runs.lenet_run(2), tmp_path, replace(ALL, task_trace="off"))
    assert profile.names() == {"step_trace.csv", "step_trace.json", "api_statistic.csv", "msprof.json", "README.txt"}
    check_steps(profile)
    check_timeline(profile.events())


def test_steps_are_told_only_when_asked_for(tmp_path: Path):
    profile = profile_of(runs.lenet_run(2), tmp_path, ProfilingOptions())
    assert not {"step_trace.csv", "step_trace.json"} & profile.names()
    assert not [event for event in profile.events() if event["name"].startswith("Iteration")]


def test_an_initializer_has_no_passes(tmp_path: Path):
    rows = profile_of(runs.three_graphs(), tmp_path).table("step_trace")
    first = rows[0]
    assert (first["Model ID"], first["Iteration ID"]) == ("1", "1")
    assert {first[name] for name in ("FP Start(us)", "BP End(us)", "FP to BP Time(us)", "Data Aug Bound(us)")} == {"N/A"}
    assert {row["Model ID"] for row in rows} == {"1", "2", "3"}


def test_graphs_that_number_alike_keep_their_tasks_apart(tmp_path: Path):
    rows = profile_of(runs.three_graphs(), tmp_path).table("op_summary")
    owners: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        owners.setdefault((row["Stream ID"], row["Task ID"]), set()).add(row["Model ID"])
    assert all(len(models) == 1 for models in owners.values())


def test_more_graphs_than_streams_keep_their_tasks_apart(tmp_path: Path):
    tasks = runs.initializer_tasks()
    models = [
        ModelRun(number, f"g{number}", tasks, (0.0, 0.0), runs.loop(tasks, 1, number * 100.0, number)) for number in range(2100)
    ]
    rows = profile_of(DeviceRun("Ascend910A", models=models), tmp_path).table("op_summary")
    assert len({(row["Stream ID"], row["Task ID"]) for row in rows}) == len(rows) == 4200
    assert max(int(row["Stream ID"]) for row in rows) < 2048


def test_shapes_keep_their_quotation_marks(tmp_path: Path):
    profile = profile_of(runs.lenet_run(1), tmp_path)
    rows = {row["Op Name"]: row for row in profile.table("op_summary")}
    assert rows["dense/MatMul"]["Input Shapes"] == '"32,3136;3136,1000"'
    assert rows["loss/Softmax"]["Output Shapes"] == '""'
    assert rows["loss/Softmax"]["Input Data Types"] == "FLOAT;INT32"


def test_statistics_add_up(tmp_path: Path):
    profile = profile_of(runs.lenet_run(10), tmp_path)
    rows, tasks = profile.table("op_statistic"), profile.table("op_summary")
    assert abs(sum(Decimal(row["Ratio(%)"]) for row in rows) - 100) < Decimal("0.01")
    totals = [Decimal(row["Total Time(us)"]) for row in rows]
    assert totals == sorted(totals, reverse=True)
    for row in rows:
        times = [Decimal(task["Task Duration(us)"]) for task in tasks if task["OP Type"] == row["OP Type"]]
        told = tuple(Decimal(row[name]) for name in ("Count", "Total Time(us)", "Min Time(us)", "Max Time(us)"))
        assert told == (len(times), sum(times), min(times), max(times))


def test_memory_ends_with_the_most_at_one_time(tmp_path: Path):
    rows = profile_of(runs.lenet_run(1), tmp_path).table("static_op_mem")
    assert rows[-1]["Op Name"] == "TOTAL"
    assert Decimal(rows[-1]["Size(KB)"]) == (Decimal(1_605_632) + 64_000) / 1024


def test_times_are_those_of_the_run(tmp_path: Path):
    run = runs.lenet_run(3)
    rows = profile_of(run, tmp_path).table("task_time")
    made = sorted((entry for step in run.models[0].iterations for entry in step.runs), key=lambda entry: entry.start)
    opened = Decimal(BEGAN_NS // 1000)
    for row, entry in zip(rows, made, strict=True):
        assert row["kernel_name"] == entry.task.name
        assert float(us(row["task_start(us)"]) - opened) == pytest.approx(entry.start, abs=0.0051)
        assert float(us(row["task_stop(us)"]) - opened) == pytest.approx(entry.end, abs=0.0051)


def test_the_same_run_gives_the_same_bytes(tmp_path: Path):
    contents = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        folder = profile_of(runs.three_graphs(), tmp_path / name).folder
        contents.append({path.relative_to(tmp_path / name): path.read_bytes() for path in folder.rglob("*") if path.is_file()})
    assert contents[0] == contents[1]


def test_chips_with_split_cores_have_exported_files_alone(tmp_path: Path):
    profile = profile_of(runs.split_cores(), tmp_path)
    assert [path.name for path in profile.folder.iterdir()] == ["mindstudio_profiler_output"]
    check_tables(profile)
    check_steps(profile)
    check_timeline(profile.events())
    columns = profile.columns("op_summary")
    assert columns[11:14] == ["Block Num", "Mix Block Num", "HF32 Eligible"] and columns[20] == "Context ID"
    assert columns[21:] == SPLIT_COUNTERS.split(",")
    for row in profile.table("op_summary"):
        cells = {"AI_CORE": ("aic_mac_ratio", "aiv_vec_ratio"), "AI_VECTOR_CORE": ("aiv_vec_ratio", "aic_scalar_ratio")}
        if row["Task Type"] in cells:
            own, other = cells[row["Task Type"]]
            assert float(row[own]) > 0 and float(row[other]) == 0


def test_a_record_without_times_of_loading(tmp_path: Path):
    """Models that were loaded at 0 in no time, the second while the first runs."""
    tasks = runs.lenet_tasks()
    models = [ModelRun(number, f"g{number}", tasks, iterations=runs.loop(tasks, 2, number * 1.5, number)) for number in (0, 400)]
    profile = profile_of(DeviceRun("Ascend910A", models=models), tmp_path)
    check_tables(profile)
    check_timeline(profile.events())
    check_raw(profile, 0)


def test_a_device_that_ran_nothing(tmp_path: Path):
    profile = profile_of(DeviceRun("Ascend910A"), tmp_path)
    assert profile.table("op_summary") == [] and "step_trace.csv" not in profile.names()
    check_timeline(profile.events())


def test_types_and_formats_that_the_device_does_not_have(tmp_path: Path):
    task = runs.initializer_tasks()[0]
    odd = replace(task, inputs=(runs.tensor(3, dtype="float8", format="NEW"), runs.tensor(dtype="string", format="ND")))
    run = DeviceRun("Ascend910A", models=[ModelRun(1, "odd", [odd], (0.0, 0.0), runs.loop([odd], 1, 10.0))])
    (row,) = profile_of(run, tmp_path).table("op_summary")
    assert (row["Input Data Types"], row["Input Formats"], row["Input Shapes"]) == ("FLOAT8;STRING", "NEW;ND", '"3;"')


@st.composite
def device_runs(draw) -> DeviceRun:
    """Graphs with and without passes, on one or two streams of each, one after another."""
    models, now, seed = [], 10.0, draw(st.integers(0, 1000))
    for model_id in range(1, draw(st.integers(1, 3)) + 1):
        pool = runs.lenet_tasks(with_reduce=draw(st.booleans())) if draw(st.booleans()) else runs.initializer_tasks()
        tasks: list[DeviceTask] = random.Random(seed + model_id).sample(pool, draw(st.integers(1, len(pool))))
        tasks = [replace(task, task_id=at, is_dynamic=draw(st.booleans())) for at, task in enumerate(tasks)]
        steps = runs.loop(tasks, draw(st.integers(1, 4)), now, seed + model_id)
        models.append(ModelRun(model_id, f"g{model_id}", tasks, (now - 9.0, now - 3.0), steps))
        now = steps[-1].end + 20.0
    return DeviceRun("Ascend910A", models=models)


@settings(max_examples=drawn(25), deadline=None)
@given(run=device_runs())
def test_any_run_is_written_consistently(run: DeviceRun, tmp_path_factory):
    check_all(profile_of(run, tmp_path_factory.mktemp("any")))
