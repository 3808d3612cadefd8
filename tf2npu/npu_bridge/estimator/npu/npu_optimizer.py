"""Optimizers that average gradients over the ranks."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import tensorflow as tf
from keras.src.optimizers.legacy import optimizer_v2
from npu_bridge import _environment
from npu_bridge._host_differences import accept
from npu_bridge.estimator.npu import util
from npu_bridge.estimator.npu._averaged_gradients import averaged_pairs, gathered
from npu_bridge.estimator.npu.npu_loss_scale_optimizer import scaled_gradients, update_if_finite
from npu_bridge.hccl import hccl_ops

Gradient = tf.Tensor | tf.IndexedSlices
GradsAndVars = list[tuple[Gradient | None, tf.Variable]]


def _rank_size() -> int:
    return int(util.get_ranksize())


def allreduce(tensor: Gradient, average: bool = True) -> Gradient:
    """Sum ``tensor`` over the ranks, divided by their number when ``average``; slices are gathered instead."""
    return npu_allreduce(tensor, "mean" if average else "sum")


def reduce(tensor: tf.Tensor, root_rank: int, average: bool = True, fusion: int = 0, fusion_id: int = -1) -> tf.Tensor:
    """Sum ``tensor`` on the root rank, which alone divides when ``average``; ValueError without DEVICE_ID."""
    local_rank = os.environ.get("DEVICE_ID")
    if local_rank is None:
        raise ValueError("DEVICE_ID is not set; reduce needs it to know whether this is the root")
    if "DEVICE_ID" in _environment.was_set:
        accept("reduce_device_id")
    summed = hccl_ops.reduce(tensor, "sum", root_rank, fusion, fusion_id)
    return summed / tf.cast(_rank_size(), summed.dtype) if average and int(local_rank) == root_rank else summed


def npu_allreduce(
    values: Gradient | Sequence[Gradient],
    reduction: str = "mean",
    fusion: int = 1,
    fusion_id: int = -1,
    group: str = "hccl_world_group",
) -> Any:
    """Combine one tensor, or each of a list, over the ranks of ``group``; 'mean' is the sum divided by the rank size.

    IndexedSlices stay IndexedSlices: indices and values of all ranks, the values divided for 'mean'.
    """
    if isinstance(values, list | tuple):
        return [npu_allreduce(value, reduction, fusion, fusion_id, group) for value in values]
    size = _rank_size()
    if isinstance(values, tf.IndexedSlices):
        rows, indices = gathered(values, size, group)
        if reduction == "mean":
            rows = rows / tf.cast(size, rows.dtype)
        return tf.IndexedSlices(rows, indices, values.dense_shape)
    total = hccl_ops.allreduce(values, "sum" if reduction == "mean" else reduction, fusion, fusion_id, group)
    return total / tf.cast(size, total.dtype) if reduction == "mean" and size > 1 else total


class NPUDistributedOptimizer(tf.train.Optimizer):
    """Averages the inner optimizer's gradients over the ranks; with one rank it hands everything through.

    Raises: ValueError for weight-update sharding without DEVICE_ID or with fewer gradients than ranks.
    """

    def __init__(self, optimizer: tf.train.Optimizer, is_weight_update_sharding: bool = False, name: str | None = None) -> None:
        self._optimizer = optimizer
        self._is_weight_update_sharding = is_weight_update_sharding
        super().__init__(use_locking=False, name=name or f"Distributed{type(optimizer).__name__}")

    def compute_gradients(self, *args: Any, **kwargs: Any) -> GradsAndVars:
        """The inner optimizer's gradients, averaged over the ranks."""
        gradients = self._optimizer.compute_gradients(*args, **kwargs)
        size = _rank_size()
        if size <= 1:
            return gradients
        if self._is_weight_update_sharding:
            return self._sharded(gradients, size)
        return averaged_pairs(gradients, allreduce)

    def _sharded(self, gradients: GradsAndVars, size: int) -> GradsAndVars:
        if "DEVICE_ID" not in os.environ:
            raise ValueError("weight-update sharding needs DEVICE_ID")
        util.add_grads_and_vars(gradients, size)
        return averaged_pairs(gradients, lambda grad: reduce(grad, util.get_gid_by_grad(grad)))

    def apply_gradients(self, grads_and_vars: Any, *args: Any, **kwargs: Any) -> tf.Operation:
        """Apply gradients with the inner optimizer; with sharding each rank its own, then all get the others' variables."""
        if not self._is_weight_update_sharding or _rank_size() <= 1:
            return self._optimizer.apply_gradients(grads_and_vars, *args, **kwargs)
        pairs = [(grad, var) for grad, var in grads_and_vars if grad is not None]
        owners = [util.get_gid_by_weight(var) for _, var in pairs]
        own = [pair for pair, owner in zip(pairs, owners, strict=True) if owner == int(os.environ["DEVICE_ID"])]
        with tf.control_dependencies([grad for grad, _ in pairs]):  # every rank takes part in every reduction
            applied = self._optimizer.apply_gradients(own, *args, **kwargs)
        with tf.control_dependencies([applied]):
            return tf.group(
                *[
                    tf.assign(var, hccl_ops.broadcast([var.read_value()], owner)[0])
                    for (_, var), owner in zip(pairs, owners, strict=True)
                ]
            )

    def get_slot(self, *args: Any, **kwargs: Any) -> tf.Variable | None:
        """A slot of the inner optimizer."""
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list[str]:
        """Names of the inner optimizer's slots."""
        return self._optimizer.get_slot_names(*args, **kwargs)

    def variables(self, *args: Any, **kwargs: Any) -> list[tf.Variable]:
        """Variables of the inner optimizer."""
        return self._optimizer.variables(*args, **kwargs)


class NPUOptimizer(tf.train.Optimizer):
    """Averaging over ranks and loss scaling in one optimizer.

    Raises: ValueError when ``is_loss_scale`` is set without a manager.
    """

    def __init__(
        self,
        opt: tf.train.Optimizer,
        loss_scale_manager: Any = None,
        is_distributed: bool = False,
        is_loss_scale: bool = False,
        is_tailing_optimization: bool = False,
        name: str | None = None,
    ) -> None:
        if is_loss_scale and loss_scale_manager is None:
            raise ValueError("is_loss_scale=True needs a loss_scale_manager")
        self._opt = opt
        self._loss_scale_manager = loss_scale_manager
        self._is_distributed = is_distributed
        self._is_loss_scale = is_loss_scale
        self._is_tailing_optimization = is_tailing_optimization
        super().__init__(use_locking=False, name=name or f"NPUOptimizer{type(opt).__name__}")

    def compute_gradients(self, loss: Any, var_list: Any = None, *args: Any, **kwargs: Any) -> GradsAndVars:
        """Gradients of the unscaled loss, averaged over the ranks."""
        if not self._is_loss_scale:
            return self._averaged(self._opt.compute_gradients(loss, var_list, *args, **kwargs))
        scale = self._loss_scale_manager.get_loss_scale()
        return scaled_gradients(self._opt, scale, loss, var_list, args, kwargs, self._averaged)

    def _averaged(self, gradients: GradsAndVars) -> GradsAndVars:
        if not self._is_distributed or _rank_size() <= 1:
            return gradients
        return averaged_pairs(gradients, allreduce)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> tf.Operation:
        """Apply the gradients; under loss scaling only when all are finite, and let the manager change the scale."""
        pairs = list(grads_and_vars)
        if not self._is_loss_scale:
            return self._opt.apply_gradients(pairs, global_step, name)
        return update_if_finite(self._opt, self._loss_scale_manager, pairs, global_step, name, self._is_distributed)

    def get_slot(self, *args: Any, **kwargs: Any) -> tf.Variable | None:
        """A slot of the inner optimizer."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list[str]:
        """Names of the inner optimizer's slots."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self, *args: Any, **kwargs: Any) -> list[tf.Variable]:
        """Variables of the inner optimizer."""
        return self._opt.variables(*args, **kwargs)


def _average_gradients(gradients: Any, size: int, variables: Sequence[Any] = ()) -> Any:
    """gradients: with their variables in pairs, or alone, in the order of `variables`."""
    if size <= 1:
        return gradients
    if all(isinstance(item, tuple) for item in gradients):
        return averaged_pairs(gradients, allreduce)
    owners = variables if len(variables) == len(gradients) else gradients
    return [gradient for gradient, _ in averaged_pairs(zip(gradients, owners, strict=True), allreduce)]


def _averaging(method: Callable[..., Any], size: int) -> Callable[..., Any]:
    @wraps(method)
    def averaged(*args: Any, **kwargs: Any) -> Any:
        variables = kwargs.get("params") or (args[1] if len(args) > 1 else None)
        return _average_gradients(method(*args, **kwargs), size, variables or ())

    return averaged


def npu_distributed_optimizer_wrapper(optimizer: Any) -> Any:
    """Make an optimizer average its gradients over the ranks, in place; the name of a Keras optimizer is taken too."""
    if isinstance(optimizer, str):
        optimizer = tf.keras.optimizers.get(optimizer)
    size = _rank_size()
    inner = getattr(optimizer, "optimizer", None)
    target = inner if isinstance(optimizer, tf.keras.optimizers.Optimizer) and inner is not None else optimizer
    for name in ("compute_gradients", "get_gradients", "_compute_gradients"):
        if callable(getattr(target, name, None)):
            setattr(target, name, _averaging(getattr(target, name), size))
    return optimizer


class KerasDistributeOptimizer(optimizer_v2.OptimizerV2):
    """A Keras optimizer that averages the inner one's gradients over the ranks."""

    def __init__(self, optimizer: Any, name: str = "NpuKerasOptimizer", **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        self._optimizer = _as_keras_optimizer(optimizer)
        self._hyper = getattr(self._optimizer, "_hyper", self._hyper)
        self._inner_get_gradients = self._optimizer.get_gradients
        self._optimizer.get_gradients = self.get_gradients

    def get_gradients(self, loss: Any, params: Any) -> list[Any]:
        """Gradients of ``loss``, averaged over the ranks."""
        return _average_gradients(self._inner_get_gradients(loss, params), _rank_size(), params)

    def get_updates(self, loss: Any, params: Any) -> list[Any]:
        """The inner optimizer's updates for the averaged gradients."""
        return self._optimizer.get_updates(loss, params)

    def apply_gradients(self, grads_and_vars: Any, name: str | None = None, **kwargs: Any) -> Any:
        """Apply gradients with the inner optimizer."""
        return self._optimizer.apply_gradients(grads_and_vars, name, **kwargs)

    @property
    def weights(self) -> list[tf.Variable]:
        """The inner optimizer's variables."""
        return self._optimizer.weights

    @property
    def iterations(self) -> tf.Variable:
        """The inner optimizer's step count."""
        return self._optimizer.iterations

    @iterations.setter
    def iterations(self, variable: tf.Variable) -> None:
        self._optimizer.iterations = variable

    def get_config(self) -> dict[str, Any]:
        """Name and, under ``optimizer``, the inner optimizer's Keras description, which a saved model can carry."""
        return {"name": self._name, "optimizer": tf.keras.optimizers.serialize(self._optimizer)}

    def _create_hypers(self) -> None:
        self._optimizer._create_hypers()

    def _create_all_weights(self, var_list: Any) -> None:
        self._optimizer._create_all_weights(var_list)

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> KerasDistributeOptimizer:
        """Build from ``get_config``; the inner optimizer may be an object or its Keras description."""
        return cls(_as_keras_optimizer(config.get("optimizer", "sgd")), name=config.get("name", "NpuKerasOptimizer"))


def _as_keras_optimizer(optimizer: Any) -> Any:
    return tf.keras.optimizers.get(optimizer) if isinstance(optimizer, str | dict) else optimizer
