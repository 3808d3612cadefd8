"""Sources that can be asked for any row: rows of arrays, of files and of Python objects."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from ._dataset import Dataset
from ._step import Step, as_names
from .samplers import BuiltinSampler, DistributedSampler, RandomSampler, select_sampler


class Source(Step):
    """Rows by their numbers, in the order of a sampler.  labels: a call that gives each row's class, for samplers by class."""

    def __init__(self, names, count: int, row: Callable[[int], tuple], sampler: BuiltinSampler, labels=None):
        super().__init__(names)
        self.count, self.row, self.sampler, self.labels = count, row, sampler, labels

    def rows(self, run, *above):
        return map(self.row, run.own(self.sampler).epoch(self.count, self.labels).tolist())

    def size(self, *above):
        known = self.sampler.size(self.count)
        return len(self.sampler.fresh(itertools.count()).epoch(self.count, self.labels)) if known is None else known


class SourceDataset(Dataset):
    """A pipeline that begins with rows by their numbers."""

    def __init__(self, names, count, row, sampling: tuple, labels=None):
        self.sampler = select_sampler(*sampling)
        super().__init__((), Source(names, count, row, self.sampler, labels))

    def use_sampler(self, new_sampler) -> None:
        """Puts another sampler in the place of this source's."""
        if new_sampler is None:
            raise TypeError("use_sampler: the sampler is None; give a sampler of mindspore.dataset")
        self.sampler = self.step.sampler = select_sampler(None, new_sampler, None, None, None)

    def add_sampler(self, new_sampler) -> None:
        """Puts a sampler behind this source's, from whose rows it chooses."""
        new_sampler = select_sampler(None, new_sampler, None, None, None)
        new_sampler.add_child(self.sampler)
        self.sampler = self.step.sampler = new_sampler

    def is_shuffled(self):
        return isinstance(self.sampler, RandomSampler) or getattr(self.sampler, "shuffle", False) is True

    def is_sharded(self):
        return isinstance(self.sampler, DistributedSampler)


class NumpySlicesDataset(SourceDataset):
    """Slices along the first axis of arrays: of one (a list or an array), of several (a tuple), or by name (a dictionary)."""

    def __init__(
        self,
        data,
        column_names=None,
        num_samples=None,
        num_parallel_workers=1,
        shuffle=None,
        sampler=None,
        num_shards=None,
        shard_id=None,
    ):
        if data is None or len(data) == 0:
            raise ValueError("NumpySlicesDataset: data is empty; give arrays with at least one row")
        columns = list(data.values()) if isinstance(data, dict) else list(data) if isinstance(data, tuple) else [data]
        arrays = [column.asnumpy() if hasattr(column, "asnumpy") else np.array(column) for column in columns]
        names = as_names(column_names, "NumpySlicesDataset: column_names")
        names = names or (list(data) if isinstance(data, dict) else [f"column_{number}" for number in range(len(arrays))])
        if len(names) != len(arrays):
            raise ValueError(
                f"NumpySlicesDataset: {len(names)} column_names for {len(arrays)} columns of data; give a name a column"
            )
        for name, array in zip(names, arrays, strict=True):
            if array.ndim == 0 or array.dtype == object or len(array) != len(arrays[0]):
                raise ValueError(
                    f"NumpySlicesDataset: column {name!r} is {array.dtype} of shape {array.shape} and the first column has "
                    f"{len(arrays[0]) if arrays[0].ndim else 0} rows; give arrays of one length, of numbers or texts"
                )
        row = lambda number: tuple(np.asarray(array[number]) for array in arrays)  # noqa: E731
        super().__init__(names, len(arrays[0]), row, (num_samples, sampler, shuffle, num_shards, shard_id))


def existing_folder(dataset_dir, who: str) -> Path:
    folder = Path(dataset_dir) if isinstance(dataset_dir, (str, Path)) else None
    if folder is None or not folder.is_dir():
        raise ValueError(
            f"{who}: the folder {dataset_dir} does not exist or is not a directory: give the folder that holds the data files"
        )
    return folder


def check_usage(who: str, usage, known: Sequence[str]) -> str:
    """The usage, or "all" for None."""
    if usage not in (None, *known):
        raise ValueError(f"{who}: usage is {usage!r}; give one of {', '.join(known)}")
    return usage or "all"
