"""LeNet on the digits of UCI, as it was written for MindSpore r1.1 and an Ascend card."""

import argparse
import os

import mindspore.dataset as ds
import mindspore.dataset.transforms.c_transforms as C
import mindspore.nn as nn
import numpy as np
from mindspore import Model, context, set_seed
from mindspore import dtype as mstype
from mindspore.common.initializer import Normal
from mindspore.nn.metrics import Accuracy
from mindspore.train.callback import CheckpointConfig, LossMonitor, ModelCheckpoint, TimeMonitor

DIGITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "data", "digits.npz")


class LeNet5(nn.Cell):
    def __init__(self, num_class=10):
        super(LeNet5, self).__init__()
        self.conv1 = nn.Conv2d(1, 6, 3, pad_mode="same", weight_init=Normal(0.1))
        self.conv2 = nn.Conv2d(6, 16, 3, pad_mode="same", weight_init=Normal(0.1))
        self.norm = nn.BatchNorm2d(16)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(kernel_size=2, stride=2)
        self.flatten = nn.Flatten()
        self.fc1 = nn.Dense(16 * 4 * 4, 84, weight_init=Normal(0.05))
        self.fc2 = nn.Dense(84, num_class, weight_init=Normal(0.05))

    def construct(self, x):
        x = self.relu(self.conv1(x))
        x = self.pool(self.relu(self.norm(self.conv2(x))))
        x = self.relu(self.fc1(self.flatten(x)))
        return self.fc2(x)


def create_dataset(images, labels, batch_size, repeat=1):
    data = ds.NumpySlicesDataset((images, labels), ["image", "label"], shuffle=True)
    data = data.map(operations=C.TypeCast(mstype.int32), input_columns="label")
    return data.batch(batch_size, drop_remainder=True).repeat(repeat)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--checkpoints", default="")
    args = parser.parse_args()
    context.set_context(mode=context.GRAPH_MODE, device_target="Ascend")
    set_seed(1)

    digits = np.load(DIGITS)
    images = (digits["images"].astype(np.float32) / 16.0).reshape(-1, 1, 8, 8)
    labels = digits["labels"].astype(np.int32)
    train = create_dataset(images[:-360], labels[:-360], batch_size=32)
    test = create_dataset(images[-360:], labels[-360:], batch_size=60)

    network = LeNet5()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(network.trainable_params(), 0.05, 0.9)
    model = Model(network, loss, optimizer, metrics={"Accuracy": Accuracy()}, amp_level="O2")
    steps = train.get_dataset_size()
    callbacks = [LossMonitor(steps), TimeMonitor(steps)]
    if args.checkpoints:
        config = CheckpointConfig(save_checkpoint_steps=steps, keep_checkpoint_max=2)
        callbacks.append(ModelCheckpoint(prefix="lenet", directory=args.checkpoints, config=config))
    model.train(args.epochs, train, callbacks=callbacks, dataset_sink_mode=True)
    print("Test accuracy: %.3f" % model.eval(test, dataset_sink_mode=False)["Accuracy"])
