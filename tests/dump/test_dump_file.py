"""Dump files: written ones against bytes laid out by hand, and read back."""

from __future__ import annotations

import struct
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from npu_formats.vendor.dump_file import ND, NHWC, NUMBER_OF_TYPE, DumpFormatError, header_bytes, pieces, read_header


def test_a_header_has_the_documented_field_numbers():
    one = np.array([[1.0, 2.0]], np.float16)
    shape = b"\x0a\x02\x01\x02"  # field 1, packed, two bytes: 1 and 2
    tensor = b"\x08\x02\x10\x01\x1a\x04" + shape  # data_type 2, format 1, shape
    output = tensor + b"\x30\x04" + b"\x3a\x04" + shape  # size 4 (field 6), original shape (field 7)
    taken = tensor + b"\x28\x04" + b"\x32\x04" + shape  # size 4 (field 5), original shape (field 6)
    wanted = b"\x0a\x032.0" + b"\x10\x07"  # version, dump_time
    wanted += b"\x1a" + bytes([len(output)]) + output + b"\x22" + bytes([len(taken)]) + taken + b"\x32\x03a/b"
    assert header_bytes("a/b", 7, [(one, NHWC)], [(one, NHWC)]) == struct.pack("<Q", len(wanted)) + wanted


ARRAYS = st.sampled_from(sorted(set(NUMBER_OF_TYPE) - {"bfloat16"})).flatmap(
    lambda name: arrays.arrays(name, arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
)


@given(st.lists(ARRAYS, max_size=4), st.lists(ARRAYS, max_size=3), st.text(max_size=40))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, inputs, outputs, name):
    path = tmp_path_factory.mktemp("dump") / "file"
    path.write_bytes(_file(name, inputs, outputs))
    header = read_header(path)
    assert header.op_name == name
    for tensors, written in ((header.inputs, inputs), (header.outputs, outputs)):
        assert [tensor.read().tobytes() for tensor in tensors] == [array.tobytes() for array in written]
        assert [(t.dtype, t.shape, t.original_shape) for t in tensors] == [(a.dtype, a.shape, a.shape) for a in written]


def test_bfloat16_has_two_bytes(tmp_path: Path):
    (tmp_path / "file").write_bytes(_file("x", [], [np.array([1.5, -3.0], ml_dtypes.bfloat16)]))
    (tensor,) = read_header(tmp_path / "file").outputs
    assert (tensor.size_bytes, tensor.read().tolist()) == (4, [1.5, -3.0])


@given(st.data())
def test_a_damaged_file_is_told_or_read(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject):
    whole = _file("conv/Relu", [np.arange(12.0, dtype=np.float32).reshape(3, 4)], [np.zeros((2, 2), np.int64)])
    place = data.draw(st.integers(0, len(whole) - 1))
    damaged = data.draw(
        st.sampled_from([whole[:place], whole[:place] + bytes([whole[place] ^ (1 << place % 8)]) + whole[place + 1 :]])
    )
    path = tmp_path_factory.mktemp("dump") / "file"
    path.write_bytes(damaged)
    try:
        for tensor in (*(header := read_header(path)).inputs, *header.outputs):
            tensor.read()
    except DumpFormatError as error:
        assert str(path) in str(error)


def _file(name: str, inputs: list[np.ndarray], outputs: list[np.ndarray]) -> bytes:
    start = header_bytes(name, 1, [(array, ND) for array in inputs], [(array, ND) for array in outputs])
    return start + b"".join(pieces([*inputs, *outputs]))
