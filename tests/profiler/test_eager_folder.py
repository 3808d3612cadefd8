"""The folder of torch_npu's profiler: the vendor's files and columns, figures that agree with each other, and a timeline."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from npu_formats.device.chip import load_chip
from npu_runtime.observers.profiler.eager.eager_profile import EagerOptions, EagerProfile, eager_profile
from npu_runtime.observers.profiler.eager.folder import write_folder
from npu_runtime.observers.profiler.eager.stacks import stacks
from npu_runtime.observers.profiler.eager.trace_view import trace_view
from npu_runtime.simulation.eager_device import EagerDevice
from tests.importers.recorded_calls import recorded_step
from tests.profiler.eager_runs import host_calls, rank_of_two, run_steps
from tests.profiler.perfetto import opened
from tests.profiler.reader import COUNTERS, OTHERS, TENSORS, check_nesting, check_timeline
from tf2npu.profiles.reader import read_profile

BEGAN_NS = 1_700_000_000_123_456_789
STEPS = [4, 5, 6]
FULL = EagerOptions(level="Level1", aic_metrics="PipeUtilization", record_shapes=True, with_stack=True)
FRONT = (
    "Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Num"
)
KERNELS_0 = (
    "Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Num,Input Shapes,Input Data Types,"
    "Input Formats,Output Shapes,Output Data Types,Output Formats"
)
OPERATORS = (
    "Name,Input Shapes,Call Stack,Host Self Duration(us),Host Total Duration(us),Device Self Duration(us),"
    "Device Total Duration(us),Device Self Duration With AICore(us),Device Total Duration With AICore(us)"
)
STEP_TIMES = (
    "Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,"
    "Communication(Not Overlapped and Exclude Receive),Preparing"
)
MEMORY = "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type"
"""Columns by table. Source: the vendor's guide to the Ascend PyTorch Profiler, tables 1, 2, 5 and 6."""


def profile_of(name: str = "gpt", options: EagerOptions = FULL, steps: list[int] | None = STEPS) -> EagerProfile:
    return eager_profile(run_steps(name, 3).record(), options, steps or ())


def output_of(profile: EagerProfile, folder: Path) -> Path:
    return write_folder(profile, folder, "host_12", BEGAN_NS) / "ASCEND_PROFILER_OUTPUT"


def table(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def columns(folder: Path, name: str) -> str:
    return (folder / f"{name}.csv").read_text(encoding="utf-8").partition("\n")[0]


def events_of(folder: Path) -> list[dict]:
    return json.loads((folder / "trace_view.json").read_text(encoding="utf-8"))


def test_files_and_columns_are_the_vendors(tmp_path: Path):
    output = output_of(profile_of(), tmp_path)
    assert output.parent.name == "host_12_20231114221320123_ascend_pt"
    assert columns(output, "kernel_details") == f"Step Id,{FRONT},{TENSORS},{COUNTERS['PipeUtilization']}"
    assert columns(output, "operator_details") == OPERATORS
    assert columns(output, "step_trace_time") == STEP_TIMES
    assert columns(output, "op_statistic") == OTHERS["op_statistic"]
    assert columns(output, "task_time") == OTHERS["task_time"]
    assert sorted(path.name[:4] for path in output.parent.iterdir()) == ["ASCE", "PROF", "READ", "prof", "prof"]


def test_level_0_has_names_and_times_alone(tmp_path: Path):
    output = output_of(profile_of(options=EagerOptions(), steps=None), tmp_path)
    assert columns(output, "kernel_details") == KERNELS_0
    assert {row["Type"] for row in table(output, "kernel_details")} == {"N/A"}
    assert not (output / "op_statistic.csv").exists()
    assert {row["Input Shapes"] + row["Call Stack"] for row in table(output, "operator_details")} == {""}
    assert [row["Step"] for row in table(output, "step_trace_time")] == [""]


def test_memory_is_told_where_it_changes(tmp_path: Path):
    device, (calls, n_before) = EagerDevice(load_chip("Ascend910A")), host_calls("gan")
    for step in range(2):
        device.step([replace(call, n_bytes=(1 + step + at // 100) << 20) for at, call in enumerate(calls)], n_before)
    output = output_of(eager_profile(device.record(), FULL, [0, 1]), tmp_path)
    rows = table(output, "memory_record")
    assert columns(output, "memory_record") == MEMORY
    assert [row["Total Allocated(MB)"] for row in rows] == ["1.0", "2.0", "3.0"]  # the second step begins with what is in use
    called = {event["ts"] for event in events_of(output) if event.get("cat") == "cpu_op"}
    assert {row["Timestamp(us)"].strip() for row in rows} <= called


def test_activities_choose_the_files(tmp_path: Path):
    host = output_of(profile_of(options=EagerOptions(with_device=False)), tmp_path / "host")
    device = output_of(profile_of(options=EagerOptions(with_host=False)), tmp_path / "device")
    assert {path.name for path in host.iterdir()} == {"operator_details.csv", "trace_view.json"}
    assert "operator_details.csv" not in {path.name for path in device.iterdir()}
    assert {event["ph"] for event in events_of(device)} == {"M", "X"}


def test_times_of_the_tables_agree(tmp_path: Path):
    output = output_of(profile_of(), tmp_path)
    kernels, operators = table(output, "kernel_details"), table(output, "operator_details")
    per_step: dict[str, Decimal] = defaultdict(Decimal)
    for row in kernels:
        per_step[row["Step Id"]] += Decimal(row["Duration(us)"])
    whole = sum(per_step.values())
    assert list(per_step) == ["4", "5", "6"]
    assert sum(Decimal(row["Device Self Duration(us)"]) for row in operators) == whole
    assert sum(Decimal(row["Total Time(us)"]) for row in table(output, "op_statistic")) == whole
    masks = [row for row in kernels if row["Stream ID"] != "0"]
    beside = sum(Decimal(row["Duration(us)"]) for row in masks)  # beside the others, so that they count once
    computing = sum(Decimal(row["Computing"]) for row in table(output, "step_trace_time"))
    assert masks and whole - beside <= computing <= whole


def test_each_call_of_the_script_has_a_row_and_a_slice(tmp_path: Path):
    output = output_of(profile_of(), tmp_path)
    calls = recorded_step("gpt")[0] * 3
    assert [row["Name"] for row in table(output, "operator_details")] == [call.name for call in calls]
    slices = [e for e in events_of(output) if e.get("cat") == "cpu_op"]
    assert [e["name"] for e in slices if not e["name"].startswith("Profiler")] == [call.name for call in calls]
    assert [e["name"] for e in slices if e["name"].startswith("Profiler")] == [f"ProfilerStep#{number}" for number in STEPS]
    shown = next(e for e in slices if e["name"] == "aten::embedding")
    assert shown["args"]["Input Dims"] == "200,128;8,64" and shown["args"]["Input type"] == "float32;int64"
    assert shown["args"]["Call stack"] == "train.py(7): step;\r\ntrain.py(20): <module>"


def test_events_nest_and_arrows_join_slices(tmp_path: Path):
    output = output_of(profile_of(), tmp_path)
    events = events_of(output)
    check_timeline(events)
    main = [row for row in table(output, "kernel_details") if row["Stream ID"] == "0"]
    starts = {e["ts"] for e in events if e["ph"] == "f"}
    assert {row["Start Time(us)"].strip() for row in main} <= starts  # each has an arrow, and its start in the table is its own
    assert all(Decimal(e["ts"]) >= 0 for e in events if e["ph"] == "X")


def test_a_collective_is_told_with_what_hides_it(tmp_path: Path):
    output = output_of(eager_profile(rank_of_two().record(), FULL, STEPS), tmp_path)
    check_timeline(events_of(output))
    (reduce,) = [row for row in table(output, "kernel_details") if row["Step Id"] == "5" and row["Type"] == "HcomAllReduce"]
    for row in table(output, "step_trace_time"):
        assert row["Device_id"] == "1"
        assert abs(Decimal(row["Communication"]) - Decimal(reduce["Duration(us)"])) <= Decimal("0.01"), "a digit of either"
        hidden, alone = Decimal(row["Overlapped"]), Decimal(row["Communication(Not Overlapped)"])
        assert hidden > 0 and hidden + alone == Decimal(row["Communication"])
        assert Decimal(row["Computing"]) + alone + Decimal(row["Free"]) == Decimal(row["Stage"])
    assert json.loads((output.parent / "profiler_info_1.json").read_text())["rank_id"] == 1


@pytest.mark.parametrize("name", ["lstm", "resnet18"])
def test_calls_of_other_networks_nest(name: str):
    events = json.loads("".join(trace_view(profile_of(name))))
    spans = [(Decimal(e["ts"]), Decimal(e["ts"]) + Decimal(str(e["dur"]))) for e in events if e.get("cat") == "cpu_op"]
    check_nesting((0, 1), spans)


def test_perfetto_imports_the_timeline(tmp_path: Path):
    (tmp_path / "page").mkdir()
    output = output_of(profile_of(), tmp_path)
    events = events_of(output)
    with opened(output / "trace_view.json", tmp_path / "page") as trace:
        assert trace.errors() == []
        sql = "select count(*) from slice s join thread_track t on s.track_id = t.id join thread using (utid)"
        n_kernels = len(table(output, "kernel_details"))
        assert trace.query(f"{sql} where thread.name glob 'Stream *'") == [[n_kernels]]
        assert trace.query("select count(*) from flow") == [[sum(e["ph"] == "s" for e in events)]]
        assert trace.query("select name from slice where name glob 'ProfilerStep*' order by ts") == [
            [f"ProfilerStep#{number}"] for number in STEPS
        ]


def test_stacks_sum_to_the_time_of_the_device():
    profile = profile_of("resnet18")
    lines = list(stacks(profile, on_device=True))
    whole = sum(task.end - task.start for task in profile.log.tasks) / 100
    assert all(line.startswith("train.py(20): <module>;train.py(7): step;") for line in lines)
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == pytest.approx(whole, abs=len(lines))


def test_the_device_s_own_profile_is_inside(tmp_path: Path):
    folder = output_of(profile_of(), tmp_path).parent
    kernels = [row for row in table(folder / "ASCEND_PROFILER_OUTPUT", "kernel_details") if row["Step Id"] == "5"]
    assert sorted(task.name for task in read_profile(folder).tasks) == sorted(row["Name"] for row in kernels)


def test_two_folders_of_a_moment_have_two_names(tmp_path: Path):
    profile = profile_of("gan")
    first, second = (write_folder(profile, tmp_path, "host_12", BEGAN_NS).name for _ in range(2))
    assert (first, second) == ("host_12_20231114221320123_ascend_pt", "host_12_20231114221320124_ascend_pt")
