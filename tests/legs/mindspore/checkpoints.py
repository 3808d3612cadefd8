"""A checkpoint of the small LeNet, which real MindSpore and the project's package write and read for each other. By hand:

    PYTHON -m tests.legs.mindspore.checkpoints write FILE.ckpt
    PYTHON -m tests.legs.mindspore.checkpoints read FILE.ckpt

PYTHON is one with real MindSpore, or the project's with tf2npu/adapters/mindspore on PYTHONPATH. `read` prints how far the logits
of the network with the file's weights are from the recorded ones.
"""

from __future__ import annotations

import sys

import numpy as np
from mindspore import Tensor, context
from mindspore.train.serialization import load_checkpoint, load_param_into_net, save_checkpoint

from tests.legs.mindspore import networks as N
from tests.legs.mindspore.recordings import read


def logits(network: N.LeNet) -> np.ndarray:
    """The network's output for the first batch of images."""
    network.set_train(False)
    return network(Tensor(next(N.images())[0])).asnumpy()


def write(path: str) -> np.ndarray:
    """Writes a checkpoint of the network with drawn weights, and gives its logits."""
    network = N.set_weights(N.LeNet(), seed=11)
    save_checkpoint(network, path)
    return logits(network)


def logits_of(path: str) -> np.ndarray:
    """The logits of the network with the weights of a checkpoint."""
    network = N.LeNet()
    load_param_into_net(network, load_checkpoint(path))
    return logits(network)


def main(verb: str, path: str) -> None:
    """Writes or reads a checkpoint by hand."""
    context.set_context(mode=context.GRAPH_MODE)
    found = write(path) if verb == "write" else logits_of(path)
    print("largest difference of a logit:", np.abs(found - read("checkpoint.npz")["lenet"]["logits"]).max())


if __name__ == "__main__":
    main(*sys.argv[1:])
