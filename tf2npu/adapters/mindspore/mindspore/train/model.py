"""Model: training, evaluation and prediction.  Source: train/model.py of r1.1, read."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from mindspore import nn
from mindspore._device.settings import is_graph_mode, settings
from mindspore._device.sink import RowShapes
from mindspore.context import ParallelMode
from mindspore.nn.cell import Cell
from mindspore.nn.metrics import get_metrics
from mindspore.parallel._utils import _get_device_num, _get_parallel_mode, _get_parameter_broadcast
from mindspore.train import amp
from mindspore.train.callback import RunContext, _CallbackManager, _InternalCallbackParam
from mindspore.train.dataset_helper import (
    DatasetHelper,
    check_columns,
    check_sink_size,
    checked_size,
    connect_network_with_dataset,
)
from mindspore.train.parameter_broadcast import broadcast_parameters

__all__ = ["Model"]


class Model:
    """A network with its loss, optimizer and metrics.

    loss_fn: without one, the network gives the loss.  eval_indexes: where the outputs of eval_network have the loss, the
    prediction and the label.  amp_level: "O0", "O2", "O3" or "auto".  kwargs: loss_scale_manager, keep_batchnorm_fp32.
    """

    def __init__(
        self, network: Cell, loss_fn: Cell | None = None, optimizer: Cell | None = None, metrics: Any = None,
        eval_network: Cell | None = None, eval_indexes: list[int] | None = None, amp_level: str = "O0", **kwargs: Any,
    ) -> None:  # fmt: skip
        for name in kwargs:
            if name not in ("loss_scale_manager", "keep_batchnorm_fp32"):
                raise ValueError(f"Model({name}=...): r1.1 has no argument of this name")
        self._network, self._loss_fn, self._optimizer = network, loss_fn, optimizer
        self._amp_level, self._amp_options = amp_level, kwargs
        self._loss_scale_manager = kwargs.get("loss_scale_manager")
        self._parallel_mode, self._device_number = _get_parallel_mode(), _get_device_num()
        self._is_training = self._is_broadcast = False
        self._train_network = self._built_train_network()
        self._metric_fns = get_metrics(metrics)
        self._eval_network, self._eval_indexes = self._built_eval_network(eval_network, eval_indexes)
        self._predict_network = network

    def _built_train_network(self) -> Cell:
        if self._optimizer is not None:
            return amp.build_train_network(self._network, self._optimizer, self._loss_fn, self._amp_level, **self._amp_options)
        if self._loss_scale_manager is not None:
            raise ValueError("Model(loss_scale_manager=...) needs optimizer= as well")
        return self._network if self._loss_fn is None else nn.WithLossCell(self._network, self._loss_fn)

    def _built_eval_network(self, network: Cell | None, indexes: list[int] | None) -> tuple[Cell | None, list[int] | None]:
        if not self._metric_fns:
            return None, None
        if network is not None:
            if indexes is not None and not (isinstance(indexes, list) and len(indexes) == 3):
                raise ValueError(f"Model(eval_indexes={indexes!r}): a list of three: where loss, prediction and label are")
            return network, indexes
        if self._loss_fn is None:
            raise ValueError("Model(metrics=...) needs loss_fn= or eval_network= as well")
        return nn.WithEvalCell(self._network, self._loss_fn, self._amp_level in ("O2", "O3", "auto")), [0, 1, 2]

    @property
    def train_network(self) -> Cell:
        """The cell of a step of training."""
        return self._train_network

    @property
    def eval_network(self) -> Cell | None:
        """The cell of an evaluation."""
        return self._eval_network

    @property
    def predict_network(self) -> Cell:
        """The cell of a prediction."""
        return self._predict_network

    def train(
        self, epoch: int, train_dataset: Any, callbacks: Any = None, dataset_sink_mode: bool = True, sink_size: int = -1
    ) -> None:  # fmt: skip
        """Trains.

        dataset_sink_mode: whether an epoch is one run of the device.  sink_size: the steps of a sunk epoch, -1 for the whole
        dataset.  Raises: TypeError, ValueError for arguments that do not fit.
        """
        _check_epoch(epoch)
        _check_sink_mode(dataset_sink_mode)
        check_sink_size(sink_size)
        self._check_devices()
        is_sunk = dataset_sink_mode and _can_sink("training")
        size = checked_size(train_dataset)
        told = self._told(callbacks, "train", sink_size if is_sunk and sink_size > 0 else size)
        told.update(train_network=self._train_network, epoch_num=epoch, optimizer=self._optimizer, loss_fn=self._loss_fn)
        told.update(train_dataset=train_dataset, train_dataset_element=None)
        helper = DatasetHelper(train_dataset, is_sunk, sink_size if is_sunk else -1, epoch)
        self._broadcast_once()
        self._is_training = True
        try:
            with _CallbackManager(_as_list(callbacks)) as listeners:
                self._train(epoch, helper, listeners, told)
        finally:
            self._is_training = False

    def _train(self, epoch: int, helper: DatasetHelper, listeners: Any, told: Any) -> None:
        run_context = RunContext(told)
        step = connect_network_with_dataset(self._train_network, helper) if helper.is_sunk else self._train_network
        n_steps = helper.sink_size() if is_graph_mode() else 1
        listeners.begin(run_context)
        for told.cur_epoch_num in range(1, epoch + 1):
            listeners.epoch_begin(run_context)
            self._train_network.set_train()
            for inputs in helper:
                told.train_dataset_element = inputs
                if not helper.is_sunk:
                    self._check_row(inputs)
                    told.cur_step_num += 1
                listeners.step_begin(run_context)
                told.net_outputs = step(*inputs)
                if helper.is_sunk:
                    told.cur_step_num += n_steps
                else:
                    self._hear_overflow(told.net_outputs)
                listeners.step_end(run_context)
                if run_context.get_stop_requested() and not helper.is_sunk:
                    break
            listeners.epoch_end(run_context)
            if run_context.get_stop_requested():
                break
        listeners.end(run_context)

    def _check_row(self, inputs: tuple[Any, ...]) -> None:
        if self._loss_fn is not None and len(inputs) != 2:
            raise ValueError(
                f"the dataset has {len(inputs)} columns, and a Model with loss_fn takes two, data and label: give "
                "dataset.project the two, or put the loss into the network"
            )
        check_columns(self._train_network, len(inputs))

    def _hear_overflow(self, outputs: Any) -> None:
        manager = self._loss_scale_manager
        if manager is not None and manager.get_drop_overflow_update():
            manager.update_loss_scale(bool(np.all(outputs[1].asnumpy())))

    def _broadcast_once(self) -> None:
        if not self._is_broadcast and _get_parameter_broadcast():
            broadcast_parameters(self._train_network)
        self._is_broadcast = True

    def _check_devices(self) -> None:
        if self._parallel_mode == ParallelMode.STAND_ALONE and self._device_number != 1:
            raise ValueError("parallel_mode is STAND_ALONE and device_num is not 1: set_auto_parallel_context has both")

    def _told(self, callbacks: Any, mode: str, batch_num: int) -> Any:
        return _InternalCallbackParam(
            mode=mode, batch_num=batch_num, cur_step_num=0, network=self._network, list_callback=_as_list(callbacks),
            parallel_mode=self._parallel_mode, device_number=self._device_number,
        )  # fmt: skip

    def eval(self, valid_dataset: Any, callbacks: Any = None, dataset_sink_mode: bool = True) -> dict[str, Any]:
        """The metrics of a dataset by name.  Raises: ValueError without metrics."""
        _check_sink_mode(dataset_sink_mode)
        if self._eval_network is None:
            raise ValueError("Model.eval needs metrics: Model(..., metrics={'acc'})")
        told = self._told(callbacks, "eval", checked_size(valid_dataset))
        told.update(eval_network=self._eval_network, valid_dataset=valid_dataset)
        for metric in self._metric_fns.values():
            metric.clear()
        is_sunk = dataset_sink_mode and _can_sink("evaluation")
        try:
            with _CallbackManager(_as_list(callbacks)) as listeners:
                return self._eval(_items(valid_dataset, is_sunk), listeners, told)
        finally:
            if self._is_training:
                self._train_network.set_train()

    def _eval(self, items: Iterable[Any], listeners: Any, told: Any) -> dict[str, Any]:
        run_context = RunContext(told)
        listeners.begin(run_context)
        self._eval_network.set_train(False)
        for inputs in items:
            check_columns(self._eval_network, len(inputs))
            told.cur_step_num += 1
            listeners.step_begin(run_context)
            told.net_outputs = self._eval_network(*inputs)
            listeners.step_end(run_context)
            self._update_metrics(told.net_outputs)
        told.metrics = {name: metric.eval() for name, metric in self._metric_fns.items()}
        listeners.end(run_context)
        return dict(told.metrics)

    def _update_metrics(self, outputs: Any) -> None:
        if not isinstance(outputs, tuple):
            raise ValueError(f"eval_network gives {type(outputs).__name__}, and metrics take a tuple")
        if self._eval_indexes is not None and len(outputs) < 3:
            raise ValueError(f"eval_network gives {len(outputs)} outputs, and metrics take loss, prediction and label")
        for metric in self._metric_fns.values():
            if self._eval_indexes is None:
                metric.update(*outputs)
                continue
            loss, prediction, label = (outputs[i] for i in self._eval_indexes)
            metric.update(*((loss,) if isinstance(metric, nn.Loss) else (prediction, label)))

    def predict(self, *predict_data: Any) -> Any:
        """The network's outputs for tensors."""
        self._predict_network.set_train(False)
        try:
            return self._predict_network(*predict_data)
        finally:
            if self._is_training:
                self._train_network.set_train()

    def init(self, train_dataset: Any = None, valid_dataset: Any = None, sink_size: int = -1) -> None:
        """Checks what could be compiled ahead; graphs are made at the first step here.  Raises: RuntimeError, ValueError."""
        if not is_graph_mode() or settings["device_target"] != "Ascend":
            raise RuntimeError('Model.init is for GRAPH_MODE and the target "Ascend"')
        if train_dataset is None and valid_dataset is None:
            raise ValueError("Model.init needs train_dataset= or valid_dataset=")
        if valid_dataset is not None and not self._metric_fns:
            raise RuntimeError("Model.init(valid_dataset=...) needs metrics: Model(..., metrics={'acc'})")
        check_sink_size(sink_size)

    _init = init


def _check_epoch(epoch: Any) -> None:
    if not isinstance(epoch, int) or isinstance(epoch, bool) or epoch < 1:
        raise ValueError(f"Model.train(epoch={epoch!r}): a whole number above 0")


def _check_sink_mode(value: Any) -> None:
    if not isinstance(value, bool):
        raise TypeError(f"dataset_sink_mode={value!r}: True or False")


def _can_sink(what: str) -> bool:
    """Whether data can be sunk; a line on stderr says where they cannot."""
    if settings["device_target"] != "CPU":
        return True
    print(f'mindspore: data cannot be sunk on the target "CPU": the {what} takes them batch by batch', file=sys.stderr)
    return False


def _as_list(callbacks: Any) -> list[Any]:
    return [] if callbacks is None else list(callbacks) if isinstance(callbacks, (list, tuple)) else [callbacks]


def _items(dataset: Any, is_sunk: bool) -> Iterator[tuple[Any, ...]]:
    """The batches of an evaluation; where they are sunk, all have the shape of the first."""
    shapes = None
    for row in DatasetHelper(dataset, dataset_sink_mode=False):
        if is_sunk and is_graph_mode():
            values = tuple(one.asnumpy() for one in row)
            shapes = shapes or RowShapes(values)
            shapes.check(values)
        yield row
