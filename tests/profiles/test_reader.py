"""PROF_* trees of several releases become the document of one step; whatever else stands in a tree ends in one line."""

import json
import os
import random
import sys
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from npu_formats.documents import prediction
from tests.how_many import IS_WHOLE
from tests.profiles import trees
from tf2npu.profiles.csv_reader import NoProfile, plain, rows
from tf2npu.profiles.reader import read_profile
from tf2npu.profiles.steps import Step, within
from tf2npu.profiles.tasks import _shapes
from tf2npu.profiles.tree import opened

SCHEMA = Draft202012Validator(json.loads(prediction.SCHEMA_FILE.read_text(encoding="utf-8")))


def test_the_current_layout(tmp_path):
    found = read_profile(trees.new_tree(tmp_path))
    assert found.origin == "profile" and found.soc is None
    assert (found.chip.n_cores, found.chip.clock_mhz) == (32, 1000.0)
    assert found.step_ms == pytest.approx(0.452)  # the median of steps 2 to 4, as the first one compiles
    assert found.step_ms_range == pytest.approx((0.451, 0.453))
    assert [(t.name, t.engine, t.bound) for t in found.tasks] == [
        ("conv/Conv2D", "cube", "cube"), ("conv/Relu", "vector", "mte2"), ("Unique", "AI CPU", ""),
    ]  # fmt: skip
    first = found.tasks[0]
    assert first.start_us == pytest.approx(0.125) and first.duration_us == 200  # digits that a float of 1970 does not hold
    assert first.shapes.inputs == [[32, 14, 4, 112, 16], [16]] and first.formats.inputs == ["NC1HWC0", "ND"]
    assert first.cycles == {"vector": 600.0, "cube": 4800.0, "mte2": 3000.0} and first.n_blocks == 32 and first.flops is None


def test_a_task_that_ends_as_a_step_begins_is_of_the_step_before():
    """0.1 + 0.2 is more than 0.3 in binary digits."""
    before, first = (SimpleNamespace(task=SimpleNamespace(start_us=at, end_us=at + 0.2)) for at in (0.1, 0.3))
    assert before.task.end_us > 0.3
    assert within([before, first], Step(1, 0.3, 1.0)) == [first]


def test_the_time_of_a_step_is_parted(tmp_path):
    shares = read_profile(trees.new_tree(tmp_path)).shares
    assert shares.cube == pytest.approx(200 / 452)
    assert shares.memory == pytest.approx(50 / 452)  # the Relu waits for mte2
    assert shares.ai_cpu == pytest.approx(100 / 452)
    assert shares.host == pytest.approx(0.125 / 452)  # until the first task starts
    assert shares.waiting == pytest.approx(101.875 / 452)
    assert shares.launch is None  # no time of the cores: the profile does not say


def test_tasks_of_two_streams_share_their_time(tmp_path):
    tree = trees.new_tree(tmp_path)
    lines = trees.tasks_of(trees.NEW, device_id=0)
    of_other = {"op_name": "copy", "task_id": 9, "task_type": "AI_CPU"}
    other = trees.tasks_of(trees.NEW, device_id=0, stream_id=6, **of_other)
    trees.put(tree / "mindstudio_profiler_output" / "op_summary_20240101120000.csv", trees.NEW, lines + other)
    shares = read_profile(tree).shares
    assert shares.cube == pytest.approx(200 / 452)  # the AI CPU beside it costs the step nothing
    assert sum(filter(None, vars_of(shares))) == pytest.approx(1)


def vars_of(shares):
    return [getattr(shares, name) for name in prediction.SHARES]


def test_an_older_layout_without_a_step_trace(tmp_path):
    found = read_profile(trees.old_tree(tmp_path))
    assert [task.op_type for task in found.tasks] == ["Conv2D", "Relu", "Unique"]
    assert found.step_ms == pytest.approx(0.5)  # from one first task to the next
    assert any("no step trace" in note for note in found.notes) and any("4 files" in note for note in found.notes)


def test_the_layout_of_2020(tmp_path):
    folder = tmp_path / "JOBABC" / "device_3"
    trees.put(folder / "summary" / "op_summary_3_1_1.csv", trees.OLD, trees.tasks_of(trees.OLD, steps=1))
    found = read_profile(tmp_path / "JOBABC")
    assert len(found.tasks) == 3 and "all of it is shown as one step" in " ".join(found.notes)


def test_chips_with_cores_apart(tmp_path):
    cells = {"aic_total_cycles": 1000, "aic_mac_ratio": 0.9, "aiv_total_cycles": 500, "aiv_vec_ratio": 0.1}
    trees.put(tmp_path / "op_summary_1.csv", trees.SPLIT, trees.tasks_of(trees.SPLIT, task_type="MIX_AIC", **cells))
    task = read_profile(tmp_path).tasks[0]
    assert (task.engine, task.cycles, task.total_cycles) == ("cube", {"cube": 900.0, "vector": 50.0}, 1500.0)


def test_a_row_of_the_vendors_own_test_of_its_exporter(tmp_path):
    """Start, duration and counters of the first row in op_summary_assembler_utest.cpp of Ascend/msprof; much of it is empty."""
    known = {"device_id": 0, "model_id": 4294967295, "task_id": 10, "stream_id": 1, "op_name": "MatMulV3", "aic_mac_ratio": 0.236}
    known |= {"aic_total_cycles": 5043798, "aic_mte2_ratio": 0.593, "task_start_time": "1717575960208020.758\t", "task_type": ""}
    trees.put(tmp_path / "op_summary_1.csv", trees.SPLIT, [trees.row(trees.SPLIT, **known, task_duration=151.0)])
    task = read_profile(tmp_path).tasks[0]
    assert (task.name, task.engine, task.bound, task.duration_us, task.start_us) == ("MatMulV3", "cube", "mte2", 151.0, 0.0)
    assert task.cycles["cube"] == pytest.approx(0.236 * 5043798)


def test_task_time_alone(tmp_path):
    lines = [trees.row(trees.TASK_TIME, kernel_name=f"k{n % 2}", kernel_type="AI_CORE", stream_id=1, task_id=n % 2, task_time=10,
                       task_start=20 * n) for n in range(6)]  # fmt: skip
    trees.put(tmp_path / "task_time_1.csv", trees.TASK_TIME, lines)
    found = read_profile(tmp_path)
    assert [task.name for task in found.tasks] == ["k0", "k1"] and found.step_ms == pytest.approx(0.04)
    assert any("no counters" in note for note in found.notes)


def test_the_timeline_alone(tmp_path):
    arguments = {"Task Type": "AI_CORE", "Physic Stream Id": 2, "Model Id": 1}
    events = [
        {
            "ph": "X",
            "name": f"Conv{n % 2}",
            "ts": f"{trees.EPOCH + 50 * n}.250",
            "dur": 20,
            "args": {**arguments, "Task Id": n % 2},
        }
        for n in range(6)
    ]
    host = {"ph": "X", "name": "Node@launch", "ts": "1", "dur": 1, "args": {}}
    (tmp_path / "msprof_1.json").write_text(json.dumps([*events, host, {"ph": "M"}, 7]))
    found = read_profile(tmp_path)
    assert [task.name for task in found.tasks] == ["Conv0", "Conv1"] and found.tasks[0].engine == "cube"


def test_each_device_is_a_chip(tmp_path):
    lines = [line for device in (0, 1) for line in trees.tasks_of(trees.NEW, device_id=device)]
    trees.put(tmp_path / "op_summary_1.csv", trees.NEW, lines)
    found = read_profile(tmp_path)
    assert [step.soc for step in found.chips] == ["device 0", "device 1"]
    assert all(len(step.tasks) == 3 for step in found.chips)


def test_memory_over_the_step(tmp_path):
    tree = trees.new_tree(tmp_path)
    header = "Device_id,Component,Timestamp(us),Total Allocated(KB),Total Reserved(KB),Device"
    lines = [trees.row(header, device_id=0, timestamp=trees.EPOCH + 1000 + 10 * n, total_allocated=n) for n in range(5)]
    trees.put(tree / "mindstudio_profiler_output" / "memory_record_1.csv", header, lines)
    found = read_profile(tree)
    assert found.memory_peak_bytes == 4 * 1024 and [round(moment) for moment, _ in found.memory] == [0, 10, 20, 30, 40]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1"])
def test_a_file_that_a_spreadsheet_saved(tmp_path, encoding):
    lines = [line.replace("conv", "caf\u00e9") for line in trees.tasks_of(trees.NEW)]
    trees.put(tmp_path / "op_summary_1.csv", trees.NEW, lines, encoding)
    assert read_profile(tmp_path).tasks[0].name.startswith("caf")


def test_what_is_measured_fits_the_schema(tmp_path):
    for found in (read_profile(trees.new_tree(tmp_path)), read_profile(trees.old_tree(tmp_path))):
        SCHEMA.validate(json.loads("".join(prediction.pieces(found))))


def test_raw_records_alone_are_told_from_nothing(tmp_path):
    raw = tmp_path / "PROF_1" / "device_0" / "data"
    raw.mkdir(parents=True)
    (raw / "hwts.data.0.slice_0").write_bytes(b"\0" * 64)
    with pytest.raises(NoProfile, match="holds raw records only: run `msprof --export=on"):
        read_profile(tmp_path / "PROF_1")
    (raw / "hwts.data.0.slice_0").unlink()
    with pytest.raises(NoProfile, match="holds no profile: no op_summary"):
        read_profile(tmp_path / "PROF_1")
    with pytest.raises(NoProfile, match="cannot be read as a folder"):
        read_profile(tmp_path / "absent")


def test_links_and_pipes_are_not_followed(tmp_path):
    tree = trees.new_tree(tmp_path / "outside")
    inside = tmp_path / "PROF_2"
    inside.mkdir()
    (inside / "mindstudio_profiler_output").symlink_to(tree / "mindstudio_profiler_output")
    (inside / "op_summary_1.csv").symlink_to(tree / "mindstudio_profiler_output" / "op_summary_20240101120000.csv")
    os.mkfifo(inside / "op_summary_2.csv")
    with pytest.raises(NoProfile, match="holds no profile"):
        read_profile(inside)


def test_limits_are_said(tmp_path, monkeypatch):
    tree = trees.new_tree(tmp_path)
    monkeypatch.setattr("tf2npu.profiles.csv_reader.MOST_ROWS", 5)
    with pytest.raises(NoProfile, match=r"op_summary_\d+.csv: has more than 5 rows: profile fewer steps"):
        read_profile(tree)
    monkeypatch.setattr("tf2npu.profiles.tree._MOST_ENTRIES", 1)
    with pytest.raises(NoProfile, match="holds more than 1 files"):
        read_profile(tree)
    huge = tmp_path / "PROF_3" / "op_summary_1.csv"
    huge.parent.mkdir()
    with huge.open("wb") as stream:
        stream.truncate(1 << 40)
    with pytest.raises(NoProfile, match=r"op_summary_1.csv: cannot be read: it is larger than 512 MB"):
        read_profile(huge.parent)


def test_a_cell_without_an_end_is_refused_with_its_line(tmp_path):
    trees.put(tmp_path / "op_summary_1.csv", trees.NEW, ['0,1,"' + "x" * 100_000])
    with pytest.raises(NoProfile, match=r"op_summary_1.csv:\d+: is no CSV: "):
        read_profile(tmp_path)


def test_a_file_without_times_is_refused(tmp_path):
    trees.put(tmp_path / "op_summary_1.csv", "Op Name,OP Type", ["a,b"])
    with pytest.raises(NoProfile, match="holds no task with a time: was task_time switched off"):
        read_profile(tmp_path)


def test_a_damaged_tree_is_read_or_refused(tmp_path):
    tree, chance = trees.new_tree(tmp_path), random.Random(1)
    for path in sorted(tree.rglob("*.csv")):
        whole = path.read_bytes()
        for _ in range(60):
            at, until = sorted(chance.randrange(len(whole)) for _ in range(2))
            path.write_bytes(whole[:at] + bytes(chance.randrange(256) for _ in range(3)) + whole[until:])
            try:
                SCHEMA.validate(json.loads("".join(prediction.pieces(read_profile(tree)))))
            except NoProfile as error:
                assert "\n" not in str(error) and len(str(error)) < 500
        path.write_bytes(whole)


@given(st.binary(max_size=300))
def test_any_bytes_are_rows_or_refused(data):
    try:
        for found in rows(data, "x.csv"):
            found.amount(*found.cells)
            found.text(*found.cells)
    except NoProfile as error:
        assert str(error).startswith("x.csv:")


@given(st.text(max_size=40))
def test_any_cell_is_a_list_of_shapes(cell):
    assert all(extent >= -1 for shape in _shapes(cell) for extent in shape)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("Task Start Time(us)", "taskstarttime"), ("Task Start Time", "taskstarttime"), (" aic_mac_ratio ", "aicmacratio"),
     ("Block Dim", "blockdim"), ("cube_utilization(%)", "cubeutilization")],
)  # fmt: skip
def test_columns_are_known_by_name(name, expected):
    assert plain(name) == expected


def test_a_large_profile_is_read_in_time_that_grows_with_it(tmp_path):
    trees.put(tmp_path / "op_summary_1.csv", trees.NEW, trees.tasks_of(trees.NEW, steps=20_000 if IS_WHOLE else 4_000))
    tree = opened(tmp_path)
    tree.folder.close()
    assert len(read_profile(tmp_path).tasks) == 3


def test_a_cube_task_whose_scalar_pipe_is_busiest_is_cube_time(tmp_path):
    cells = {
        "mac_ratio": 0.42,
        "vec_ratio": 0.05,
        "scalar_ratio": 0.47,
        "mte2_ratio": 0.3,
        "total_cycles": 95000,
        "op_type": "Conv2D",
    }
    trees.put(tmp_path / "op_summary_1.csv", trees.NEW, trees.tasks_of(trees.NEW, task_type="AI_CORE", **cells))
    shares = read_profile(tmp_path).shares
    assert shares.vector == 0 and shares.cube > 0.6


@pytest.mark.parametrize("names", [("Start Time(us)", "Task Duration(us)"), ("Start Time(us)", "Duration(us)")])
def test_other_names_of_the_columns_of_time(tmp_path, names):
    trees.put(
        tmp_path / "op_summary_1.csv", f"Op Name,OP Type,Task Type,{','.join(names)}", ["a/MatMul,MatMulV2,AI_CORE,7.5,100"]
    )
    task = read_profile(tmp_path).tasks[0]
    assert (task.name, task.engine, task.duration_us) == ("a/MatMul", "cube", 100)


def test_the_column_that_is_missing_is_named(tmp_path):
    trees.put(tmp_path / "op_summary_1.csv", "Op Name,OP Type,Begin(us),Task Duration(us)", ["a,b,1,2"])
    with pytest.raises(NoProfile, match=r"no task with a time: .* It has no column Task Start Time\.$"):
        read_profile(tmp_path)


def test_the_model_whose_tasks_take_most_time_is_shown(tmp_path):
    """The step of an evaluation counts from the evaluation before, so that it is longer than all steps of training between."""
    lines = [
        trees.row(trees.NEW, op_name=f"m{model}", task_type="AI_CORE", model_id=model, task_start_time=at, task_duration=us)
        for model, at, us in ((1, 0, 80), (1, 100, 80), (2, 190, 5), (1, 200, 80), (1, 300, 80), (2, 390, 5))
    ]
    trees.put(tmp_path / "op_summary_1.csv", trees.NEW, lines)
    steps = ((1, 100, 100), (1, 180, 80), (2, 195, 195), (1, 280, 100), (1, 380, 100), (2, 395, 200))
    trace = [trees.row(trees.STEP_TRACE, model_id=model, iteration_end=end, iteration_time=us) for model, end, us in steps]
    trees.put(tmp_path / "step_trace_1.csv", trees.STEP_TRACE, trace)
    found = read_profile(tmp_path)
    assert found.step_ms <= 0.1 and [task.name for task in found.tasks] == ["m1"]


def test_a_graph_that_runs_between_two_steps_is_no_part_of_them(tmp_path):
    """Each step of 100 us is preceded by 15 us of another graph, from which a hook reads the number of the step."""
    lines = [
        trees.row(trees.NEW, op_name=name, task_type="AI_CORE", model_id=model, task_start_time=200 * n + at, task_duration=us)
        for n in range(4) for model, name, at, us in ((2, "hook", 5, 10), (1, "train", 25, 90))
    ]  # fmt: skip
    trees.put(tmp_path / "op_summary_1.csv", trees.NEW, lines)
    trace = [trees.row(trees.STEP_TRACE, model_id=1, iteration_end=200 * n + 115, iteration_time=115) for n in range(4)]
    trees.put(tmp_path / "step_trace_1.csv", trees.STEP_TRACE, trace)
    found = read_profile(tmp_path)
    assert found.step_ms == pytest.approx(0.1) and [task.name for task in found.tasks] == ["train"]
    assert found.shares.host == pytest.approx(0.1)
    assert any(note.startswith("Other graphs run between the steps: they took 15 us") for note in found.notes)


def test_a_graph_without_tasks_that_takes_the_batch_is_no_part_of_a_step(tmp_path):
    lines = [
        trees.row(trees.NEW, op_name="train", task_type="AI_CORE", model_id=1, task_start_time=200 * n + 25, task_duration=90)
        for n in range(4)
    ]
    trees.put(tmp_path / "op_summary_1.csv", trees.NEW, lines)
    trace = [
        trees.row(trees.STEP_TRACE, model_id=model, iteration_end=200 * n + end, iteration_time=us)
        for n in range(4) for model, end, us in ((1, 115, 115), (2, 15, 100))
    ]  # fmt: skip
    trees.put(tmp_path / "step_trace_1.csv", trees.STEP_TRACE, trace)
    assert read_profile(tmp_path).step_ms == pytest.approx(0.1)


def test_the_wait_for_data_is_apart_from_that_for_a_collective(tmp_path):
    """Of each step of 200 us the first 50 are before its first operator, and the last 30 are a collective."""
    parts = [("conv", "Conv2D", "AI_CORE", 50, 120), ("reduce", "HcomAllReduce", "HCCL", 170, 30)]
    lines = [
        trees.row(trees.NEW, op_name=name, op_type=kind, task_type=engine, task_start_time=200 * step + start, task_duration=us)
        for step in range(3) for name, kind, engine, start, us in parts
    ]  # fmt: skip
    trees.put(tmp_path / "op_summary_1.csv", trees.NEW, lines)
    trace = [
        trees.row(trees.STEP_TRACE, fp_start=200 * n + 50, iteration_end=200 * (n + 1), iteration_time=200, model_id=1,
                  data_aug_bound=50 if n else "N/A")
        for n in range(3)
    ]  # fmt: skip
    trees.put(tmp_path / "step_trace_1.csv", trees.STEP_TRACE, trace)
    shares = read_profile(tmp_path).shares
    assert (shares.cube, shares.host, shares.waiting) == pytest.approx((0.6, 0.25, 0.15))


def test_a_folder_with_a_database_alone_says_how_to_export_tables(tmp_path):
    (tmp_path / "msprof_20240101120000.db").write_bytes(b"SQLite format 3\0")
    with pytest.raises(NoProfile, match=r"holds msprof_20240101120000.db alone.*--type=text"):
        read_profile(tmp_path)


def test_a_number_that_no_float_holds_is_passed_over(tmp_path):
    header = "Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)"
    trees.put(tmp_path / "op_summary_1.csv", header, ["a,T,AI_CORE,1e999999999,5", "b,T,AI_CORE,5,5", "c,T,AI_CORE,6,1e400"])
    assert [task.name for task in read_profile(tmp_path).tasks] == ["b"]


def test_more_devices_than_there_can_be_are_refused(tmp_path):
    header = "Device_id,Op Name,Task Type,Task Start Time(us),Task Duration(us)"
    trees.put(tmp_path / "op_summary_1.csv", header, [f"{n},o,AI_CORE,{n},5" for n in range(2000)])
    with pytest.raises(NoProfile, match="name 2000 devices, more than the 64"):
        read_profile(tmp_path)


def test_the_work_grows_with_tasks_that_overlap_and_with_steps_without_tasks(tmp_path):
    """Lines of Python that run, which are the same on a slow machine: twice the rows are at most a little more than twice."""
    counts = []
    for n in (500, 1000, 2000):
        folder = tmp_path / str(n)
        lines = [
            trees.row(trees.NEW, op_name=f"o{k}", task_type="AI_CORE", task_start_time=k, task_duration=10**9) for k in range(n)
        ]
        trees.put(folder / "op_summary_1.csv", trees.NEW, lines)
        trace = [trees.row(trees.STEP_TRACE, iteration_end=-k - 2, iteration_time=1, model_id=1) for k in range(n)]
        trees.put(folder / "step_trace_1.csv", trees.STEP_TRACE, trace)
        counts.append(lines_run(lambda folder=folder: read_profile(folder)))
    assert counts[2] - counts[1] < 2.2 * (counts[1] - counts[0])


def lines_run(action):
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
    return count
