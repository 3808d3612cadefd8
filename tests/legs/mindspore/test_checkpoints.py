"""Checkpoints: the bytes of MindSpore's format, what comes back from them, and files that are none."""

from __future__ import annotations

import os
import struct

import mindspore as ms
import numpy as np
import pytest
from mindspore import Parameter, Tensor, nn

from tests.legs.mindspore.small_training import Matrix

KINDS = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64")


class Several(nn.Cell):
    """Parameters of all types, of several shapes, one of them without axes."""

    def __init__(self, begin=0):
        super().__init__()
        for i, kind in enumerate(KINDS):
            values = (np.arange(6).reshape(2, 3) + begin + i).astype(kind)
            setattr(self, f"of_{kind}", Parameter(Tensor(values), name=f"of_{kind}"))
        self.number = Parameter(Tensor(2.5 + begin), name="number")
        self.inner = Matrix()


def varint(number):
    more, last = number >> 7, number & 127
    return bytes([last | 128]) + varint(more) if more else bytes([last])


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def entry(name, dims, kind, content):
    """An entry as protobuf's page on its encoding has it."""
    tensor = b"".join(varint(1 << 3) + varint(one) for one in dims) + field(2, kind) + field(3, content)
    return field(1, field(1, name) + field(2, tensor))


def test_the_bytes_of_a_file_are_those_of_the_format(tmp_path):
    data = [
        {"name": "w", "data": Tensor(np.array([[1, 2, 3]], np.float32))},
        {"name": "b", "data": Tensor(np.float32(4))},
        {"name": "u", "data": Tensor(np.array([5, 300], np.uint16))},
    ]
    ms.save_checkpoint(data, str(tmp_path / "a.ckpt"))
    assert (tmp_path / "a.ckpt").read_bytes() == (
        entry(b"w", (1, 3), b"Float32", struct.pack("<3f", 1, 2, 3))
        + entry(b"b", (0,), b"Float32", struct.pack("<f", 4))
        + entry(b"u", (2,), b"UInt16", struct.pack("<2H", 5, 300))
    )


def test_parameters_of_all_types_come_back(tmp_path):
    path = str(tmp_path / "all.ckpt")
    first, second = Several(), Several(begin=1)
    ms.save_checkpoint(first, path)
    assert ms.load_param_into_net(second, ms.load_checkpoint(path)) == []
    for one, other in zip(first.get_parameters(), second.get_parameters(), strict=True):
        assert (one.name, one.dtype, one.shape) == (other.name, other.dtype, other.shape)
        np.testing.assert_array_equal(one.asnumpy(), other.asnumpy())
    third = Several(begin=2)
    assert ms.load_checkpoint(path, third).keys() == third.parameters_dict().keys()
    np.testing.assert_array_equal(third.inner.weight.asnumpy(), first.inner.weight.asnumpy())


def test_a_parameter_of_several_entries_is_joined(tmp_path):
    path = tmp_path / "parts.ckpt"
    halves = [entry(b"w", (2, 2), b"Float32", struct.pack("<2f", *pair)) for pair in ((1, 2), (3, 4))]
    path.write_bytes(b"".join(halves))
    np.testing.assert_array_equal(ms.load_checkpoint(str(path))["w"].asnumpy(), [[1, 2], [3, 4]])


def test_names_of_r1_1_for_types_without_sign_are_read(tmp_path):
    path = tmp_path / "old.ckpt"
    path.write_bytes(entry(b"w", (2,), b"Uint8", b"\1\2"))
    assert ms.load_checkpoint(str(path))["w"].dtype is ms.uint8


def test_filter_prefix_leaves_names_out(tmp_path):
    path = str(tmp_path / "f.ckpt")
    names = ("moments.w", "moments2.w", "w", "learning_rate")
    ms.save_checkpoint([{"name": name, "data": Tensor(1.0)} for name in names], path)
    assert list(ms.load_checkpoint(path, filter_prefix="moments")) == ["moments2.w", "w", "learning_rate"]
    assert list(ms.load_checkpoint(path, filter_prefix=["moments", "learning_rate"])) == ["moments2.w", "w"]
    with pytest.raises(ValueError, match="filter_prefix"):
        ms.load_checkpoint(path, filter_prefix=names)
    with pytest.raises(ValueError, match="filter_prefix is empty"):
        ms.load_checkpoint(path, filter_prefix=[])


def test_names_with_one_more_prefix_are_loaded_unless_strict(capsys):
    given = {"backbone.weight": Parameter(Tensor(np.ones((4, 3), np.float32)), name="backbone.weight")}
    network = Matrix()
    assert ms.load_param_into_net(network, given, strict_load=True) == ["weight"]
    assert "1 parameters of the network are not in the checkpoint: weight" in capsys.readouterr().err
    assert network.weight.asnumpy()[0, 0] == np.float32(0.1)
    assert ms.load_param_into_net(network, given) == []
    assert network.weight.asnumpy()[0, 0] == 1


WHOLE = entry(b"weight", (4, 3), b"Float32", bytes(48))
HOSTILE = {
    "empty": (b"", "it is empty"),
    "cut off": (WHOLE[:-7], "cut off, or no checkpoint"),
    "another file": (b"PK\3\4 something else altogether", "cut off, or no checkpoint"),
    "a length beyond the file": (varint(1 << 3 | 2) + varint(1 << 60) + b"abc", "cut off, or no checkpoint"),
    "no parameter": (varint(9 << 3) + varint(1), "it holds no parameter"),
    "an unknown type": (entry(b"w", (1,), b"Float8", b"\0"), "'Float8'"),
    "fewer bytes than the shape": (entry(b"w", (4, 3), b"Float32", bytes(40)), "the shape (4, 3) of Float32, and 40 bytes"),
    "a huge shape": (entry(b"w", (1 << 62, 1 << 62), b"Float32", bytes(4)), "and 4 bytes"),
    "a negative extent": (entry(b"w", ((1 << 64) - 1, (1 << 64) - 1), b"Float32", bytes(4)), "the shape (-1, -1)"),
    "a name that is no text": (entry(b"\xff\xfe", (1,), b"Float32", bytes(4)), "is no text"),
    "a type that is no text": (entry(b"w", (1,), b"\xff\xfe", bytes(4)), "none of r1.1"),
    "too many axes": (entry(b"w", (1,) * 40, b"Float32", bytes(4)), "and 4 bytes"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_file_that_is_no_checkpoint_is_refused(case, tmp_path):
    content, words = HOSTILE[case]
    path = tmp_path / "bad.ckpt"
    path.write_bytes(content)
    with pytest.raises(ValueError) as raised:
        ms.load_checkpoint(str(path))
    assert words in str(raised.value) and str(path) in str(raised.value)


def test_files_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(ValueError, match=r"none\.ckpt.*cannot be read"):
        ms.load_checkpoint(str(tmp_path / "none.ckpt"))
    with pytest.raises(ValueError, match=r"ends with \.ckpt"):
        ms.load_checkpoint(str(tmp_path / "a.pb"))
    os.mkfifo(tmp_path / "pipe.ckpt")
    with pytest.raises(ValueError, match="cannot be read"):
        ms.load_checkpoint(str(tmp_path / "pipe.ckpt"))


def test_a_file_is_replaced_whole_and_no_link_is_followed(tmp_path):
    target, link = tmp_path / "target", tmp_path / "a.ckpt"
    target.write_text("mine")
    link.symlink_to(target)
    ms.save_checkpoint(Matrix(), str(link))
    assert target.read_text() == "mine" and not link.is_symlink()
    ms.save_checkpoint(Matrix(), str(link))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.ckpt", "target"]
    assert link.stat().st_mode & 0o777 == 0o400


BAD = {
    "another network": (
        lambda: ms.load_param_into_net(Matrix(), {"weight": Parameter(Tensor(np.ones((5, 3), np.float32)), name="weight")}),
        RuntimeError,
        r"shape \(4, 3\) in the network, and \(5, 3\)",
    ),
    "another type": (
        lambda: ms.load_param_into_net(Matrix(), {"weight": Parameter(Tensor(np.ones((4, 3), np.float16)), name="weight")}),
        RuntimeError,
        "Float32 in the network, and Float16",
    ),
    "tensors for parameters": (
        lambda: ms.load_param_into_net(Matrix(), {"weight": Tensor(np.ones((4, 3), np.float32))}),
        TypeError,
        "not a Parameter",
    ),
    "a Model": (lambda: ms.load_param_into_net(ms.Model(Matrix()), {}), TypeError, "of a Model take its network"),
    "no dict": (lambda: ms.load_param_into_net(Matrix(), []), TypeError, "the dict of load_checkpoint"),
    "saving a number": (lambda: ms.save_checkpoint(3, "a.ckpt"), TypeError, "a Cell or a list"),
    "export": (lambda: ms.export(Matrix(), file_name="a", file_format="MINDIR"), RuntimeError, "MINDIR is not simulated"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_does_not_fit_is_said(case):
    call, kind, words = BAD[case]
    with pytest.raises(kind, match=words):
        call()


def test_extents_of_one_behind_the_shape_are_no_difference():
    network = Matrix()
    given = Parameter(Tensor(np.full((4, 3, 1, 1), 2, np.float32)), name="weight")
    assert ms.load_param_into_net(network, {"weight": given}) == []
    assert network.weight.asnumpy().max() == 2
