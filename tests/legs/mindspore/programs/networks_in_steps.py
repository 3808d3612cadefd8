"""Trains one of the networks of the tests with set weights: the network's name, the mode and "scaled" come as words."""

import sys

import mindspore.nn as nn
from mindspore import Tensor, context

from tests.legs.mindspore import networks as N
from tests.legs.mindspore import training_cases as T

name, mode, *words = sys.argv[1:]
context.set_context(mode=getattr(context, mode), device_target="Ascend")
network = T.Linear() if name == "Linear" else N.set_weights(getattr(N, name)())
optimizer = nn.Momentum(network.trainable_params(), 0.1, 0.9)
with_loss = nn.WithLossCell(network, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
if "scaled" in words:
    manager = nn.DynamicLossScaleUpdateCell(loss_scale_value=2**12, scale_factor=2, scale_window=5)
    step = nn.TrainOneStepWithLossScaleCell(with_loss, optimizer, scale_sense=manager)
elif "own" in words:
    step = N.OwnTrainOneStepCell(with_loss, optimizer)
else:
    step = nn.TrainOneStepCell(with_loss, optimizer)
step.set_train()
batches = {"Transformer": N.sentences, "Linear": lambda: T.with_an_overflow(N.rows(), at=1)}.get(name, N.images)
for data, label in batches():
    loss = step(Tensor(data), Tensor(label))
    print("loss", loss[0] if isinstance(loss, tuple) else loss)
