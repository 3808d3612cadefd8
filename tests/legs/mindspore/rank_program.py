"""The program of a rank: collectives, groups, and trainings that share their data.  Its argument is the folder of its results."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

import mindspore as ms
import numpy as np
from mindspore import Tensor, context, nn, ops
from mindspore.communication.management import (
    create_group,
    get_group_rank_from_world_rank,
    get_group_size,
    get_local_rank,
    get_rank,
    init,
)
from mindspore.context import ParallelMode

from tests.legs.mindspore.small_training import BATCH, Matrix, SquaredError, columns


def half(values, rank, size):
    """A rank's part of each batch of `size` times its batch."""
    return values.reshape(-1, size, BATCH // size, values.shape[-1])[:, rank].reshape(-1, values.shape[-1])


def dataset(rank, size):
    """The part of the rows that is a rank's, in smaller batches."""
    import mindspore.dataset as ds

    rows = tuple(half(values, rank, size) for values in columns())
    return ds.NumpySlicesDataset(rows, ["data", "label"], shuffle=False).batch(BATCH // size)


def collectives(rank):
    """Each operator on a tensor that tells the ranks apart."""
    mine = Tensor(np.arange(4, dtype=np.float32).reshape(2, 2) + 10 * rank)
    create_group("both", [1, 0])
    return {
        "sum": ops.AllReduce()(mine),
        "largest": ops.AllReduce(ops.ReduceOp.MAX)(mine),
        "gathered": ops.AllGather()(mine),
        "scattered": ops.ReduceScatter()(mine),
        "of rank 1": ops.Broadcast(1)((mine,))[0],
        "in the group": Tensor(get_group_rank_from_world_rank(rank, "both")),
        "gradient": ops.GradOperation()(Squares())(mine),
    }


class Squares(nn.Cell):
    """The sum over the ranks of squares."""

    def __init__(self):
        super().__init__()
        self.reduce = ops.AllReduce()

    def construct(self, x):
        return self.reduce(x * x)


def trained(rank, size, is_sunk, mean, scale=None, first=0.1, overflowing=None):
    """The matrix after two epochs of a part of the rows.  overflowing: the rank whose loss is no number."""
    context.set_auto_parallel_context(parallel_mode=ParallelMode.DATA_PARALLEL, gradients_mean=mean)
    network = Matrix()
    network.weight.set_data(Tensor(np.full(network.weight.shape, first, np.float32)))
    optimizer = nn.Momentum(network.trainable_params(), 0.1, 0.9)
    options = {} if scale is None else {"loss_scale_manager": scale}
    if rank == overflowing:
        network.weight.set_data(Tensor(np.full(network.weight.shape, 3e38, np.float32)))
    trainer = ms.Model(network, SquaredError(), optimizer, **options)
    trainer.train(2, dataset(rank, size), dataset_sink_mode=is_sunk)
    context.reset_auto_parallel_context()
    return network.weight


def main(folder):
    """Runs all cases and saves what they give."""
    context.set_context(mode=context.GRAPH_MODE, device_target="Ascend")
    init()
    rank, size = get_rank(), get_group_size()
    found = collectives(rank) | {"rank": Tensor(rank), "local rank": Tensor(get_local_rank())}
    for is_sunk in (False, True):
        found[f"mean {is_sunk}"] = trained(rank, size, is_sunk, True)
    found["total"] = trained(rank, size, True, False)
    context.set_auto_parallel_context(parameter_broadcast=True)
    found["broadcast"] = trained(rank, size, True, True, first=0.1 + rank)
    scale = ms.DynamicLossScaleManager(init_loss_scale=64)
    found["overflow"] = trained(rank, size, False, True, scale, overflowing=1)
    np.savez(Path(folder) / f"{rank}.npz", **{name: value.asnumpy() for name, value in found.items()})


if __name__ == "__main__":
    main(sys.argv[1])
