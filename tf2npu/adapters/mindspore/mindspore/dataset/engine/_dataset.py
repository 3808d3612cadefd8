"""A pipeline of data: a step, the pipelines that it reads, and the methods that put another step on it."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator

import numpy as np

from ..core import config
from ..core.random_numbers import Run
from ..core.refusal import refused_method
from ._batch import Batch
from ._map import Map
from ._step import Columns, Concat, Filter, FlatMap, Repeat, Shuffle, Skip, Step, Take, Zip, as_names, places, whole_number
from .iterators import DictIterator, TupleIterator

LARGEST_SHUFFLED_SPLIT = 10_000
"""Rows in the buffer that `split` shuffles with, as in MindSpore."""


class Dataset:
    """A pipeline. Its rows are tuples of numpy arrays; it may be read any number of times, by one other pipeline at most."""

    def __init__(self, children: tuple[Dataset, ...], step: Step):
        self.children, self.step, self._consumers = children, step, 0
        self._first: tuple | None = None
        self._counted: int | None = None
        for child in children:
            child._consumers += 1

    # What goes on in a pass.

    def rows(self, run: Run) -> Iterator[tuple]:
        """The rows of one epoch of a run."""
        return self.step.rows(run, *(functools.partial(child.rows, run) for child in self.children))

    def endless(self) -> Iterator[tuple]:
        """Rows for ever, epoch after epoch."""
        self.check_tree()
        run = Run()
        while True:
            row = None
            for row in self.rows(run):
                yield row
            if row is None:
                raise RuntimeError(self.emptiness())
            run.epoch += 1

    def check_tree(self) -> None:
        """An error where two pipelines read one: MindSpore has no such pipelines either."""
        for child in self.children:
            if child._consumers > 1:
                raise ValueError(
                    "The data pipeline is not a tree (i.e., one node has 2 consumers): two operations were called on one. "
                    "Make it twice, or call each operation on the result of the one before"
                )
            child.check_tree()

    def emptiness(self) -> str:
        """The reason why the pipeline has no rows."""
        above = [child for child in self.children if child.get_dataset_size() == 0]
        if above:
            return above[0].emptiness()
        if not self.children:
            return f"{type(self).__name__} {self.step.without_rows}"
        rows = self.children[0].get_dataset_size()
        if isinstance(self.step, Batch):
            return f"batch({self.step.count}, drop_remainder=True) leaves no batch of {rows} rows: give a smaller batch_size"
        return f"{type(self.step).__name__.lower()} leaves none of {rows} rows: give other arguments"

    def _twin(self) -> Dataset:
        """The same pipeline once more, which other operations may read."""
        return Dataset(tuple(child._twin() for child in self.children), self.step)

    def _first_row(self) -> tuple:
        if self._first is None:
            self.check_tree()
            self._first = next(iter(self.rows(Run())), None)
            if self._first is None:
                raise RuntimeError(self.emptiness())
        return self._first

    # What a program asks.

    def types_shapes(self) -> tuple[list[np.dtype], list[tuple[int, ...]]]:
        """The numpy types and the shapes of the first row's columns."""
        return [column.dtype for column in self._first_row()], [column.shape for column in self._first_row()]

    def output_types(self) -> list[np.dtype]:
        return self.types_shapes()[0]

    def output_shapes(self) -> list[list[int]]:
        return [list(shape) for shape in self.types_shapes()[1]]

    def get_col_names(self) -> list[str]:
        return list(self.step.names)

    def get_dataset_size(self) -> int:
        """Rows of an epoch, repeats among them. Where only a pass tells, the pipeline is read once."""
        self.check_tree()
        known = self.step.size(*(child.get_dataset_size() for child in self.children))
        if known is None and self._counted is None:
            self._counted = sum(1 for _ in self.rows(Run()))
        return self._counted if known is None else known

    def get_batch_size(self) -> int:
        return self._nearest("batch_size") or 1

    def get_repeat_count(self) -> int:
        return self._nearest("repeat_count") or 1

    def num_classes(self) -> int | None:
        """Classes of a folder of images; None for other sources, as in MindSpore."""
        return self.children[0].num_classes() if self.children else None

    def get_class_indexing(self) -> dict[str, int]:
        """Labels by the names of the classes."""
        return self.children[0].get_class_indexing() if self.children else {}

    def _nearest(self, attribute: str):
        own = getattr(self.step, attribute)
        return own if own is not None or not self.children else self.children[0]._nearest(attribute)

    def reset(self) -> None:
        """Nothing: an iterator begins anew by itself."""

    def is_shuffled(self) -> bool:
        """Whether rows come in a drawn order."""
        return isinstance(self.step, Shuffle) or any(child.is_shuffled() for child in self.children)

    def is_sharded(self) -> bool:
        return any(child.is_sharded() for child in self.children)

    def create_tuple_iterator(self, columns=None, num_epochs=-1, output_numpy=False, do_copy=True) -> TupleIterator:
        return TupleIterator(self, columns, num_epochs, output_numpy, do_copy)

    def create_dict_iterator(self, num_epochs=-1, output_numpy=False) -> DictIterator:
        return DictIterator(self, num_epochs, output_numpy)

    def __iter__(self):
        return self.create_tuple_iterator()

    # Operations.

    def map(
        self,
        operations,
        input_columns=None,
        output_columns=None,
        column_order=None,
        num_parallel_workers=None,
        python_multiprocessing=False,
        cache=None,
        callbacks=None,
    ) -> Dataset:
        """Applies operations to columns of each row; by default to the first column."""
        for name, given in (("cache", cache), ("callbacks", callbacks)):
            if given is not None:
                raise ValueError(f"map: {name} is not supported on the simulated device; leave it out")
        return Dataset((self,), Map(self.step.names, operations, input_columns, output_columns, column_order))

    def batch(
        self,
        batch_size,
        drop_remainder=False,
        num_parallel_workers=None,
        per_batch_map=None,
        input_columns=None,
        output_columns=None,
        column_order=None,
        pad_info=None,
        python_multiprocessing=False,
    ) -> Dataset:
        """Joins rows to batches. The last one is smaller unless drop_remainder is set."""
        if not callable(batch_size):
            batch_size = whole_number("batch", "batch_size", batch_size, 1)
        if per_batch_map is not None and input_columns is None:
            raise ValueError("batch: per_batch_map needs input_columns; name the columns that it takes")
        step = Batch(
            self.step.names, batch_size, drop_remainder, per_batch_map, input_columns, output_columns, column_order, pad_info
        )
        return Dataset((self,), step)

    def shuffle(self, buffer_size: int) -> Dataset:
        """Draws rows from a buffer of so many, anew in each epoch."""
        return Dataset((self,), Shuffle(self.step.names, whole_number("shuffle", "buffer_size", buffer_size, 2)))

    def repeat(self, count: int | None = None) -> Dataset:
        """All rows so many times; for ever by default."""
        count = whole_number("repeat", "count", -1 if count is None else count, -1)
        if count == 0:
            raise ValueError("repeat: count is 0; give a whole number from 1 on, or -1 for no end")
        return Dataset((self,), Repeat(self.step.names, count))

    def take(self, count: int = -1) -> Dataset:
        """The first rows; all of them for -1."""
        count = whole_number("take", "count", count, -1)
        if count == 0:
            raise ValueError("take: count is 0; give a whole number from 1 on, or -1 for all rows")
        return self if count == -1 else Dataset((self,), Take(self.step.names, count))

    def skip(self, count: int) -> Dataset:
        """All rows but the first."""
        return Dataset((self,), Skip(self.step.names, whole_number("skip", "count", count, 0)))

    def filter(self, predicate, input_columns=None, num_parallel_workers=1) -> Dataset:
        """The rows for which a function of the columns is true."""
        if not callable(predicate):
            raise TypeError(f"filter: predicate is {predicate!r}; give a function of the columns that returns True or False")
        return Dataset((self,), Filter(self.step.names, predicate, as_names(input_columns, "filter: input_columns")))

    def rename(self, input_columns, output_columns) -> Dataset:
        """The same columns under other names."""
        old, new = as_names(input_columns, "rename: input_columns"), as_names(output_columns, "rename: output_columns")
        if len(old) != len(new):
            raise ValueError(f"rename: {len(old)} input_columns and {len(new)} output_columns; give as many of both")
        places(self.step.names, old, "rename")
        renamed = dict(zip(old, new, strict=True))
        names = as_names([renamed.get(name, name) for name in self.step.names], "rename")
        return Dataset((self,), Columns(names, list(range(len(names)))))

    def project(self, columns) -> Dataset:
        """Some columns, in this order."""
        chosen = as_names(columns, "project: columns")
        return Dataset((self,), Columns(chosen, places(self.step.names, chosen, "project")))

    def only(self, columns) -> Dataset:
        """A view of some columns, which does not count as an operation on this pipeline."""
        view = self.project(columns)
        self._consumers -= 1
        return view

    def zip(self, datasets) -> Dataset:
        """Columns of this pipeline and of others beside each other."""
        others = datasets if isinstance(datasets, tuple) else (datasets,)
        return zipped((self, *others))

    def concat(self, datasets) -> Dataset:
        """Rows of this pipeline and then of others."""
        others = tuple(datasets) if isinstance(datasets, (list, tuple)) else (datasets,)
        check_datasets("concat", others)
        return Dataset((self, *others), Concat(*(one.step.names for one in (self, *others))))

    def __add__(self, datasets) -> Dataset:
        return self.concat(datasets)

    def flat_map(self, func) -> Dataset:
        """The rows of the pipelines that a function makes of each row."""
        if not callable(func):
            raise TypeError(f"flat_map: func is {func!r}; give a function of the columns that returns a dataset")
        first = made_dataset("flat_map: func", func(*self._first_row()))
        begin = lambda made, run: made_dataset("flat_map: func", made).rows(run)  # noqa: E731
        return Dataset((self,), FlatMap(first.step.names, func, begin))

    def apply(self, apply_func) -> Dataset:
        """The pipeline that a function makes of this one."""
        if not callable(apply_func):
            raise TypeError(f"apply: apply_func is {apply_func!r}; give a function of a dataset that returns a dataset")
        return made_dataset("apply: apply_func", apply_func(self))

    def split(self, sizes, randomize: bool = True) -> tuple[Dataset, ...]:
        """Pipelines that share the rows.  sizes: rows of each, or shares that make 1.  randomize: draws the rows, once."""
        if self.is_sharded():
            raise RuntimeError("split: the dataset is sharded; call split before num_shards is given")
        seed = config.get_seed() if config.get_seed() != config.SEED_OF_NOBODY else int(np.random.randint(2**31))
        absolute = split_sizes(self.get_dataset_size(), sizes)
        parts = []
        for first, size in zip(itertools.accumulate([0, *absolute]), absolute, strict=False):
            part = self._twin()
            if randomize:
                part = Dataset((part,), Shuffle(part.step.names, LARGEST_SHUFFLED_SPLIT, seed))
            part = part.skip(first) if first else part
            parts.append(part.take(size))
        return tuple(parts)

    bucket_batch_by_length = refused_method("bucket_batch_by_length", "sort the rows by length and use batch with pad_info")
    sync_wait = refused_method("sync_wait", "leave it out; change a Python function's variables between epochs instead")
    sync_update = refused_method("sync_update", "leave it out together with sync_wait")
    save = refused_method("save", "write the rows with numpy.savez and read them with NumpySlicesDataset")
    device_que = refused_method("device_que", "use DatasetHelper or Model.train, which sink the data themselves")
    to_device = refused_method("to_device", "use DatasetHelper or Model.train, which sink the data themselves")
    build_vocab = refused_method("build_vocab", "count the words in Python and map them with a Python function")
    build_sentencepiece_vocab = refused_method("build_sentencepiece_vocab", "train the model with the package sentencepiece")


def check_datasets(who: str, datasets) -> None:
    for one in datasets:
        if not isinstance(one, Dataset):
            raise TypeError(f"{who}: {one!r} is no dataset; give datasets of mindspore.dataset")


def made_dataset(who: str, made) -> Dataset:
    if not isinstance(made, Dataset):
        raise TypeError(f"{who} returned {type(made).__name__}; it has to return a dataset")
    return made


def zipped(datasets) -> Dataset:
    """Columns of several pipelines beside each other; the shortest one ends an epoch."""
    if not isinstance(datasets, tuple) or not datasets:
        raise TypeError(f"zip: datasets is {datasets!r}; give a tuple of datasets")
    check_datasets("zip", datasets)
    return Dataset(datasets, Zip(*(one.step.names for one in datasets)))


def split_sizes(rows: int, sizes) -> list[int]:
    """Whole numbers of rows that make all rows; what rounding leaves over or takes too much is settled with the first part."""
    if not isinstance(sizes, list) or not sizes:
        raise RuntimeError(f"split: sizes is {sizes!r}; give a list of numbers of rows or of shares")
    if all(isinstance(size, int) for size in sizes):
        if sum(sizes) != rows or min(sizes) < 1:
            raise RuntimeError(
                f"split: sizes {sizes} make {sum(sizes)} rows and the dataset has {rows}; give sizes above 0 that fit"
            )
        return sizes
    if not all(0 < size < 1 for size in sizes) or abs(sum(sizes) - 1) > 1e-6:
        raise ValueError(f"split: the shares {sizes} make {sum(sizes)}; give shares between 0 and 1 that make 1")
    absolute = [round(size * rows) for size in sizes]
    left = rows - sum(absolute)
    settled = next((place for place, size in enumerate(absolute) if size + left > 0), 0)
    absolute[settled] += left
    if min(absolute) < 1:
        raise RuntimeError(f"split: a share of {sizes} is too small for {rows} rows; give a larger one")
    return absolute
