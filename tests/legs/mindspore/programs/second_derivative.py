"""The second derivative of the third power at 2, in both modes: twelve."""

import mindspore.nn as nn
import mindspore.ops as ops
import numpy as np
from mindspore import Tensor, context, ms_function


class Power(nn.Cell):
    def construct(self, x):
        return x * x * x


class Grad(nn.Cell):
    def __init__(self, network):
        super().__init__()
        self.grad = ops.GradOperation()
        self.network = network

    def construct(self, x):
        return self.grad(self.network)(x)


@ms_function
def shifted(x, y):
    return x * y + 1.0


for mode in (context.GRAPH_MODE, context.PYNATIVE_MODE):
    context.set_context(mode=mode, device_target="Ascend")
    x = Tensor(np.array(2.0, np.float32))
    print("second", Grad(Grad(Power()))(x))
    print("function", shifted(x, x))
