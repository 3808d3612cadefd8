"""The source that reads rows from Python: a function, an iterable, or an object that gives any row."""

from __future__ import annotations

import itertools
import warnings

import numpy as np

from ...common.dtype import np_type
from ._dataset import Dataset
from ._map import as_column
from ._source import SourceDataset
from ._step import Step, as_names


class Passes(Step):
    """Rows of a source that can only be read from its beginning: each epoch begins it anew."""

    without_rows = "has no rows: its source gave none; an iterator can be read once alone, so give a function that makes one"

    def __init__(self, names, source, convert, num_samples):
        super().__init__(names)
        self.source, self.convert, self.num_samples = source, convert, num_samples

    def rows(self, run, *above):
        begun = iter(self.source() if callable(self.source) else self.source)
        return map(self.convert, itertools.islice(begun, self.num_samples))

    def size(self, *above):
        try:
            count = len(self.source)
        except TypeError:
            return None
        return min(count, self.num_samples) if self.num_samples else count


class GeneratorDataset(SourceDataset):
    """Rows of a Python source: a callable that gives an iterator, an iterable, or an object with `__getitem__` and `__len__`.

    Sources of the last kind are shuffled unless shuffle is False; samplers and shards are for them alone.
    """

    def __init__(
        self,
        source,
        column_names=None,
        column_types=None,
        schema=None,
        num_samples=None,
        num_parallel_workers=1,
        shuffle=None,
        sampler=None,
        num_shards=None,
        shard_id=None,
        python_multiprocessing=True,
    ):
        names = as_names(column_names, "GeneratorDataset: column_names")
        if schema is not None:
            raise ValueError(
                "GeneratorDataset: schema is not supported on the simulated device; give column_names and column_types"
            )
        if not names:
            raise ValueError("GeneratorDataset: column_names is missing; give a name for each column")
        types = [np_type(kind) for kind in column_types or []]
        if types and len(types) != len(names):
            raise ValueError(f"GeneratorDataset: {len(types)} column_types for {len(names)} column_names; give a type a column")
        convert = lambda row: converted(row, names, types)  # noqa: E731
        if hasattr(source, "__getitem__") and hasattr(source, "__len__"):
            read = lambda number: converted(item(source, number), names, types)  # noqa: E731
            super().__init__(names, len(source), read, (num_samples, sampler, shuffle, num_shards, shard_id))
            return
        for name, given in (("sampler", sampler), ("num_shards", num_shards)):
            if given is not None:
                raise ValueError(
                    f"GeneratorDataset: {name} needs a source with __getitem__ and __len__, and {type(source).__name__} has not "
                    "both; write such a class"
                )
        if shuffle:
            warnings.warn(
                "GeneratorDataset: shuffle=True does nothing, as in MindSpore: the source has not both __getitem__ and __len__; "
                "call shuffle(buffer_size) on the dataset",
                RuntimeWarning,
                stacklevel=2,
            )
        if not callable(source) and not hasattr(source, "__iter__"):
            raise TypeError(
                f"GeneratorDataset: {source!r} is no source; give a function, an iterable or an object with __getitem__"
            )
        self.sampler = None
        Dataset.__init__(self, (), Passes(names, source, convert, num_samples))


def item(source, number: int):
    try:
        return source[number]
    except Exception as error:
        raise RuntimeError(
            f"GeneratorDataset: {type(source).__name__}.__getitem__({number}) failed: {type(error).__name__}: {error}"
        ) from error


def converted(row, names: list[str], types: list) -> tuple[np.ndarray, ...]:
    """A source's row as arrays, checked against the names and types of the columns."""
    values = row if isinstance(row, (tuple, list)) else (row,)
    if len(values) != len(names):
        raise RuntimeError(
            f"GeneratorDataset: the source gave {len(values)} columns for the column_names {names}; give as many names as "
            "the source gives values, in a tuple"
        )
    try:
        columns = tuple(as_column(value) for value in values)
    except TypeError as error:
        raise RuntimeError(f"GeneratorDataset: the source gave a row that is no row of arrays: {error}") from error
    for name, wanted, column in zip(names, types, columns, strict=False):
        if column.dtype != wanted:
            raise RuntimeError(
                f"GeneratorDataset: column {name!r} is {column.dtype} and column_types say {np.dtype(wanted)}; cast it in the "
                "source"
            )
    return columns
