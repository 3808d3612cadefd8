"""Cells of activations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.ops import operations as P
from mindspore.ops.primitive import Primitive


class _Activation(Cell):
    """A cell of one primitive."""

    operator: Callable[..., Any]

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__()
        self.function = type(self).operator(*given, **named)

    def construct(self, x: Any) -> Any:
        return self.function(x)


class Softmax(_Activation):
    """Chances along an axis."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__(axis)

    operator = P.Softmax


class LogSoftmax(_Activation):
    """Logarithms of chances along an axis."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__(axis)

    operator = P.LogSoftmax


class ELU(_Activation):
    """x, or exp(x) - 1 below 0."""

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__(alpha)

    operator = P.Elu


class ReLU(_Activation):
    """x, or 0 below 0."""

    operator = P.ReLU


class ReLU6(_Activation):
    """x between 0 and 6."""

    operator = P.ReLU6


class Tanh(_Activation):
    """The hyperbolic tangent."""

    operator = P.Tanh


class GELU(_Activation):
    """x by the chance that a normal number is below it, in the form with tanh."""

    operator = P.Gelu


class FastGelu(_Activation):
    """A faster form of GELU."""

    operator = P.FastGelu


class Sigmoid(_Activation):
    """1 / (1 + exp(-x))."""

    operator = P.Sigmoid


class HSwish(_Activation):
    """x by HSigmoid of x."""

    operator = P.HSwish


class HSigmoid(_Activation):
    """(x + 3) / 6 between 0 and 1."""

    operator = P.HSigmoid


class LeakyReLU(Cell):
    """x, or alpha * x below 0; alpha is 0.2, and not TensorFlow's."""

    def __init__(self, alpha: float = 0.2) -> None:
        super().__init__()
        if not isinstance(alpha, (int, float)):
            raise TypeError(f"LeakyReLU(alpha={alpha!r}): a number is needed")
        self.alpha = alpha
        self.choose = P.Maximum() if alpha <= 1 else P.Minimum()

    def construct(self, x: Any) -> Any:
        return self.choose(x * float(self.alpha), x)


class PReLU(Cell):
    """x, or w * x below 0 with a w that is trained; r1.1 keeps it at 0 or above."""

    def __init__(self, channel: int = 1, w: Any = 0.25) -> None:
        super().__init__()
        if isinstance(w, (float, np.float32)):
            w = Tensor(np.full((channel,), w, np.float32))
        elif isinstance(w, list):
            w = Tensor(w)
        if not isinstance(w, Tensor):
            raise TypeError(f"PReLU(w={w!r}): a float, a list or a tensor is needed")
        self.w = Parameter(initializer(w, [channel]), name="a")
        self.prelu, self.relu, self.assign = P.PReLU(), P.ReLU(), P.Assign()

    def construct(self, x: Any) -> Any:
        slope = self.relu(self.w)
        result = self.prelu(x, slope)
        if self.training:
            self.assign(self.w, slope)
        return result


class LogSigmoid(Cell):
    """The logarithm of the sigmoid."""

    def construct(self, x: Any) -> Any:
        return P.Neg()(P.Softplus()(P.Neg()(x)))


_BY_NAME: dict[str, type[Cell]] = {
    "softmax": Softmax, "logsoftmax": LogSoftmax, "relu": ReLU, "relu6": ReLU6, "tanh": Tanh, "gelu": GELU,
    "fast_gelu": FastGelu, "elu": ELU, "sigmoid": Sigmoid, "prelu": PReLU, "leakyrelu": LeakyReLU, "hswish": HSwish,
    "hsigmoid": HSigmoid, "logsigmoid": LogSigmoid,
}  # fmt: skip


def get_activation(name: str | None) -> Cell | None:
    """The cell of a name, None for None and for "".  Raises: KeyError for another name."""
    if not name:
        return None
    if name not in _BY_NAME:
        raise KeyError(f"get_activation({name!r}): the names are {', '.join(sorted(_BY_NAME))}")
    return _BY_NAME[name]()


def activation_of(given: Any, owner: str) -> Any:
    """The activation of a layer, which was given by name, as a cell or as a primitive.  Raises: TypeError for anything else."""
    found = get_activation(given) if isinstance(given, str) else given
    if found is not None and not isinstance(found, (Cell, Primitive)):
        raise TypeError(f"{owner}(activation={given!r}): a name, a cell or a primitive is needed")
    return found


__all__ = [
    "ELU", "GELU", "FastGelu", "HSigmoid", "HSwish", "LeakyReLU", "LogSigmoid", "LogSoftmax", "PReLU", "ReLU", "ReLU6", "Sigmoid",
    "Softmax", "Tanh", "get_activation",
]  # fmt: skip
