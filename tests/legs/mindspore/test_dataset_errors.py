"""Bad input of datasets: each error names the thing, the place and the way out."""

from __future__ import annotations

import mindspore
import mindspore.dataset as ds
import mindspore.dataset.transforms.c_transforms as transforms
import mindspore.dataset.vision.c_transforms as vision
import numpy as np
import pytest
from mindspore.dataset import text
from mindspore.dataset.callback import DSCallback

from tests.legs.mindspore.dataset_cases import write_cifar10, write_mnist

IMAGE = np.zeros((6, 8, 3), np.uint8)


def rows(**more):
    return ds.NumpySlicesDataset({"a": np.arange(6), "b": np.arange(6.0)}, shuffle=False, **more)


def read(dataset) -> list:
    return list(dataset.create_tuple_iterator(output_numpy=True))


def failing(_):
    raise KeyError("mine")


REFUSED = {
    "two consumers": (ValueError, "not a tree", lambda: (lambda d: (d.batch(2), read(d.repeat(2))))(rows())),
    "zipped with itself": (
        ValueError,
        "not a tree",
        lambda: (lambda d: ds.zip((d, d.rename(["a", "b"], ["c", "d"]))).output_types())(rows()),
    ),
    "another column": (RuntimeError, "no column 'c'; the columns here are 'a', 'b'", lambda: rows().map(failing, "c")),
    "a column twice": (ValueError, "twice", lambda: rows().project(["a", "a"])),
    "no operations": (ValueError, "empty", lambda: rows().map([], "a")),
    "a class": (TypeError, r"write HWC2CHW\(\)", lambda: rows().map(vision.HWC2CHW, "a")),
    "a function fails": (RuntimeError, "failing failed on row 0: KeyError: 'mine'", lambda: read(rows().map(failing, "a"))),
    "a function gives None": (RuntimeError, "None", lambda: read(rows().map(lambda a: None, "a"))),
    "too many results": (RuntimeError, "2 columns for the names", lambda: read(rows().map(lambda a: (a, a), "a"))),
    "two columns for one": (RuntimeError, "call map once for each", lambda: read(rows().map(transforms.Fill(1), ["a", "b"]))),
    "an operation's error": (RuntimeError, "Resize failed on row 0", lambda: read(rows().map(vision.Resize(3), "a"))),
    "batch of 0": (ValueError, "batch_size is 0", lambda: rows().batch(0)),
    "batch of text": (TypeError, "whole number", lambda: rows().batch("32")),
    "a buffer of 1": (ValueError, "buffer_size is 1", lambda: rows().shuffle(1)),
    "repeat 0": (ValueError, "count is 0", lambda: rows().repeat(0)),
    "unequal shapes": (
        RuntimeError,
        r"shapes \(1,\) and \(2,\)",
        lambda: read(ds.GeneratorDataset(lambda: ((np.zeros(n),) for n in (1, 2)), ["x"]).batch(2)),
    ),
    "too few names": (RuntimeError, "2 columns for the column_names", lambda: read(ds.GeneratorDataset([(1, 2)], ["x"]))),
    "no names": (ValueError, "column_names is missing", lambda: ds.GeneratorDataset([(1, 2)])),
    "no source": (TypeError, "is no source", lambda: ds.GeneratorDataset(3, ["x"])),
    "another type": (
        RuntimeError,
        "'x' is int64 and column_types say float32",
        lambda: read(ds.GeneratorDataset([(1,)], ["x"], [mindspore.float32])),
    ),
    "a sampler of a function": (ValueError, "__getitem__", lambda: ds.GeneratorDataset(lambda: [(1,)], ["x"], sampler=[0])),
    "a source that fails": (RuntimeError, r"__getitem__\(0\) failed", lambda: read(ds.GeneratorDataset({"len": 1}, ["x"]))),
    "a schema": (ValueError, "column_names and column_types", lambda: ds.GeneratorDataset([(1,)], ["x"], schema="x.json")),
    "no data": (ValueError, "at least one row", lambda: ds.NumpySlicesDataset([])),
    "unequal lengths": (ValueError, "one length", lambda: ds.NumpySlicesDataset(([1, 2], [1]))),
    "sampler and shuffle": (
        ValueError,
        "sampler itself",
        lambda: rows().__class__([1], shuffle=True, sampler=ds.RandomSampler()),
    ),
    "a shard without its number": (RuntimeError, "give both", lambda: ds.NumpySlicesDataset([1], num_shards=2)),
    "a shard too far": (ValueError, "not below num_shards", lambda: ds.NumpySlicesDataset([1], num_shards=2, shard_id=2)),
    "a row too far": (RuntimeError, "index 9", lambda: read(ds.NumpySlicesDataset([1], sampler=ds.SubsetRandomSampler([9])))),
    "nothing to sink": (
        RuntimeError,
        r"batch\(9, drop_remainder=True\) leaves no batch of 6 rows",
        lambda: rows().batch(9, True).types_shapes(),
    ),
    "nothing for ever": (RuntimeError, "filter leaves none of 6 rows", lambda: next(rows().filter(lambda a, b: False).endless())),
    "an iterator read twice": (
        RuntimeError,
        "give a function that makes one",
        lambda: list(ds.GeneratorDataset(iter([(1,), (2,)]), ["x"]).endless()),
    ),
    "a transform of texts": (AttributeError, "Python dictionary", lambda: text.Vocab()),
    "a callback": (AttributeError, "Model.train", lambda: DSCallback(1)),
    "unlike names": (RuntimeError, "rename", lambda: rows() + ds.NumpySlicesDataset([1])),
    "zip of one name": (RuntimeError, "rename", lambda: ds.zip((rows(), rows()))),
    "split": (RuntimeError, "make 5 rows", lambda: rows().split([2, 3])),
    "a map without columns": (ValueError, "input_columns", lambda: rows().batch(2, per_batch_map=lambda a, info: a)),
    "a seed": (ValueError, "from 0 to", lambda: ds.config.set_seed(-1)),
    "a crop too large": (RuntimeError, "padding", lambda: vision.RandomCrop(9)(IMAGE)),
    "channels": (
        RuntimeError,
        "HWC2CHW after Normalize",
        lambda: vision.Normalize([1.0] * 3, [1.0] * 3)(IMAGE.transpose(2, 0, 1)),
    ),
    "std of 0": (ValueError, "std of 0", lambda: vision.Normalize([1.0], [0.0])),
    "no interpolation": (TypeError, "Inter.BILINEAR", lambda: vision.Resize(3, 2)),
    "ANTIALIAS": (ValueError, "Inter.ANTIALIAS is not among", lambda: vision.Resize(3, vision.Inter.ANTIALIAS)),
    "a size": (TypeError, "height and width", lambda: vision.CenterCrop(2.5)),
    "an image decoded twice": (TypeError, "decoded already", lambda: vision.Decode()(IMAGE)),
    "no image": (RuntimeError, "JPEG, PNG or BMP", lambda: vision.Decode()(np.zeros(9, np.uint8))),
    "an image cut off": (RuntimeError, "cut off", lambda: vision.Decode()(np.frombuffer(b"\xff\xd8\xff\xe0\x00", np.uint8))),
    "a label too large": (RuntimeError, "num_classes 3", lambda: transforms.OneHot(3)(np.int32(3))),
    "a shape of other axes": (RuntimeError, "as many axes", lambda: transforms.PadEnd([3, 3])(np.arange(2))),
    "MindRecord": (AttributeError, "MindRecord", lambda: ds.MindDataset("x.mindrecord")),
    "TFRecord": (AttributeError, "GeneratorDataset", lambda: ds.TFRecordDataset("x.tfrecord")),
    "a transform that is not there": (AttributeError, "Python function", lambda: vision.RandomRotation(30)),
    "a method that is not there": (AttributeError, "sink", lambda: rows().device_que()),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused_in_a_line(name):
    kind, words, call = REFUSED[name]
    with pytest.raises(kind, match=words):
        call()


def test_files_that_are_not_there_or_cut_off(tmp_path):
    with pytest.raises(ValueError, match="does not exist"):
        ds.MnistDataset(str(tmp_path / "none"))
    for source in (ds.MnistDataset, ds.Cifar10Dataset, ds.Cifar100Dataset, ds.ImageFolderDataset):
        with pytest.raises(RuntimeError, match=str(tmp_path)):
            source(str(tmp_path))
    write_mnist(tmp_path)
    labels = tmp_path / "train-labels-idx1-ubyte"
    labels.write_bytes(labels.read_bytes()[:-1])
    with pytest.raises(RuntimeError, match=r"train-labels-idx1-ubyte: the head says .* cut off"):
        ds.MnistDataset(str(tmp_path))
    labels.write_bytes(np.array([0x801, 3], ">u4").tobytes() + bytes(3))
    with pytest.raises(RuntimeError, match="3 labels for 4 images"):
        ds.MnistDataset(str(tmp_path))
    labels.write_bytes(b"something else")
    with pytest.raises(RuntimeError, match="does not begin as an IDX file"):
        ds.MnistDataset(str(tmp_path), usage="train")
    with pytest.raises(ValueError, match="usage is 'val'"):
        ds.MnistDataset(str(tmp_path), usage="val")


def test_a_file_of_cifar_with_another_number_of_records(tmp_path):
    write_cifar10(tmp_path)
    test = tmp_path / "test_batch.bin"
    test.write_bytes(test.read_bytes()[: 3073 * 4])
    with pytest.raises(RuntimeError, match=r"test_batch.bin: the file has 12292 bytes; 10000 records of 3073"):
        ds.Cifar10Dataset(str(tmp_path), "test")
    assert ds.Cifar10Dataset(str(tmp_path), "train").get_dataset_size() == 20_000


def test_an_image_of_a_folder_that_cannot_be_read(tmp_path):
    (tmp_path / "cat").mkdir()
    (tmp_path / "cat" / "broken.jpg").write_bytes(b"no image at all")
    with pytest.raises(RuntimeError, match=r"broken.jpg: the bytes are no image"):
        read(ds.ImageFolderDataset(str(tmp_path), decode=True))
    with pytest.raises(RuntimeError, match="there is no such folder"):
        ds.ImageFolderDataset(str(tmp_path), class_indexing={"dog": 0})


def test_an_epoch_without_rows_is_said():
    with pytest.warns(RuntimeWarning, match="leaves no batch of 6 rows"):
        assert read(rows().batch(7, drop_remainder=True)) == []
    with pytest.warns(RuntimeWarning, match="shuffle=True does nothing"):
        ds.GeneratorDataset(lambda: [(1,)], ["x"], shuffle=True)
