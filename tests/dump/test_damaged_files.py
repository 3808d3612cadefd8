"""One damaged or hostile file among dump files: it is named, and the others are read."""

import struct

import numpy as np
import pytest

from npu_formats.vendor import dump_file
from npu_formats.vendor.dump_messages import DumpData
from tf2npu.cli import main

GOOD = "Add.good.1.2.1700000000000000"


def put(folder, name, dims, size):
    header = DumpData(version="2.0", dump_time=1, op_name="op")
    entry = header.output.add(data_type=1, format=2, size=size)
    entry.shape.dim.extend(dims)
    data = header.SerializeToString()
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(struct.pack("<Q", len(data)) + data + bytes(size))
    return folder / name


def run(*words):
    with pytest.raises(SystemExit) as end:
        main([*map(str, words)])
    return end.value.code


SHAPES = [[1] * 100, [2**32, 2**32, 0], [2**62, 4, 0], [0, *[2**40] * 3]]


@pytest.mark.parametrize("dims", SHAPES)
def test_a_shape_that_no_array_has_ends_neither_dump_npy_nor_show(dims, tmp_path, capsys):
    bad = put(tmp_path / "d", "Add.bad.1.2.1700000000000000", dims, 4 if all(dims) else 0)
    put(tmp_path / "d", GOOD, [4], 16)
    assert run("dump", "npy", tmp_path / "d", tmp_path / "out") == 3
    assert "Add.bad" in capsys.readouterr().err
    assert np.load(tmp_path / "out" / f"{GOOD}.output.0.npy").shape == (4,)
    assert run("dump", "show", bad) == 3


@pytest.mark.parametrize("dims", SHAPES)
def test_a_shape_that_no_array_has_ends_no_comparison(dims, tmp_path, capsys):
    for side in ("d", "r"):
        put(tmp_path / side, GOOD, [4], 16)
        put(tmp_path / side, "Add.bad.1.2.1700000000000000", dims, 4 if all(dims) else 0)
    assert run("compare", tmp_path / "d", tmp_path / "r", "--out", tmp_path / "o") == 3
    out = "".join(capsys.readouterr())
    assert "Add.bad" in out and "1 tensor: 1 agree" in out


@pytest.mark.parametrize("name", ["Add.x.1.2.1700000000000000/../y", "../Add.x.1.2.1700000000000000", "Add.x.1.2.17\x1b[31m"])
def test_a_name_of_a_mapping_that_no_file_can_have_is_left_out(name, tmp_path, capsys):
    put(tmp_path / "d", "12345", [4], 16)
    put(tmp_path / "d", GOOD, [4], 16)
    (tmp_path / "d" / "mapping.csv").write_text(f"12345,{name}\n")
    assert run("dump", "npy", tmp_path / "d", tmp_path / "out") == 0
    error = capsys.readouterr().err
    assert "12345 is left out" in error and "\x1b" not in error
    assert [path.name for path in (tmp_path / "out").iterdir()] == [f"{GOOD}.output.0.npy"]


def test_no_file_is_named_with_what_commands_a_terminal(tmp_path):
    path = put(tmp_path / "d", f"{GOOD}\x1b[31m", [4], 16)
    run("dump", "npy", path, tmp_path / "out")
    run("dump", "npy", tmp_path / "d", tmp_path / "more")
    assert [path.name for path in (tmp_path / "out").iterdir()] == [f"{GOOD}_[31m.output.0.npy"]
    assert not (tmp_path / "more").exists() or not any((tmp_path / "more").iterdir())


def test_two_files_of_one_name_do_not_overwrite_each_other(tmp_path, capsys):
    for number, dims in (("1", [4]), ("2", [2, 2])):
        put(tmp_path / "d", number, dims, 16)
    (tmp_path / "d" / "mapping.csv").write_text(f"1,{GOOD}\n2,{GOOD}\n")
    assert run("dump", "npy", tmp_path / "d", tmp_path / "out") == 3
    assert "another file has its name" in capsys.readouterr().err
    assert np.load(tmp_path / "out" / f"{GOOD}.output.0.npy").shape == (4,)


def test_a_damaged_line_of_a_mapping_ends_nothing(tmp_path, capsys):
    put(tmp_path / "d", GOOD, [4], 16)
    (tmp_path / "d" / "mapping.csv").write_text("1," + "x" * 200_000 + "\n")
    assert run("dump", "npy", tmp_path / "d", tmp_path / "out") == 0
    assert "mapping.csv is left out" in capsys.readouterr().err


def test_a_sparse_file_larger_than_the_memory_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(dump_file, "most_tensor_bytes", lambda: 1 << 20)
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000,), }\n"
    path = tmp_path / "a.0.1.npy"
    with path.open("wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        file.truncate(4_000_010 + len(header))
    assert run("dump", "show", path) == 3
    assert f"{path}: a tensor of 3 MB is more than this machine has memory for" in capsys.readouterr().err


def test_a_header_of_empty_tensors_is_refused_before_they_are_made(tmp_path, capsys):
    data = b"\x1a\x00" * 150_000
    path = tmp_path / GOOD
    path.write_bytes(struct.pack("<Q", len(data)) + data)
    assert run("dump", "show", path) == 3
    assert "no operator has more than" in capsys.readouterr().err
