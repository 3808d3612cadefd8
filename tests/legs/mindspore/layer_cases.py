"""Layers and losses of mindspore.nn with drawn weights and inputs, of which both sides compute values and gradients."""

from __future__ import annotations

from typing import Any

import mindspore.nn as nn
import numpy as np
from mindspore import Tensor
from mindspore.common.parameter import ParameterTuple
from mindspore.ops import composite as C

from tests.legs.mindspore import networks as N
from tests.legs.mindspore.operator_cases import Draw, floats, generator_of, given, integers, leaves

CASES: dict[str, tuple[str, tuple[Any, ...], dict[str, Any], tuple[Draw, ...], bool]] = {}
"""By name: the layer, its arguments by position and by name, draws of its inputs, and whether it is training."""


def enter(layer: str, arguments: tuple[Any, ...], *inputs: Draw, training: bool = True, **named: Any) -> None:
    """Enters a case."""
    number = sum(case[0] == layer for case in CASES.values())
    CASES[f"{layer} {number + 1}" if number else layer] = layer, arguments, named, inputs, training


class Gradients(nn.Cell):
    """The gradients of a layer's output with respect to its inputs and its parameters."""

    def __init__(self, network):
        super().__init__(auto_prefix=False)
        self.network = network
        self.weights = ParameterTuple(network.trainable_params())
        self.grad = C.GradOperation(get_all=True, get_by_list=len(self.weights) > 0, sens_param=True)

    def construct(self, *inputs):
        if len(self.weights) > 0:
            return self.grad(self.network, self.weights)(*inputs)
        return self.grad(self.network)(*inputs)


def computed(name: str) -> dict[str, np.ndarray]:
    """A layer's output, its gradients, and its parameters after the call with their names."""
    layer, arguments, named, draws, training = CASES[name]
    generator = generator_of(name)
    arrays = [draw(generator) for draw in draws]
    network = N.set_weights(getattr(nn, layer)(*arguments, **named), seed=5)
    network.set_train(training)
    inputs = [Tensor(array) for array in arrays]
    out = np.array(network(*inputs).asnumpy())
    results = {"out": out}
    if out.dtype.kind == "f":
        sens = generator.uniform(-1, 1, out.shape).astype(np.float32)
        results |= {f"gradient {number}": leaf for number, leaf in enumerate(leaves(Gradients(network)(*inputs, Tensor(sens))))}
    parameters = {parameter.name: np.array(parameter.asnumpy()) for parameter in network.get_parameters()}
    return {**results, **{f"parameter {key}": value for key, value in parameters.items()}}


IMAGE = floats(2, 3, 6, 5)

enter("Conv2d", (3, 4, 3), IMAGE)
enter("Conv2d", (3, 4, (3, 2)), IMAGE, stride=2, has_bias=True)
enter("Conv2d", (3, 4, 3), IMAGE, stride=2, pad_mode="valid", dilation=1)
enter("Conv2d", (3, 6, 3), IMAGE, pad_mode="pad", padding=(1, 0, 2, 1), group=3)
enter("Conv2d", (3, 4, 2), IMAGE, pad_mode="same", dilation=2)
enter("Conv2dTranspose", (3, 2, 3), IMAGE, stride=2, pad_mode="same")
enter("Conv2dTranspose", (3, 2, 3), IMAGE, stride=2, pad_mode="pad", padding=1)
enter("Conv1d", (3, 4, 3), floats(2, 3, 7), stride=2)
enter("Dense", (4, 3), floats(2, 5, 4), activation="sigmoid")
enter("Dense", (4, 3), floats(2, 4), has_bias=False)
enter("BatchNorm2d", (3,), IMAGE)
enter("BatchNorm2d", (3,), IMAGE, training=False, eps=1e-3)
enter("BatchNorm2d", (3,), IMAGE, use_batch_statistics=False)
enter("BatchNorm1d", (4,), floats(6, 4), momentum=0.7, affine=False)
enter("LayerNorm", ((3, 4),), floats(2, 3, 4), begin_norm_axis=1, begin_params_axis=1, epsilon=1e-6)
enter("GroupNorm", (2, 4), floats(2, 4, 3, 3))
enter("MaxPool2d", (3, 2), IMAGE, pad_mode="same")
enter("AvgPool2d", (3, 2), IMAGE, pad_mode="same")
enter("AvgPool2d", ((2, 3), 1), IMAGE)
enter("Embedding", (7, 3), integers(2, 4, high=7))
enter("Embedding", (7, 3), integers(2, 4, high=7), use_one_hot=True)
enter("Flatten", (), IMAGE)
enter("PReLU", (3,), IMAGE)
for _activation in ["ReLU", "ReLU6", "ELU", "GELU", "Sigmoid", "Tanh", "LogSigmoid", "HSwish", "HSigmoid"]:
    enter(_activation, (), floats(3, 4))
enter("LeakyReLU", (0.3,), floats(3, 4))
enter("Softmax", (), floats(3, 4))
enter("LogSoftmax", (1,), floats(3, 4))
enter("Dropout", (0.6,), floats(3, 4), training=False)
enter("OneHot", (), integers(3, high=4), depth=4, on_value=2.0, off_value=-1.0)
enter("Pad", (((0, 0), (1, 2)),), floats(2, 3), mode="REFLECT")
enter("Norm", (1,), floats(3, 4), keep_dims=True)
enter("L1Loss", (), floats(3, 4), floats(3, 4))
enter("MSELoss", (), floats(3, 4), floats(3, 4))
enter("MSELoss", ("sum",), floats(3, 4), floats(3, 4))
enter("SmoothL1Loss", (0.5,), floats(3, 4), floats(3, 4))
enter("SoftmaxCrossEntropyWithLogits", (), floats(3, 4), given(np.eye(4)[[1, 0, 3]]))
enter("SoftmaxCrossEntropyWithLogits", (True,), floats(3, 4), integers(3, high=4))
enter("SoftmaxCrossEntropyWithLogits", (True, "sum"), floats(3, 4), integers(3, high=4))
enter("BCELoss", (None, "mean"), floats(3, 4, low=0.1, high=0.9), floats(3, 4, low=0.0, high=1.0))
enter("CosineEmbeddingLoss", (), floats(3, 4), floats(3, 4), given([1, -1, 1], np.int32))
