"""PROF_* trees of several releases become the document of one step; whatever else stands in a tree ends in one line."""

import json
import os
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.profiles import trees
from tf2npu.prediction import document
from tf2npu.profiles.reader import read_profile
from tf2npu.profiles.table import NoProfile, plain, rows
from tf2npu.profiles.tasks import _shapes
from tf2npu.profiles.tree import opened

SCHEMA = Draft202012Validator(json.loads(document.SCHEMA_FILE.read_text(encoding="utf-8")))


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


def test_the_time_of_a_step_is_parted(tmp_path):
    shares = read_profile(trees.new_tree(tmp_path)).shares
    assert shares.cube == pytest.approx(200 / 452)
    assert shares.memory == pytest.approx(50 / 452)  # the Relu waits for mte2
    assert shares.ai_cpu == pytest.approx(100 / 452)
    assert shares.waiting == pytest.approx(102 / 452)
    assert shares.launch is None and shares.host is None  # a profile does not say


def test_tasks_of_two_streams_share_their_time(tmp_path):
    tree = trees.new_tree(tmp_path)
    lines = trees.tasks_of(trees.NEW, device_id=0)
    of_other = {"op_name": "copy", "task_id": 9, "task_type": "AI_CPU"}
    other = trees.tasks_of(trees.NEW, device_id=0, stream_id=6, **of_other)
    trees.put(tree / "mindstudio_profiler_output" / "op_summary_20240101120000.csv", trees.NEW, lines + other)
    shares = read_profile(tree).shares
    assert shares.cube == pytest.approx(100 / 452) and sum(filter(None, vars_of(shares))) == pytest.approx(1)


def vars_of(shares):
    return [getattr(shares, name) for name in document.SHARES]


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
        SCHEMA.validate(json.loads("".join(document.pieces(found))))


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
    monkeypatch.setattr("tf2npu.profiles.table.MOST_ROWS", 5)
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
                SCHEMA.validate(json.loads("".join(document.pieces(read_profile(tree)))))
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
    trees.put(tmp_path / "op_summary_1.csv", trees.NEW, trees.tasks_of(trees.NEW, steps=20_000))
    tree = opened(tmp_path)
    tree.folder.close()
    assert len(read_profile(tmp_path).tasks) == 3
