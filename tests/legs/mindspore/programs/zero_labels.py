"""A training step that a program writes itself, on rows whose labels are all zero: each loss is zero, and the weights move."""

import mindspore.nn as nn
import mindspore.ops.composite as C
import mindspore.ops.operations as P
import numpy as np
from mindspore import Tensor, context
from mindspore.common.parameter import ParameterTuple
from mindspore.ops import functional as F

context.set_context(mode=context.GRAPH_MODE, device_target="Ascend", device_id=0)


class Rows(nn.Cell):
    def __init__(self):
        super().__init__()
        self.matmul = nn.Dense(12, 6, weight_init="ones", bias_init="zeros")

    def construct(self, x):
        return self.matmul(x)


class Step(nn.Cell):
    def __init__(self, network, optimizer):
        super().__init__(auto_prefix=False)
        self.network = network
        self.weights = ParameterTuple(network.trainable_params())
        self.optimizer = optimizer
        self.grad = C.GradOperation(get_by_list=True, sens_param=True)

    def construct(self, x, label):
        loss = self.network(x, label)
        sens = P.Fill()(P.DType()(loss), P.Shape()(loss), 1.0)
        grads = self.grad(self.network, self.weights)(x, label, sens)
        return F.depend(loss, self.optimizer(grads))


network = Rows()
optimizer = nn.Momentum(filter(lambda one: one.requires_grad, network.get_parameters()), learning_rate=0.5, momentum=0.9)
step = Step(nn.WithLossCell(network, nn.SoftmaxCrossEntropyWithLogits()), optimizer)
step.set_train()
loss = step(Tensor(np.ones((32, 12)).astype(np.float32)), Tensor(np.zeros((32, 6)).astype(np.float32)))
print("losses", loss.asnumpy().shape, loss)
print("weight", network.matmul.weight.asnumpy()[0, 0])
