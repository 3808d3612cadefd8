"""Iterators over pipelines: rows as dictionaries or as lists, an epoch in each `for`."""

from __future__ import annotations

import warnings

import numpy as np

from ...common.tensor import Tensor
from ..core.random_numbers import Run


class Iterator:
    """The rows of a pipeline. A `for` over it ends with an epoch, and the next one goes on with the next epoch.

    num_epochs: the most epochs; -1 for any number.  output_numpy: arrays instead of Tensors.
    """

    def __init__(self, dataset, num_epochs: int = -1, output_numpy: bool = False):
        dataset.check_tree()
        self.dataset, self._run, self._num_epochs = dataset, Run(), num_epochs
        self._convert = (lambda column: column) if output_numpy else as_tensor
        self._rows, self._index, self._stopped = None, 0, False

    def __iter__(self):
        return self

    def __next__(self):
        if self._stopped:
            raise RuntimeError("this iterator was stopped; make another one with create_dict_iterator or create_tuple_iterator")
        if self._rows is None:
            if 0 <= self._num_epochs <= self._run.epoch:
                raise RuntimeError(
                    f"the iterator was made for num_epochs={self._num_epochs} and all of them were read: give a larger number or "
                    "make another iterator"
                )
            self._rows = self.dataset.rows(self._run)
        row = next(self._rows, None)
        if row is None:
            self._rows, self._run.epoch = None, self._run.epoch + 1
            if self._index == 0:
                warnings.warn(self.dataset.emptiness(), RuntimeWarning, stacklevel=2)
            raise StopIteration
        self._index += 1
        return self._given(row)

    def stop(self) -> None:
        """Ends the iterator, which then gives no more rows."""
        self._rows, self._stopped = None, True

    release = stop

    def get_col_names(self) -> list[str]:
        return self.dataset.get_col_names()

    def _given(self, row: tuple):
        return [self._convert(column) for column in row]


def as_tensor(column: np.ndarray) -> Tensor | np.ndarray:
    """A Tensor; texts stay arrays, as there are no Tensors of texts."""
    return column if column.dtype.kind in "SU" else Tensor(column)


class DictIterator(Iterator):
    """Rows as dictionaries of columns by name."""

    def _given(self, row):
        return {name: self._convert(column) for name, column in zip(self.dataset.get_col_names(), row, strict=True)}


class TupleIterator(Iterator):
    """Rows as lists of columns.  columns: names of those to give; all by default."""

    def __init__(self, dataset, columns=None, num_epochs=-1, output_numpy=False, do_copy=True):
        super().__init__(dataset.only(columns) if columns is not None else dataset, num_epochs, output_numpy)
