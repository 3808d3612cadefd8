"""Overflows: which operators are found, their table in both layouts, and that the first of a step comes first."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_formats.vendor.dump_file import DumpHeader, read_header
from tests.dump.networks import run, train


def _look(folder: Path, **options) -> dict[str, object]:
    return {"enable_dump_debug": True, "dump_path": folder, "fusion": "off", **options}


def _large() -> tf.Tensor:
    """60000 + 60000 in fp16, and what follows of it."""
    x = tf.placeholder(tf.float16, (2,), "x")
    return tf.subtract(tf.multiply(tf.add(x, x, name="sum"), 0.5, name="half"), x, name="rest")


def _files(folder: Path) -> tuple[list[tuple[Path, DumpHeader]], list[tuple[Path, DumpHeader]]]:
    """Dump files and the tables that go with them, each in the order of time."""
    read = [(path, read_header(path)) for path in folder.rglob("*") if path.is_file()]
    read.sort(key=lambda each: each[1].time_us)
    tables = [each for each in read if each[0].name.startswith("Opdebug.Node_OpDebug.")]
    return [each for each in read if each not in tables], tables


def test_the_operator_that_overflows_has_its_file_and_a_table_of_the_same_task(tmp_path):
    run(_large, {"x:0": [6e4, 1.0]}, **_look(tmp_path))
    dumped, tables = _files(tmp_path)
    assert [header.op_name for _, header in dumped] == ["sum", "half", "rest"]
    np.testing.assert_array_equal(dumped[0][1].outputs[0].read(), np.float16([np.inf, 2]))
    np.testing.assert_array_equal(dumped[0][1].inputs[0].read(), np.float16([6e4, 1]))
    for (path, _), (table, header) in zip(dumped, tables, strict=True):
        assert path.name.split(".")[-3:-1] == table.name.split(".")[-3:-1]
        assert (header.outputs[0].shape, header.outputs[0].dtype) == ((2048,), np.uint8)


def test_the_first_family_of_chips_has_the_old_layout(tmp_path):
    run(_large, {"x:0": [6e4, 1.0]}, **_look(tmp_path, soc="Ascend910A"))
    dumped, tables = _files(tmp_path)
    table = tables[0][1].outputs[0].read().tobytes()
    model_id, stream_id, task_id, task_type = struct.unpack_from("<4Q", table, 256)
    name = dumped[0][0]
    assert (model_id, task_id, stream_id, task_type) == (int(name.parts[-3]), *map(int, name.name.split(".")[2:4]), 0)
    assert struct.unpack_from("<3Q", table, 1024)[2] != 0
    assert table[:256] == bytes(256) and struct.unpack_from("<Q", table, 512) == struct.unpack_from("<Q", table, 768) == (0,)


def test_later_chips_have_the_new_layout(tmp_path):
    run(_large, {"x:0": [6e4, 1.0]}, **_look(tmp_path, soc="Ascend910B2"))
    dumped, tables = _files(tmp_path)
    table = tables[0][1].outputs[0].read().tobytes()
    assert struct.unpack_from("<6I", table, 0) == (0x5A5A5A5A, 0, 1, 1, 0, 88)
    numbers = struct.unpack_from("<11Q", table, 24)
    name = dumped[0][0]
    assert numbers[:4] == (int(name.parts[-3]), int(name.name.split(".")[3]), int(name.name.split(".")[2]), 0)
    assert numbers[4:6] == (65535, 65535) and numbers[10] != 0


def test_what_saturates_is_found_where_it_is_cut(tmp_path):
    run(_large, {"x:0": [6e4, 1.0]}, **_look(tmp_path, overflow="saturation"))
    dumped, _ = _files(tmp_path)
    assert [header.op_name for _, header in dumped] == ["sum"]


def test_a_result_at_the_end_of_the_range_counts_and_one_below_does_not(tmp_path):
    run(_large, {"x:0": [32752.0, 1.0]}, **_look(tmp_path))
    assert [header.op_name for _, header in _files(tmp_path)[0]] == ["sum"]
    below = tmp_path / "below"
    below.mkdir()
    run(_large, {"x:0": [32736.0, 1.0]}, **_look(below))
    assert _files(below) == ([], [])


def test_large_numbers_of_32_bits_are_none_and_infinite_ones_are(tmp_path):
    def make():
        x = tf.placeholder(tf.float32, (2,), "x")
        return tf.square(tf.square(x, name="large"), name="infinite")

    run(make, {"x:0": [1e15, 1.0]}, **_look(tmp_path))
    assert [header.op_name for _, header in _files(tmp_path)[0]] == ["infinite"]


def test_a_nan_is_found_where_no_input_has_one(tmp_path):
    def make():
        return tf.negative(tf.sqrt(tf.placeholder(tf.float32, (2,), "x"), name="root"), name="after")

    run(make, {"x:0": [-1.0, 4.0]}, **_look(tmp_path))
    ((_path, header),) = _files(tmp_path)[0]
    assert header.op_name == "root"
    np.testing.assert_array_equal(header.inputs[0].read(), np.float32([-1, 4]))


def test_inputs_of_an_update_are_those_before_it(tmp_path):
    def make():
        x = tf.get_variable("x", initializer=np.float32([1e38, 2]))
        return tf.assign_add(x, x * 3.0, name="more").op

    run(make, **_look(tmp_path))
    found = {header.op_name: header for _, header in _files(tmp_path)[0]}
    np.testing.assert_array_equal(found["more"].inputs[0].read(), np.float32([1e38, 2]))
    assert np.isposinf(found["more"].outputs[0].read()[0])


def test_what_is_mixed_to_16_bits_is_looked_at_as_the_device_has_it(tmp_path):
    def make():
        x = tf.placeholder(tf.float32, (2, 2), "x")
        return tf.matmul(x, x, name="product")

    run(make, {"x:0": np.full((2, 2), 1000.0)}, **_look(tmp_path, precision_mode="force_fp16"))
    assert "product" in [header.op_name for _, header in _files(tmp_path)[0]]


def test_at_most_a_hundred_have_files_and_the_rest_is_counted(tmp_path, capsys):
    def make():
        x = tf.placeholder(tf.float32, (2,), "x")
        return [tf.log(x, name=f"log{number}") for number in range(130)]

    run(make, {"x:0": [0.0, 1.0]}, **_look(tmp_path))
    dumped, tables = _files(tmp_path)
    assert len(dumped) == len(tables) == 100
    assert "Overflow: 130 operators of step 0 of ge_default_" in (said := capsys.readouterr().err), said
    assert "; 30 more have no files" in said


@pytest.mark.parametrize(
    ("mode", "found"), [("aicore_overflow", ["large"]), ("atomic_overflow", ["total"]), ("all", ["large", "total"])]
)
def test_the_mode_chooses_between_cores_and_atomic_additions(tmp_path, mode, found):
    def make():
        large = tf.exp(tf.placeholder(tf.float32, (2,), "x"), name="large")
        return tf.unsorted_segment_sum(large, [0, 0], 1, name="total")

    run(make, {"x:0": [1000.0, 1.0]}, **_look(tmp_path, dump_debug_mode=mode))
    dumped, tables = _files(tmp_path)
    assert [header.op_name for _, header in dumped] == found
    if "total" in found:
        assert struct.unpack_from("<Q", tables[-1][1].outputs[0].read().tobytes(), 768)[0] != 0


def test_looking_changes_no_bit_and_finds_nothing_in_a_sound_training(tmp_path):
    assert train(3, fusion="off") == train(3, **_look(tmp_path))
    assert _files(tmp_path) == ([], [])
