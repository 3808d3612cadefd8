"""Gradients of several ranks as one.  Source: nn/wrap/grad_reducer.py of r1.1, read."""

from __future__ import annotations

import sys
from typing import Any

from mindspore._device.operation import apply
from mindspore.communication._ranks import group_size
from mindspore.nn.cell import Cell
from npu_bridge.hccl import hccl_ops
from npu_bridge.npu_init import tf

__all__ = ["DistributedGradReducer"]


class DistributedGradReducer(Cell):
    """Adds the gradients of all ranks, in float32; with `mean`, divides them by `degree`, without one by the number of ranks.

    Raises: ValueError for a degree that is not above 0.
    """

    def __init__(self, parameters: Any, mean: bool = True, degree: int | None = None) -> None:
        super().__init__(auto_prefix=False)
        if degree is not None and (not isinstance(degree, int) or degree <= 0):
            raise ValueError(f"DistributedGradReducer(degree={degree!r}): a whole number above 0")
        self.mean, self.degree = mean, degree or group_size()
        if mean and self.degree != group_size():
            print(
                f"mindspore: gradients of {group_size()} ranks are divided by {self.degree}, the device_num that is set: "
                "`tf2npu run --devices` starts as many ranks",
                file=sys.stderr,
            )
        self.allreduce_filter = tuple(not one.layerwise_parallel for one in parameters)

    def construct(self, grads: Any) -> Any:
        shared = zip(grads, self.allreduce_filter, strict=True)
        return tuple(self._reduced(gradient) if is_shared else gradient for gradient, is_shared in shared)

    def _reduced(self, gradient: Any) -> Any:
        return apply(("sum of ranks", self.mean, self.degree), self._sum, gradient)

    def _sum(self, node: Any) -> Any:
        total = hccl_ops.allreduce(tf.cast(node, tf.float32), "sum")
        return tf.cast(total * (1.0 / self.degree) if self.mean else total, node.dtype)
