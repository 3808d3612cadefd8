"""Data of a training: batch by batch, or sunk, where one item is an epoch.  Source: train/dataset_helper.py of r1.1, read."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from mindspore._device.settings import is_graph_mode, settings
from mindspore._device.sink import Row, RowShapes, Sink
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell

__all__ = ["DatasetHelper", "connect_network_with_dataset"]


def check_sink_size(sink_size: Any) -> None:
    """Raises: TypeError, ValueError for anything but -1 and numbers above 0."""
    if not isinstance(sink_size, int) or isinstance(sink_size, bool):
        raise TypeError(f"sink_size={sink_size!r}: a whole number")
    if sink_size < -1 or sink_size == 0:
        raise ValueError(f"sink_size={sink_size}: -1 for the whole dataset, or the steps of an epoch, above 0")


def checked_size(dataset: Any) -> int:
    """The batches of a dataset.  Raises: ValueError for none; TypeError for no dataset."""
    if not hasattr(dataset, "get_dataset_size"):
        raise TypeError(f"{type(dataset).__name__} is no dataset of mindspore.dataset: ds.NumpySlicesDataset makes one of arrays")
    size = int(dataset.get_dataset_size())
    if size == 0:
        raise ValueError(
            "the dataset has no batch: look at its folder and files, and at batch(..., drop_remainder=True) of fewer rows than "
            "one batch has"
        )
    return size


class DatasetHelper:
    """The items of an epoch: tuples of tensors, or where data are sunk in GRAPH_MODE one empty tuple.

    sink_size: the steps of a sunk epoch, -1 for the whole dataset.  epoch_num: the epochs that are not sunk.
    """

    def __init__(self, dataset: Any, dataset_sink_mode: bool = True, sink_size: int = -1, epoch_num: int = 1) -> None:
        if not isinstance(dataset_sink_mode, bool):
            raise TypeError(f"dataset_sink_mode={dataset_sink_mode!r}: True or False")
        check_sink_size(sink_size)
        if dataset_sink_mode and is_graph_mode() and settings["device_target"] == "CPU":
            raise RuntimeError('data cannot be sunk on the target "CPU": dataset_sink_mode=False, or device_target="Ascend"')
        self.dataset, self.is_sunk = dataset, dataset_sink_mode
        size = checked_size(dataset)
        self._steps = size if sink_size == -1 else sink_size
        self._shapes: RowShapes | None = None
        self._rows: Iterator[Row] | None = None
        self._epochs = None if dataset_sink_mode else dataset.create_tuple_iterator(num_epochs=epoch_num)

    @property
    def iter(self) -> DatasetHelper:
        """The helper itself, which has the dataset; in r1.1 an object of its own."""
        return self

    def sink_size(self) -> int:
        """The steps of an item."""
        return self._steps if self.is_sunk else 1

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        if not self.is_sunk:
            return map(_tensors, self._epochs)
        return iter([()] if is_graph_mode() else [()] * self._steps)

    def types_shapes(self) -> tuple[list[Any], list[Any]]:
        """The types and shapes of the columns."""
        return self.dataset.types_shapes()

    def rows(self) -> Iterator[Row]:
        """The rows of sunk data, without end; a later epoch goes on where one before ended."""
        if self._rows is None:
            self._rows = (tuple(map(np.asarray, row)) for row in self.dataset.endless())
        return self._rows

    def shapes(self) -> RowShapes:
        """The types and shapes of sunk rows, which are those of the first."""
        if self._shapes is None:
            rows = self.rows()
            first = next(rows)
            self._shapes, self._rows = RowShapes(first), itertools.chain([first], rows)
        return self._shapes

    def stop_send(self) -> None:
        """Accepts the end of sending: nothing is sent ahead here."""

    release = continue_send = stop_send

    def get_data_info(self) -> tuple[list[Any], list[Any]]:
        """The types and shapes of the next rows."""
        return self.types_shapes()


def _tensors(row: Any) -> tuple[Any, ...]:
    row = row if isinstance(row, (tuple, list)) else (row,)
    return tuple(one if isinstance(one, Tensor) else Tensor(one) for one in row)


class _DataWrapper(Cell):
    """A network whose inputs come from a dataset."""

    def __init__(self, network: Cell, helper: DatasetHelper) -> None:
        super().__init__(auto_prefix=False)
        self.network = network
        self.__dict__["helper"] = helper

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        return _sunk(self.network, self.helper)


_sinks: dict[Any, Sink] = {}
"""Sinks by network, its phase and the shapes of rows."""


def _sunk(network: Cell, helper: DatasetHelper) -> Any:
    """The outputs of the last of an item's steps."""
    if not is_graph_mode():
        row = next(helper.rows())
        check_columns(network, len(row))
        return network(*_tensors(row))
    shapes = helper.shapes()
    key = network, network.phase_key(), shapes.key
    if key not in _sinks:
        check_columns(network, len(shapes.types))
        network.check_names()
        _sinks[key] = Sink(network, shapes)
    if _sinks[key].source is not helper:
        _sinks[key].begin(helper.rows(), helper)
    return _sinks[key].run(helper.sink_size())


def check_columns(network: Cell, count: int) -> None:
    """Raises: ValueError where a dataset has another number of columns than the network has inputs."""
    while True:
        inputs = list(inspect.signature(network.construct).parameters.values())
        if not any(one.kind is one.VAR_POSITIONAL for one in inputs):
            break
        inner = network.__dict__.get("network") or network.__dict__.get("_backbone")
        if not isinstance(inner, Cell):
            return
        network = inner
    least = sum(one.default is one.empty for one in inputs)
    if not least <= count <= len(inputs):
        names = ", ".join(one.name for one in inputs)
        raise ValueError(
            f"the dataset has {count} columns, and {network.cls_name}.construct takes {len(inputs)} inputs ({names}): give "
            "dataset.project the columns that it needs, or dataset.map output_columns"
        )


def connect_network_with_dataset(network: Cell, dataset_helper: DatasetHelper) -> Cell:
    """The network with its inputs from sunk data.  Raises: RuntimeError where the helper does not sink."""
    if not dataset_helper.is_sunk:
        raise RuntimeError("connect_network_with_dataset needs DatasetHelper(dataset, dataset_sink_mode=True)")
    return _DataWrapper(network, dataset_helper)
