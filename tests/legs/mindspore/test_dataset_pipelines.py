"""Pipelines: orders, epochs, sizes and what is drawn."""

from __future__ import annotations

import mindspore
import mindspore.dataset as ds
import mindspore.dataset.engine as de
import mindspore.dataset.transforms.c_transforms as transforms
import mindspore.dataset.transforms.py_transforms as python_transforms
import mindspore.dataset.vision.c_transforms as vision
import mindspore.dataset.vision.py_transforms as python_vision
import numpy as np
import pytest
from mindspore import Tensor
from mindspore.common import seed as common_seed
from mindspore.dataset import text
from mindspore.dataset.core import config
from mindspore.dataset.engine.datasets import Dataset
from mindspore.dataset.vision.utils import Inter

TEN = list(range(10))


@pytest.fixture(autouse=True)
def no_seed():
    """No seed of an earlier test."""
    config._settings["seed"] = None
    common_seed._seed[0] = None
    yield
    config._settings["seed"] = None
    common_seed._seed[0] = None


class Squares:
    """A source that can be asked for any row."""

    def __len__(self):
        return 10

    def __getitem__(self, number):
        return np.float32(number**2), number


def column(dataset, name=None) -> list:
    """One column of one epoch."""
    rows = dataset.create_dict_iterator(num_epochs=1, output_numpy=True)
    return [row[name or dataset.get_col_names()[0]].tolist() for row in rows]


def slices(**more):
    return ds.NumpySlicesDataset(TEN, ["n"], **more)


def test_the_names_of_the_guides_are_where_they_are_in_r1_1():
    assert de.Cifar10Dataset is ds.Cifar10Dataset and de.config is ds.config
    assert vision.Inter is Inter is mindspore.dataset.vision.Inter
    assert isinstance(slices(), Dataset)


def test_sources_are_shuffled_unless_told_otherwise_and_anew_in_each_epoch():
    rows = slices().create_tuple_iterator(output_numpy=True)
    epochs = [[int(row[0]) for row in rows] for _ in range(3)]
    assert [sorted(epoch) for epoch in epochs] == [TEN] * 3
    assert len({tuple(epoch) for epoch in epochs}) == 3
    assert column(slices(shuffle=False)) == TEN
    assert column(ds.GeneratorDataset(Squares(), ["square", "n"], shuffle=False), "n") == TEN
    assert column(ds.GeneratorDataset(Squares(), ["square", "n"]), "n") != TEN


@pytest.mark.parametrize("set_seed", [ds.config.set_seed, mindspore.set_seed])
def test_a_seed_gives_the_same_numbers_in_each_iterator(set_seed):
    set_seed(5)
    pipeline = slices().map(lambda n: n).shuffle(4).repeat(2)
    first = column(pipeline)
    assert first == column(pipeline) != column(slices().shuffle(4).repeat(2).map(lambda n: n).repeat(1))[:5]
    assert first[:10] != first[10:]
    set_seed(6)
    assert column(pipeline) != first


def test_transforms_of_one_kind_draw_different_numbers_with_a_seed():
    ds.config.set_seed(1)
    image = np.arange(4, dtype=np.uint8).reshape(2, 2)
    flips = [vision.RandomHorizontalFlip(), vision.RandomVerticalFlip()]
    rows = ds.NumpySlicesDataset([image] * 64, ["image"]).map(flips, "image")
    assert len({str(row) for row in column(rows)}) == 4


def test_an_iterator_gives_an_epoch_a_for_and_refuses_more_than_num_epochs():
    rows = slices(shuffle=False).create_dict_iterator(num_epochs=2)
    assert [[int(row["n"].asnumpy()) for row in rows] for _ in range(2)] == [TEN] * 2
    with pytest.raises(RuntimeError, match="num_epochs=2"):
        list(rows)
    assert all(isinstance(row[0], Tensor) for row in slices().create_tuple_iterator())
    assert len(list(slices())) == 10


def test_rows_for_ever_go_through_the_epochs():
    rows = slices(shuffle=False).batch(4, drop_remainder=True).endless()
    assert [next(rows)[0].tolist() for _ in range(3)] == [[0, 1, 2, 3], [4, 5, 6, 7], [0, 1, 2, 3]]
    kinds, shapes = ds.GeneratorDataset(Squares(), ["square", "n"]).batch(4).types_shapes()
    assert (kinds, shapes) == ([np.float32, np.int64], [(4,), (4,)])


def test_a_function_and_an_iterable_are_begun_anew_in_each_epoch():
    begun = []

    def rows():
        begun.append(1)
        return ((n, n) for n in range(3))

    pipeline = ds.GeneratorDataset(rows, ["a", "b"]).repeat(2)
    assert column(pipeline) == [0, 1, 2, 0, 1, 2] and len(begun) == 2
    assert column(ds.GeneratorDataset([(1,), (2,)], ["a"], shuffle=False)) == [1, 2]
    assert column(ds.GeneratorDataset({3: None, 4: None}.keys(), ["a"])) == [3, 4]
    assert ds.GeneratorDataset(rows, ["a", "b"], num_samples=2).get_dataset_size() == 2


def test_sizes():
    pipeline = slices().repeat(2).batch(3, drop_remainder=True)
    assert (pipeline.get_dataset_size(), pipeline.get_batch_size(), pipeline.get_repeat_count()) == (6, 3, 2)
    assert slices().batch(3).get_dataset_size() == 4
    assert slices().repeat().get_dataset_size() == 10
    assert slices().filter(lambda n: n > 6).get_dataset_size() == 3
    assert slices().take(4).skip(3).get_dataset_size() == 1
    assert slices(num_shards=3, shard_id=0).get_dataset_size() == 4


def test_shards_share_the_rows_of_one_order():
    shards = [column(slices(num_shards=3, shard_id=rank)) for rank in range(3)]
    assert [len(shard) for shard in shards] == [4, 4, 4]
    assert {row for shard in shards for row in shard} == set(TEN)
    assert [column(slices(shuffle=False, num_shards=4, shard_id=rank)) for rank in (0, 3)] == [[0, 4, 8], [3, 7, 1]]


class EveryThird(ds.Sampler):
    """A sampler of a program."""

    def __iter__(self):
        return iter(range(0, self.dataset_size, 3))


def test_samplers():
    with_sampler = lambda sampler: column(slices(sampler=sampler))  # noqa: E731
    assert with_sampler(EveryThird()) == [0, 3, 6, 9]
    assert with_sampler([4, 2]) == [4, 2]
    assert with_sampler(ds.SequentialSampler(8)) == [8, 9]
    assert with_sampler(ds.SequentialSampler(1, 2)) == [1, 2]
    assert sorted(with_sampler(ds.SubsetRandomSampler([3, 8, 5]))) == [3, 5, 8]
    assert (
        len({row for _ in range(9) for row in with_sampler(ds.RandomSampler(True, 200))})
        == len(with_sampler(ds.RandomSampler(True)))
        == 10
    )
    assert {row for _ in range(9) for row in with_sampler(ds.WeightedRandomSampler([0, 1, 0, 1], 4))} == {1, 3}
    assert [len(with_sampler(ds.DistributedSampler(4, rank, offset=1))) for rank in (0, 1)] == [2, 3]
    assert slices(sampler=ds.RandomSampler(num_samples=3)).get_dataset_size() == 3
    sequential, pairs = ds.SequentialSampler(2), ds.SubsetRandomSampler([0, 1])
    pairs.add_child(sequential)
    assert sorted(with_sampler(pairs)) == [2, 3]


def test_operations_on_columns():
    rows = ds.NumpySlicesDataset({"a": TEN, "b": TEN}, shuffle=False)
    assert rows.rename("a", "c").project(["b", "c"]).get_col_names() == ["b", "c"]
    mapped = ds.NumpySlicesDataset({"a": TEN, "b": TEN}, shuffle=False).map(
        lambda a: (a, a + 1), ["a"], ["p", "q"], column_order=["q", "b"]
    )
    assert mapped.get_col_names() == ["q", "b"] and column(mapped)[:2] == [1, 2]
    assert [row[0].tolist() for row in rows.create_tuple_iterator("b", output_numpy=True)] == TEN
    assert column(slices(shuffle=False).flat_map(lambda n: ds.NumpySlicesDataset([n, n], ["m"])).take(4)) == [0, 0, 1, 1]
    assert column(slices(shuffle=False).apply(lambda rows: rows.take(2))) == [0, 1]


def test_a_split_shares_the_rows_and_is_drawn_once():
    first, second = slices(shuffle=False).split([0.7, 0.3])
    assert sorted(column(first) + column(second)) == TEN
    assert column(first) == column(first)
    assert [column(part) for part in slices(shuffle=False).split([2, 8], randomize=False)] == [[0, 1], TEN[2:]]


def test_a_batch_size_may_be_a_function_of_the_batch():
    batches = slices(shuffle=False).batch(lambda info: info.get_batch_num() + 1)
    assert column(batches) == [[0], [1, 2], [3, 4, 5], [6, 7, 8, 9]]


def test_texts_are_rows_as_any_others():
    rows = ds.NumpySlicesDataset(["ab", "c"], ["words"], shuffle=False).batch(2)
    assert next(iter(rows))[0].tolist() == ["ab", "c"]
    assert text.to_str(text.to_bytes(np.array(["ä"]))).tolist() == ["ä"]


def test_random_crops_stay_in_the_image_and_reach_all_of_it():
    image = np.arange(100, dtype=np.uint8).reshape(10, 10, 1)
    corners = {int(vision.RandomCrop(8)(image)[0, 0, 0]) for _ in range(200)}
    assert corners == {0, 1, 2, 10, 11, 12, 20, 21, 22}
    crop = vision.RandomResizedCrop(4, scale=(0.2, 0.5), ratio=(0.5, 2.0))
    boxes = np.array([crop.box(40, 60) for _ in range(300)])
    assert (boxes[:, :2] >= 0).all() and (boxes[:, 0] + boxes[:, 2] <= 40).all() and (boxes[:, 1] + boxes[:, 3] <= 60).all()
    shares = boxes[:, 2] * boxes[:, 3] / (40 * 60)
    assert shares.min() > 0.18 and shares.max() < 0.52
    assert crop.apply(np.zeros((40, 60, 3), np.uint8)).shape == (4, 4, 3)
    assert vision.RandomResizedCrop(4, (1.0, 1.0), (3.0, 4.0)).box(10, 10) == (3, 0, 3, 10)


def test_python_transforms_run_from_the_file_to_the_tensor():
    image = np.random.RandomState(0).randint(0, 256, (12, 18, 3)).astype(np.uint8)
    chain = python_transforms.Compose(
        [
            python_vision.ToPIL(),
            python_vision.RandomResizedCrop(8),
            python_vision.RandomHorizontalFlip(),
            python_vision.ToTensor(),
            python_vision.Normalize((0.5, 0.5, 0.5), (0.2, 0.2, 0.2)),
        ]
    )
    rows = ds.NumpySlicesDataset([image] * 3, ["image"]).map(chain, "image").batch(3)
    assert rows.output_shapes() == [[3, 3, 8, 8]] and rows.output_types() == [np.float32]
    smooth = python_transforms.OneHotOp(4, 0.2)(np.int32(1))
    assert np.allclose(smooth, [0.05, 0.85, 0.05, 0.05])
    chosen = transforms.RandomChoice([transforms.Fill(1), transforms.Fill(2)])
    assert {int(chosen(np.zeros((), np.int32))) for _ in range(50)} == {1, 2}
    order = python_transforms.RandomOrder([lambda n: n + 1, lambda n: n * 2])
    assert {int(order(np.int32(3))) for _ in range(50)} == {7, 8}
    assert {int(transforms.RandomApply([lambda n: n + 1])(np.int32(3))) for _ in range(50)} == {3, 4}
