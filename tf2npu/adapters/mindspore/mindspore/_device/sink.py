"""Sunk training: several steps of a network in one run of the device, with data from a queue."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from mindspore._device import check_role
from mindspore._device.checked_steps import watched
from mindspore._device.session import store
from mindspore._device.structure import flat, rebuilt
from mindspore._device.trace import local_variable, new_trace
from mindspore.common.tensor import Tensor
from npu_bridge.estimator.npu._iterations import NAMES
from npu_bridge.estimator.npu.util import IterationPerLoop
from npu_bridge.npu_init import tf

Row = tuple[np.ndarray, ...]


class RowShapes:
    """The types and shapes of a dataset's rows, which a sunk graph has for all rows."""

    def __init__(self, row: Row) -> None:
        self.types = tuple(value.dtype for value in row)
        self.shapes = tuple(value.shape for value in row)

    @property
    def key(self) -> tuple[Any, ...]:
        """The types and shapes as something that compares."""
        return self.types, self.shapes

    def check(self, row: Row) -> None:
        """Raises: ValueError for a row of another shape or type."""
        for i, (value, kind, shape) in enumerate(zip(row, self.types, self.shapes, strict=True)):
            if value.shape != shape or value.dtype != kind:
                raise ValueError(
                    f"column {i} of the dataset is {kind} {shape} in its first batch, and {value.dtype} {value.shape} in a later "
                    "one: a sunk graph has one shape: give dataset.batch drop_remainder=True, or train with "
                    "dataset_sink_mode=False"
                )


class Sink:
    """A network with a queue before it: `run` does so many steps, and gives the outputs of the last one."""

    def __init__(self, network: Callable[..., Any], shapes: RowShapes) -> None:
        self._shapes = shapes
        self._rows: Iterator[Row] = iter(())
        self._error: Exception | None = None
        self.source: Any = None
        with new_trace() as trace:
            self._iterator = self._queue()
            outputs = network(*map(Tensor, self._columns(self._iterator.get_next())))
            self._outputs = outputs
            self._places = [i for i, one in enumerate(flat(outputs)) if isinstance(one, Tensor)]
            nodes = [one.raw() for one in flat(outputs) if isinstance(one, Tensor)]
            kept = self._kept(nodes)
            step = tf.group(*[one.assign(node) for one, node in zip(kept, nodes, strict=True)], *trace.written)
            self._loop = IterationPerLoop()
            with tf.name_scope("sink"):  # of several sinks each has an operation of the name that the device repeats
                self._step = self._loop.create_iteration_per_loop_var(step)
            with tf.control_dependencies(None):
                self._last = [one.read_value() for one in kept]
        self._device, self._watched = trace.device, watched(trace)

    def _queue(self) -> Any:
        shapes = tuple(map(tf.TensorShape, self._shapes.shapes))
        data = tf.data.Dataset.from_generator(self._checked, tuple(map(tf.as_dtype, self._shapes.types)), shapes)
        return data.prefetch(1).make_initializable_iterator()

    @staticmethod
    def _columns(nodes: Any) -> Sequence[Any]:
        return nodes if isinstance(nodes, (tuple, list)) else (nodes,)

    @staticmethod
    def _kept(nodes: Sequence[Any]) -> list[Any]:
        return [local_variable("sink/last", np.zeros(node.shape.as_list(), node.dtype.as_numpy_dtype)) for node in nodes]

    def _checked(self) -> Iterator[Row]:
        """The rows, for the queue; an error ends them, and `run` raises it."""
        try:
            for row in self._rows:
                self._shapes.check(row)
                yield row
        except Exception as error:
            self._error = error

    def begin(self, rows: Iterable[Row], source: Any) -> None:
        """Takes its data from here on from these rows.  source: whose they are."""
        self._rows, self._error, self.source = iter(rows), None, source
        self._device.run([], [self._iterator.initializer])

    def run(self, count: int) -> Any:
        """Does so many steps.  Raises: what the rows raise."""
        at_once = 1 if check_role.is_asked() else count
        for name, value in zip(NAMES, (at_once - 1, 0, 0, 1), strict=True):  # as load_iteration_per_loop_var sets them
            store(f"npu_runconfig/{name}", np.asarray(value, np.int64))
        try:
            for _ in range(0, count, at_once):
                self._run_step()
        except tf.errors.OpError:
            if self._error is not None:
                raise self._error from None
            raise
        values = dict(zip(self._places, self._device.run(self._last), strict=True))
        leaves = (Tensor(values[i]) if i in values else one for i, one in enumerate(flat(self._outputs)))
        return rebuilt(self._outputs, leaves)

    def _run_step(self) -> None:
        """One run of the device: all steps, or in a check one of them, which is written down."""
        if self._watched is None:
            self._device.run([], [self._step])
        else:
            self._watched.run([], [self._step], [], [], self._device)
