"""LeNet trained by a loop of the program's own: DatasetHelper sinks the data, and a call runs the steps of an epoch."""

import mindspore.nn as nn
from mindspore import context
from mindspore.common import set_seed
from mindspore.common.initializer import TruncatedNormal
from mindspore.train.dataset_helper import DatasetHelper, connect_network_with_dataset
from pictures import CLASSES, create_dataset

context.set_context(mode=context.GRAPH_MODE, device_target="Ascend")
set_seed(1)


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 5, pad_mode="valid", weight_init=TruncatedNormal(0.2))
        self.conv2 = nn.Conv2d(4, 8, 3, pad_mode="valid", weight_init=TruncatedNormal(0.2))
        self.pool = nn.MaxPool2d(kernel_size=2, stride=2)
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten()
        self.fc1 = nn.Dense(32, 16, TruncatedNormal(0.2), TruncatedNormal(0.2))
        self.fc2 = nn.Dense(16, CLASSES, TruncatedNormal(0.2), TruncatedNormal(0.2))

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        return self.fc2(self.relu(self.fc1(self.flatten(x))))


network = LeNet()
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
step = nn.TrainOneStepCell(nn.WithLossCell(network, loss), nn.Momentum(network.trainable_params(), 0.1, 0.9))
step.set_train()
helper = DatasetHelper(create_dataset(), dataset_sink_mode=True, sink_size=16, epoch_num=6)
connected = connect_network_with_dataset(step, helper)
for epoch in range(6):
    for inputs in helper:
        print("epoch", epoch, "inputs", len(inputs), "loss", connected(*inputs))

network.set_train(False)
images, labels = next(create_dataset(seed=2).create_tuple_iterator())
logits = network(images).asnumpy()
print("accuracy", (logits.argmax(1) == labels.asnumpy()).mean())
