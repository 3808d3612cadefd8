"""Parameters that all ranks get from rank 0 before they begin."""

from __future__ import annotations

from mindspore._device.program import run_traced
from mindspore.common.tensor import Tensor
from mindspore.communication._ranks import group_size
from mindspore.nn.cell import Cell
from npu_bridge.hccl import hccl_ops


def broadcast_parameters(network: Cell) -> None:
    """Gives every rank the parameters of rank 0, one rank alone nothing."""
    parameters = list((network.parameters_broadcast_dict() or {}).values())
    if group_size() == 1 or not parameters:
        return
    own = [Tensor(one.asnumpy()) for one in parameters]
    values = run_traced(("broadcast", len(own)), lambda *given: _of_rank_0(given), own)
    for parameter, value in zip(parameters, values, strict=True):
        parameter.set_data(value)


def _of_rank_0(given: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return tuple(map(Tensor, hccl_ops.broadcast([one.raw() for one in given], 0)))
