"""Operators between ranks.  Source: ops/operations/comm_ops.py of r1.1, read."""

from __future__ import annotations

from typing import Any

from mindspore._device.operation import apply
from mindspore.communication._ranks import WORLD
from mindspore.ops.primitive import Primitive
from npu_bridge.hccl import hccl_ops

__all__ = ["AllGather", "AllReduce", "Broadcast", "ReduceOp", "ReduceScatter"]


class ReduceOp:
    """The ways to make one tensor of those of all ranks."""

    SUM = "sum"
    MAX = "max"
    MIN = "min"
    PROD = "prod"


class _OfRanks(Primitive):
    """An operator between the ranks of a group.  Raises: TypeError, ValueError for attributes of another kind."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        if not isinstance(self.attrs["group"], str):
            raise TypeError(f"{self.name}(group={self.attrs['group']!r}): the name of a group, a text")
        if self.attrs.get("op", ReduceOp.SUM) not in hccl_ops.REDUCTIONS:
            raise ValueError(f"{self.name}(op={self.attrs['op']!r}): one of {', '.join(hccl_ops.REDUCTIONS)}")


class AllReduce(_OfRanks):
    """Gives every rank the sum, the largest, the smallest or the product."""

    defaults = (("op", ReduceOp.SUM), ("group", WORLD))

    @staticmethod
    def compute(node: Any, op: str, group: str) -> Any:
        return hccl_ops.allreduce(node, op, group=group)


class AllGather(_OfRanks):
    """Gives every rank the tensors of all, joined along the first axis."""

    defaults = (("group", WORLD),)

    @staticmethod
    def compute(node: Any, group: str) -> Any:
        return hccl_ops.allgather(node, hccl_ops.group_size(group), group)


class ReduceScatter(_OfRanks):
    """Makes one tensor of those of all ranks, and gives each rank its part along the first axis."""

    defaults = (("op", ReduceOp.SUM), ("group", WORLD))

    @staticmethod
    def compute(node: Any, op: str, group: str) -> Any:
        n_ranks = hccl_ops.group_size(group)
        if node.shape[0] % n_ranks:
            raise ValueError(f"ReduceScatter: the first extent, {node.shape[0]}, is no multiple of the {n_ranks} ranks")
        return hccl_ops.reduce_scatter(node, op, n_ranks, group)


class Broadcast(_OfRanks):
    """Gives every rank the tuple of tensors of one."""

    defaults = (("root_rank", 0), ("group", WORLD))

    def __call__(self, *given: Any) -> Any:
        tensors = given[0] if len(given) == 1 and isinstance(given[0], (tuple, list)) else given
        root, group = self.attrs["root_rank"], self.attrs["group"]
        return apply(
            ("Broadcast", root, group), lambda *nodes: tuple(hccl_ops.broadcast(list(nodes), root, group=group)), *tensors
        )
