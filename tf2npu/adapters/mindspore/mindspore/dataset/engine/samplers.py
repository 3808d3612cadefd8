"""Samplers: which rows of a source that can be asked for any row an epoch has, and in which order."""

from __future__ import annotations

import copy
import itertools

import numpy as np

from ..core.random_numbers import Drawing
from ._step import whole_number

__all__ = [
    "DistributedSampler",
    "PKSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]


class BuiltinSampler(Drawing):
    """A sampler of this package.  num_samples: the most rows of an epoch; all by default."""

    child: BuiltinSampler | None = None

    def __init__(self, num_samples: int | None = None):
        self.num_samples = (
            None if num_samples is None else whole_number(type(self).__name__, "num_samples", num_samples, 0) or None
        )

    def add_child(self, sampler) -> None:
        """Puts a sampler before this one, which then chooses from that one's rows."""
        if self.child is not None:
            raise RuntimeError(f"{type(self).__name__} has a child sampler already; call add_child on that one")
        self.child = sampler

    def get_child(self):
        return self.child

    def get_num_samples(self) -> int | None:
        return self.num_samples

    def fresh(self, numbers):
        new = super().fresh(numbers)
        new.child = self.child.fresh(numbers) if self.child is not None else None
        return new

    def epoch(self, count: int, labels=None) -> np.ndarray:
        """Row numbers of the next epoch of a source of so many rows.  labels: a call that gives each row's class."""
        rows = np.arange(count) if self.child is None else self.child.epoch(count, labels)
        chosen = self.chosen(len(rows)) if labels is None else self.chosen_by_label(len(rows), labels)
        return rows[chosen[: self.num_samples]]

    def chosen(self, count: int) -> np.ndarray:
        raise RuntimeError(f"{type(self).__name__} has no chosen")

    def chosen_by_label(self, count: int, labels) -> np.ndarray:
        return self.chosen(count)

    def size(self, count: int) -> int | None:
        """Rows of an epoch of a source of so many rows; None where only drawing them tells."""
        count = count if self.child is None else self.child.size(count)
        if count is None:
            return None
        most = self.most(count)
        return most if most is None or self.num_samples is None else min(most, self.num_samples)

    def most(self, count: int) -> int | None:
        return count


class SequentialSampler(BuiltinSampler):
    """Rows in their order, from start_index on."""

    def __init__(self, start_index: int | None = None, num_samples: int | None = None):
        super().__init__(num_samples)
        self.start_index = whole_number("SequentialSampler", "start_index", start_index or 0, 0)

    def chosen(self, count):
        if self.start_index > count or (self.start_index == count and count):
            raise RuntimeError(f"SequentialSampler: start_index {self.start_index} is behind the last of {count} rows")
        return np.arange(self.start_index, count)

    def most(self, count):
        return max(0, count - self.start_index)


class RandomSampler(BuiltinSampler):
    """All rows in an order drawn anew in each epoch, or rows that may come again."""

    def __init__(self, replacement: bool = False, num_samples: int | None = None):
        super().__init__(num_samples)
        if not isinstance(replacement, bool):
            raise TypeError(f"RandomSampler: replacement is {replacement!r}; give True or False")
        self.replacement = replacement

    def chosen(self, count):
        if self.replacement:
            return self.random.randint(0, count, count) if count else np.arange(0)
        return self.random.permutation(count)


class DistributedSampler(BuiltinSampler):
    """One shard: every num_shards-th row, filled up from the first rows so that all shards have the same number.

    All shards draw the same order, another one in each epoch.
    """

    def __init__(self, num_shards: int, shard_id: int, shuffle: bool = True, num_samples: int | None = None, offset: int = -1):
        super().__init__(num_samples)
        self.num_shards = whole_number("DistributedSampler", "num_shards", num_shards, 1)
        self.shard_id = whole_number("DistributedSampler", "shard_id", shard_id, 0)
        if self.shard_id >= self.num_shards:
            raise ValueError(f"DistributedSampler: shard_id {shard_id} is not below num_shards {num_shards}")
        if offset > num_shards:
            raise ValueError(f"DistributedSampler: offset {offset} is above num_shards {num_shards}")
        self.shuffle, self.offset, self.epochs = shuffle, offset, itertools.count()

    def fresh(self, numbers):
        new = super().fresh(numbers)
        new.epochs = itertools.count()
        return new

    def chosen(self, count):
        if count == 0:
            return np.arange(0)
        epoch = next(self.epochs)
        order = np.random.RandomState(epoch).permutation(count) if self.shuffle else np.arange(count)
        return order[self._places(count) % count]

    def _places(self, count: int) -> np.ndarray:
        """Places in the order; an offset moves all shards, and places before the first one are left out."""
        places = self.shard_id - max(self.offset, 0) + self.num_shards * np.arange(-(-count // self.num_shards))
        return places[places >= 0]

    def most(self, count):
        return len(self._places(count))


class SubsetSampler(BuiltinSampler):
    """The rows of these numbers, in this order."""

    def __init__(self, indices, num_samples: int | None = None):
        super().__init__(num_samples)
        listed = list(indices) if hasattr(indices, "__iter__") else [indices]
        self.indices = np.array([whole_number(type(self).__name__, "an index", index, 0) for index in listed], np.int64)

    def chosen(self, count):
        if len(self.indices) and self.indices.max() >= count:
            raise RuntimeError(f"{type(self).__name__}: index {self.indices.max()} is behind the last of {count} rows")
        return self.indices

    def most(self, count):
        return len(self.indices)


class SubsetRandomSampler(SubsetSampler):
    """The rows of these numbers, in an order drawn anew in each epoch."""

    def chosen(self, count):
        return self.random.permutation(super().chosen(count))


class WeightedRandomSampler(BuiltinSampler):
    """Rows drawn with the probabilities of their weights."""

    def __init__(self, weights, num_samples: int | None = None, replacement: bool = True):
        super().__init__(num_samples)
        self.weights, self.replacement = np.asarray(weights, float), replacement
        if self.weights.ndim != 1 or not len(self.weights) or self.weights.min() < 0 or not self.weights.sum() > 0:
            raise ValueError("WeightedRandomSampler: weights has to be a list of numbers from 0 on, not all of them 0")

    def chosen(self, count):
        if len(self.weights) > count:
            raise RuntimeError(
                f"WeightedRandomSampler: there are {len(self.weights)} weights and {count} rows; give a weight a row"
            )
        drawn = min(self.num_samples or count, count)
        shares = self.weights / self.weights.sum()
        if not self.replacement and drawn > np.count_nonzero(shares):
            raise RuntimeError(f"WeightedRandomSampler: {drawn} rows without replacement need as many weights above 0")
        return self.random.choice(len(shares), drawn, self.replacement, shares)


class PKSampler(BuiltinSampler):
    """Some rows of each class.  num_val: rows of a class.  shuffle: draws them instead of taking the first."""

    def __init__(self, num_val, num_class=None, shuffle=False, class_column="label", num_samples=None):
        super().__init__(num_samples)
        if num_class is not None:
            raise ValueError("PKSampler: num_class is not supported, as in MindSpore; leave it out")
        self.num_val, self.shuffle, self.class_column = whole_number("PKSampler", "num_val", num_val, 1), shuffle, class_column

    def chosen_by_label(self, count, labels):
        classes = np.asarray(labels())
        found = [np.flatnonzero(classes == one) for one in np.unique(classes)]
        rows = [self.random.choice(each, self.num_val, len(each) < self.num_val) if self.shuffle else each for each in found]
        return np.concatenate([np.resize(each, self.num_val) for each in rows])

    def chosen(self, count):
        raise RuntimeError("PKSampler needs a dataset with labels: MnistDataset, Cifar10Dataset or ImageFolderDataset")

    def most(self, count):
        return None


class Sampler:
    """The base of samplers that programs write: `__iter__` gives the row numbers of an epoch, dataset_size is there by then."""

    def __init__(self, num_samples: int | None = None):
        self.num_samples, self.dataset_size = num_samples, 0

    def __iter__(self):
        raise RuntimeError(f"{type(self).__name__} has no __iter__: write one that gives the row numbers of an epoch")

    def get_num_samples(self) -> int | None:
        return self.num_samples


class WrittenSampler(BuiltinSampler):
    """A program's own sampler, or any iterable of row numbers."""

    def __init__(self, written):
        super().__init__(getattr(written, "num_samples", None))
        self.written = written

    def fresh(self, numbers):
        new = super().fresh(numbers)
        new.written = copy.copy(self.written)
        return new

    def chosen(self, count):
        if isinstance(self.written, Sampler):
            self.written.dataset_size = count
        indices = np.array([int(index) for index in self.written], np.int64)
        if len(indices) and not (indices.min() > -1 and indices.max() < count):
            wrong = indices[(indices < 0) | (indices >= count)][0]
            raise RuntimeError(f"{type(self.written).__name__} gave row {wrong}; there are the rows 0 to {count - 1}")
        return indices

    def most(self, count):
        return None


def select_sampler(num_samples, sampler, shuffle, num_shards, shard_id) -> BuiltinSampler:
    """The sampler of a source by its arguments. Sources are shuffled unless shuffle is False.

    Shuffled rows with num_samples may come twice, as in r1.1.
    """
    if sampler is not None:
        if any(given is not None for given in (num_samples, shuffle, num_shards, shard_id)):
            raise ValueError(
                "sampler was given together with num_samples, shuffle, num_shards or shard_id; give those to the sampler itself"
            )
        return sampler if isinstance(sampler, BuiltinSampler) else WrittenSampler(sampler)
    if (num_shards is None) != (shard_id is None):
        raise RuntimeError(f"num_shards is {num_shards} and shard_id is {shard_id}; give both or neither")
    if shuffle not in (None, True, False):
        raise TypeError(f"shuffle is {shuffle!r}; give True or False")
    if num_shards is not None:
        return DistributedSampler(num_shards, shard_id, shuffle is not False, num_samples)
    if shuffle is False:
        return SequentialSampler(num_samples=num_samples)
    return RandomSampler(replacement=num_samples is not None, num_samples=num_samples)
