"""Model.train with a sink size, callbacks, a checkpoint that is loaded again, and Model.eval."""

import mindspore.nn as nn
from mindspore import Model, context
from mindspore.nn.metrics import Accuracy
from mindspore.train.callback import CheckpointConfig, LossMonitor, ModelCheckpoint, TimeMonitor
from mindspore.train.serialization import load_checkpoint, load_param_into_net
from pictures import CLASSES, create_dataset

context.set_context(mode=context.GRAPH_MODE, device_target="Ascend")


class Network(nn.Cell):
    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell([nn.Conv2d(1, 4, 3, stride=2), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten()])
        self.head = nn.Dense(256, CLASSES)

    def construct(self, x):
        return self.head(self.body(x))


network = Network()
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
optimizer = nn.Momentum(network.trainable_params(), 0.05, 0.9)
model = Model(network, loss, optimizer, metrics={"Accuracy": Accuracy()})
config = CheckpointConfig(save_checkpoint_steps=16, keep_checkpoint_max=2)
callbacks = [LossMonitor(), TimeMonitor(data_size=16), ModelCheckpoint(prefix="small", config=config)]
model.train(3, create_dataset(epochs=2), callbacks=callbacks, dataset_sink_mode=True, sink_size=16)
print("metrics", model.eval(create_dataset(seed=2), dataset_sink_mode=False))

restored = Network()
load_param_into_net(restored, load_checkpoint("small-3_16.ckpt"))
again = Model(restored, loss, metrics={"Accuracy": Accuracy()})
print("restored", again.eval(create_dataset(seed=2)))
