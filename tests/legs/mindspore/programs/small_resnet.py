"""A small residual network in mixed precision O2 with a fixed loss scale, weight decay in groups, and a warm-up of the rate."""

import mindspore.nn as nn
import numpy as np
from mindspore import Tensor, context
from mindspore.common import set_seed
from mindspore.ops import operations as P
from mindspore.train.callback import Callback
from mindspore.train.loss_scale_manager import FixedLossScaleManager
from mindspore.train.model import Model
from pictures import CLASSES, create_dataset

context.set_context(mode=context.GRAPH_MODE, device_target="Ascend")
set_seed(1)


def conv(in_channel, out_channel, kernel, stride=1):
    return nn.Conv2d(in_channel, out_channel, kernel, stride, pad_mode="same", weight_init="HeNormal")


class Residual(nn.Cell):
    def __init__(self, in_channel, out_channel, stride):
        super().__init__()
        self.conv1 = conv(in_channel, out_channel, 3, stride)
        self.bn1 = nn.BatchNorm2d(out_channel)
        self.conv2 = conv(out_channel, out_channel, 3)
        self.bn2 = nn.BatchNorm2d(out_channel, gamma_init=0.5)
        self.down_sample = stride != 1 or in_channel != out_channel
        if self.down_sample:
            self.shortcut = nn.SequentialCell([conv(in_channel, out_channel, 1, stride), nn.BatchNorm2d(out_channel)])
        self.relu = nn.ReLU()
        self.add = P.TensorAdd()

    def construct(self, x):
        out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        if self.down_sample:
            x = self.shortcut(x)
        return self.relu(self.add(out, x))


class ResNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.stem = nn.SequentialCell([conv(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(3, 2, pad_mode="same")])
        self.layers = nn.SequentialCell([Residual(4, 4, 1), Residual(4, 8, 2)])
        self.mean = P.ReduceMean(keep_dims=True)
        self.flatten = nn.Flatten()
        self.head = nn.Dense(8, CLASSES)

    def construct(self, x):
        return self.head(self.flatten(self.mean(self.layers(self.stem(x)), (2, 3))))


class Losses(Callback):
    def step_end(self, run_context):
        params = run_context.original_args()
        loss = params.net_outputs
        loss = loss[0] if isinstance(loss, (tuple, list)) else loss
        if params.cur_step_num % 16 == 0:
            print("step", params.cur_step_num, "loss", float(np.mean(loss.asnumpy())), str(loss.dtype))


network = ResNet()
decayed = [
    one for one in network.trainable_params() if "beta" not in one.name and "gamma" not in one.name and "bias" not in one.name
]
others = [one for one in network.trainable_params() if "beta" in one.name or "gamma" in one.name or "bias" in one.name]
groups = [{"params": decayed, "weight_decay": 1e-4}, {"params": others}, {"order_params": network.trainable_params()}]
rates = Tensor(np.concatenate([np.linspace(0.01, 0.1, 16), np.full(48, 0.1)]).astype(np.float32))
scale = FixedLossScaleManager(1024, drop_overflow_update=False)
optimizer = nn.Momentum(groups, rates, 0.9, loss_scale=1024)
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
model = Model(network, loss, optimizer, metrics={"acc"}, amp_level="O2", loss_scale_manager=scale, keep_batchnorm_fp32=False)
model.train(8, create_dataset(), callbacks=[Losses()], dataset_sink_mode=False)
print("metrics", model.eval(create_dataset(seed=2), dataset_sink_mode=False))
