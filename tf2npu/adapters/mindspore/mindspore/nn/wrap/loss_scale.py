"""Training with a scaled loss, in which updates that overflow are dropped.  Source: nn/wrap/loss_scale.py of r1.1, read."""

from __future__ import annotations

from typing import Any

import numpy as np
from mindspore._device.branches import branch
from mindspore._device.operation import apply
from mindspore.common.dtype import float32, int32
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.wrap.cell_wrapper import TrainOneStepCell
from mindspore.ops import operations
from mindspore.ops.composite import HyperMap
from mindspore.ops.functional import assign
from npu_bridge.hccl import hccl_ops
from npu_bridge.npu_init import tf

__all__ = ["DynamicLossScaleUpdateCell", "FixedLossScaleUpdateCell", "TrainOneStepWithLossScaleCell"]


class DynamicLossScaleUpdateCell(Cell):
    """Divides the scale by `scale_factor` after an overflow, not below 1, and multiplies it after `scale_window` steps without.

    A call takes the parameter with the scale and whether there was an overflow, and gives the latter.
    """

    def __init__(self, loss_scale_value: float, scale_factor: float, scale_window: int) -> None:
        super().__init__()
        self.loss_scale_value, self.scale_factor, self.scale_window = loss_scale_value, scale_factor, scale_window
        self.cur_iter = Parameter(Tensor(1, int32), name="current_iterator_step")
        self.last_overflow_iter = Parameter(Tensor(0, int32), name="last_overflow_iterator_step")

    def get_loss_scale(self) -> float:
        """The first scale."""
        return self.loss_scale_value

    def construct(self, loss_scale: Any, overflow: Any) -> Any:
        key = "next loss scale", self.scale_factor, self.scale_window
        scale, last = apply(key, self._next, loss_scale, overflow, self.cur_iter, self.last_overflow_iter)
        assign(self.last_overflow_iter, last)
        assign(loss_scale, scale)
        assign(self.cur_iter, self.cur_iter + 1)
        return overflow

    def _next(self, scale: Any, overflow: Any, step: Any, last: Any) -> tuple[Any, Any]:
        overflow = tf.reshape(overflow, ())
        is_due = tf.greater_equal(step - last, self.scale_window)
        smaller = tf.maximum(scale / self.scale_factor, 1.0)
        larger = tf.where(is_due, scale * self.scale_factor, scale)
        return tf.where(overflow, smaller, larger), tf.where(tf.logical_or(overflow, is_due), step, last)


class FixedLossScaleUpdateCell(Cell):
    """Leaves the scale as it is."""

    def __init__(self, loss_scale_value: float) -> None:
        super().__init__()
        self.loss_scale_value = loss_scale_value

    def get_loss_scale(self) -> float:
        """The scale."""
        return self.loss_scale_value

    def construct(self, _: Any, overflow: Any) -> Any:
        return overflow


class TrainOneStepWithLossScaleCell(TrainOneStepCell):
    """A step with a scaled loss; gives the loss, whether a gradient overflowed, and the scale.

    scale_sense: a tensor with the scale, or the cell that changes it.  The device's float status tells an overflow.
    """

    def __init__(self, network: Cell, optimizer: Cell, scale_sense: Any) -> None:
        super().__init__(network, optimizer, sens=None)
        self.is_distributed = self.reducer_flag
        self._give_parts()
        self.loss_scaling_manager = None
        if isinstance(scale_sense, Cell):
            self.loss_scaling_manager = scale_sense
            scale_sense = Tensor(scale_sense.get_loss_scale(), float32)
        if not isinstance(scale_sense, Tensor):
            raise TypeError(f"scale_sense is a Tensor or a Cell, not {type(scale_sense).__name__}")
        if scale_sense.shape not in ((), (1,)):
            raise ValueError(f"the shape of scale_sense is () or (1,), not {scale_sense.shape}")
        self.scale_sense = Parameter(scale_sense, name="scale_sense")

    def _give_parts(self) -> None:
        """Gives the cell the operators by which classes derived from it write a construct of their own, as those of r1.1."""
        self.hyper_map, self.reduce_sum, self.less_equal = (
            HyperMap(),
            operations.ReduceSum(keep_dims=False),
            operations.LessEqual(),
        )
        self.alloc_status, self.get_status = operations.NPUAllocFloatStatus(), operations.NPUGetFloatStatus()
        self.clear_status, self.allreduce = operations.NPUClearFloatStatus(), operations.AllReduce()
        self.depend_parameter_use = operations.ControlDepend(depend_mode=1)
        self.base, self.gpu_target = Tensor(1, float32), False

    def construct(self, *inputs: Any) -> Any:
        loss = self.network(*inputs)
        status = self.alloc_status()
        self.clear_status(status)
        scale = self.scale_sense + 0.0
        sens = apply("scale like", _spread, scale, loss)
        gradients = self.grad(self.network, self.weights)(*inputs, sens)
        gradients = tuple(apply("scaled down", _scaled_down, one, scale) for one in gradients)
        gradients = self.grad_reducer(gradients)
        self.get_status(status)
        overflow = cond = apply(("overflow", self.is_distributed), self._overflowed, status)
        if self.loss_scaling_manager is not None:
            overflow = self.loss_scaling_manager(self.scale_sense, cond)
        branch(overflow, lambda: False, lambda: self._updated(gradients), (), (), "TrainOneStepWithLossScaleCell")
        return loss, cond, scale

    def _updated(self, gradients: tuple[Any, ...]) -> bool:
        self.optimizer(gradients)
        return False

    def _overflowed(self, status: Any) -> Any:
        """Whether the status of any rank tells an overflow."""
        total = tf.reduce_sum(status)
        return tf.greater(hccl_ops.allreduce(total, "sum", fusion=0) if self.is_distributed else total, 0.0)

    def set_sense_scale(self, sens: Tensor) -> None:
        """Gives the scale another value.  Raises: TypeError for what is no Tensor."""
        if not isinstance(sens, Tensor):
            raise TypeError(f"set_sense_scale takes a Tensor, not {type(sens).__name__}")
        self.scale_sense.set_data(Tensor(np.reshape(sens.asnumpy(), self.scale_sense.shape)))


def _spread(scale: Any, loss: Any) -> Any:
    return tf.fill(loss.shape, tf.cast(tf.reshape(scale, ()), loss.dtype))


def _scaled_down(gradient: Any, scale: Any) -> Any:
    return gradient * tf.cast(1.0 / tf.reshape(scale, ()), gradient.dtype)
