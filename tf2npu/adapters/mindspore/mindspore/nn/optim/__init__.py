"""Optimizers."""

from mindspore.nn.optim.ada_grad import Adagrad
from mindspore.nn.optim.adam import Adam, AdamOffload, AdamWeightDecay, LazyAdam
from mindspore.nn.optim.ftrl import FTRL
from mindspore.nn.optim.lamb import Lamb
from mindspore.nn.optim.lars import LARS
from mindspore.nn.optim.momentum import Momentum
from mindspore.nn.optim.optimizer import Optimizer
from mindspore.nn.optim.proximal_ada_grad import ProximalAdagrad
from mindspore.nn.optim.rmsprop import RMSProp
from mindspore.nn.optim.sgd import SGD
from mindspore.nn.optim.thor import THOR

__all__ = [
    "FTRL", "LARS", "SGD", "THOR", "Adagrad", "Adam", "AdamOffload", "AdamWeightDecay", "Lamb", "LazyAdam", "Momentum",
    "Optimizer", "ProximalAdagrad", "RMSProp",
]  # fmt: skip
