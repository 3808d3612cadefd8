"""The step that joins rows to batches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ._map import as_column
from ._step import Step, as_names, places


class BatchInfo:
    """The batch that a batch size or a per_batch_map is asked for."""

    def __init__(self, batch_number: int, epoch_number: int):
        self._batch_number, self._epoch_number = batch_number, epoch_number

    def get_batch_num(self) -> int:
        """The batch's number in its epoch, from 0."""
        return self._batch_number

    def get_epoch_num(self) -> int:
        """The epoch's number, from 0."""
        return self._epoch_number


class Batch(Step):
    """Rows joined along a new first axis.  count: rows of a batch, or a function of the `BatchInfo` that gives them."""

    def __init__(
        self,
        names: Sequence[str],
        count,
        drop_remainder=False,
        per_batch_map=None,
        inputs=None,
        outputs=None,
        order=None,
        pads=None,
    ):
        self.count, self.drop_remainder, self.function, self.pads = count, bool(drop_remainder), per_batch_map, pads
        self.batch_size = 1 if callable(count) else count
        self.above = list(names)
        inputs = as_names(inputs, "batch: input_columns")
        if per_batch_map is None:
            self.changed: list[str] = []
            made = list(names)
        else:
            self.changed = as_names(outputs, "batch: output_columns") or inputs
            kept = [name for name in names if name not in inputs]
            renamed = dict(zip(inputs, self.changed, strict=False))
            made = [renamed.get(name, name) for name in names] if len(inputs) == len(self.changed) else self.changed + kept
        self.inputs = places(self.above, inputs, "batch")
        places(self.above, list(pads or {}), "batch: pad_info")
        chosen = as_names(order, "batch: column_order")
        places(made, chosen, "batch: column_order")
        super().__init__(chosen or made)

    def size(self, *above):
        if callable(self.count) or above[0] is None:
            return None
        return above[0] // self.count if self.drop_remainder else -(-above[0] // self.count)

    def rows(self, run, *above):
        number, rows, wanted = 0, [], None
        for row in above[0]():
            wanted = wanted or self._wanted(BatchInfo(number, run.epoch))
            rows.append(row)
            if len(rows) == wanted:
                yield self._joined(rows, BatchInfo(number, run.epoch))
                number, rows, wanted = number + 1, [], None
        if rows and not self.drop_remainder:
            yield self._joined(rows, BatchInfo(number, run.epoch))

    def _wanted(self, info: BatchInfo) -> int:
        wanted = self.count(info) if callable(self.count) else self.count
        if not isinstance(wanted, (int, np.integer)) or wanted < 1:
            raise RuntimeError(f"batch: batch_size gave {wanted!r} for batch {info.get_batch_num()}; give a whole number above 0")
        return int(wanted)

    def _joined(self, rows: list[tuple], info: BatchInfo) -> tuple:
        columns = dict(zip(self.above, map(list, zip(*rows, strict=True)), strict=True))
        if self.function is not None:
            self._change(columns, info)
        if self.pads is not None:
            for name in self.pads or self.above:
                columns[name] = padded(name, columns[name], *(self.pads.get(name) or (None, None)))
        return tuple(stacked(name, columns[name]) for name in self.names)

    def _change(self, columns: dict, info: BatchInfo) -> None:
        results = self.function(*(columns[self.above[place]] for place in self.inputs), info)
        results = results if isinstance(results, tuple) else (results,)
        if len(results) != len(self.changed):
            raise RuntimeError(
                f"batch: per_batch_map gave {len(results)} columns for the names {self.changed}; return a tuple of as many lists"
            )
        for place in self.inputs:
            del columns[self.above[place]]
        for name, values in zip(self.changed, results, strict=True):
            columns[name] = [as_column(value) for value in values]


def stacked(name: str, values: list[np.ndarray]) -> np.ndarray:
    if any(value.shape != values[0].shape for value in values):
        other = next(value.shape for value in values if value.shape != values[0].shape)
        raise RuntimeError(
            f"batch: column {name!r} has rows of the shapes {values[0].shape} and {other}; bring them to one shape by map "
            "(for images Resize or CenterCrop) or give pad_info"
        )
    return np.stack(values)


def padded(name: str, values: list[np.ndarray], shape, fill) -> list[np.ndarray]:
    """Values filled up at their ends to a shape, in which None stands for the largest one of the batch; longer ones are cut."""
    wanted = [None] * values[0].ndim if shape is None else list(shape)
    if any(value.ndim != len(wanted) for value in values):
        raise RuntimeError(f"batch: pad_info of column {name!r} has {len(wanted)} axes and its rows have {values[0].ndim}")
    sizes = [max(value.shape[axis] for value in values) if size is None else size for axis, size in enumerate(wanted)]
    text = values[0].dtype.kind in "SU"
    filled = []
    for value in values:
        new = np.full(sizes, ("" if text else 0) if fill is None else fill, value.dtype)
        part = tuple(slice(0, min(old, size)) for old, size in zip(value.shape, sizes, strict=True))
        new[part] = value[part]
        filled.append(new)
    return filled
